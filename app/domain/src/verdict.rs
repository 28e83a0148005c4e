//! How an attempt ended: scored (pass, fail) or not scored, and whose fault it was (design §5.3).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcome of an attempt, and of the trial it decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The verifier's reward reached the pass mark.
    Pass,
    /// The agent's own result did not.
    Fail {
        /// Why.
        reason: FailReason,
    },
    /// Trouble that is not the agent's: left out of Δ, tried again unless it lasts.
    InfraError {
        /// Which kind.
        class: InfraClass,
        /// What happened and what to do.
        message: String,
    },
    /// The verifier gave no usable result.
    VerifierError {
        /// What happened and what to do.
        message: String,
    },
    /// A person stopped it.
    Cancelled,
}

/// Why an attempt counts as failed. Each has an icon of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FailReason {
    /// The tests say so.
    WrongResult,
    /// The agent did not end within its limit.
    TimedOut {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The agent's processes were killed for memory.
    OutOfMemory {
        /// The limit, in MiB.
        limit_mb: u64,
    },
    /// The agent or its model declined the task.
    Refused,
    /// A token, money or call cap was reached.
    BudgetExceeded {
        /// Which cap.
        cap: String,
    },
    /// The agent ended with an error of its own.
    AgentError {
        /// Its last words.
        message: String,
    },
}

/// Kinds of trouble that are not the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfraClass {
    /// The container engine does not answer.
    Engine,
    /// An image could not be had or built.
    Image,
    /// There is no such image: its registry knows none of that name, or what it is to be built from is refused. Lasts.
    NoImage,
    /// A container could not be made or was lost.
    Container,
    /// A disk is full.
    DiskFull,
    /// The model's provider failed (429, 5xx, unreachable).
    Provider,
    /// The model's provider denies access: the key, its account or the model's name is wrong. Lasts.
    ProviderDenied,
    /// The skill was not where it should be, or was where it should not be.
    Audit,
    /// The attempt's worker failed: a fault of this program.
    Worker,
    /// The server stopped while the attempt ran, or lost its lease.
    Interrupted,
}

impl InfraClass {
    /// Whether the next attempt is sure to meet the same, so that none is made. What may pass, however slowly, does not last.
    #[must_use]
    pub const fn lasts(self) -> bool {
        match self {
            Self::NoImage | Self::ProviderDenied => true,
            Self::Engine
            | Self::Image
            | Self::Container
            | Self::DiskFull
            | Self::Provider
            | Self::Audit
            | Self::Worker
            | Self::Interrupted => false,
        }
    }
}

impl Verdict {
    /// One word for tables and JSON: `pass`, `fail`, `infra_error`, `verifier_error`, `cancelled`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "fail",
            Self::InfraError { .. } => "infra_error",
            Self::VerifierError { .. } => "verifier_error",
            Self::Cancelled => "cancelled",
        }
    }

    /// `Some(true)` for a pass, `Some(false)` for a fail, `None` where it is not scored.
    #[must_use]
    pub const fn scored(&self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail { .. } => Some(false),
            Self::InfraError { .. } | Self::VerifierError { .. } | Self::Cancelled => None,
        }
    }

    /// Whether a new attempt may mend it. The rule looks at the class alone, never at the condition.
    #[must_use]
    pub const fn is_retried(&self) -> bool {
        match self {
            Self::InfraError { class, .. } => !class.lasts(),
            Self::VerifierError { .. } => true,
            Self::Pass | Self::Fail { .. } | Self::Cancelled => false,
        }
    }

    /// Whether the server went away under it.
    #[must_use]
    pub const fn is_interruption(&self) -> bool {
        matches!(self, Self::InfraError { class: InfraClass::Interrupted, .. })
    }

    /// The words in it that others have said: an agent, an engine, a provider.
    pub(crate) const fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::InfraError { message, .. }
            | Self::VerifierError { message }
            | Self::Fail { reason: FailReason::AgentError { message } | FailReason::BudgetExceeded { cap: message } } => {
                Some(message)
            }
            Self::Pass
            | Self::Cancelled
            | Self::Fail {
                reason:
                    FailReason::WrongResult
                    | FailReason::TimedOut { .. }
                    | FailReason::OutOfMemory { .. }
                    | FailReason::Refused,
            } => None,
        }
    }

    /// What to tell a person beside the word; empty for an ordinary pass or fail.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Pass | Self::Cancelled | Self::Fail { reason: FailReason::WrongResult } => None,
            Self::Fail { reason } => Some(reason.to_string()),
            Self::InfraError { message, .. } | Self::VerifierError { message } => Some(message.clone()),
        }
    }
}

impl fmt::Display for FailReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongResult => f.write_str("wrong result"),
            Self::TimedOut { limit_ms } => write!(f, "timed out (limit {} s)", *limit_ms as f64 / 1000.0),
            Self::OutOfMemory { limit_mb } => write!(f, "out of memory (limit {limit_mb} MB)"),
            Self::Refused => f.write_str("the agent refused the task"),
            Self::BudgetExceeded { cap } => write!(f, "budget exceeded: {cap}"),
            Self::AgentError { message } => write!(f, "agent error: {message}"),
        }
    }
}
