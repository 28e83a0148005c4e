//! A trial as a results file tells of it, whatever program wrote the file.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::test_case::TestCase;
use crate::time::Timestamp;
use crate::trial::TrialState;
use crate::usage::TokenUsage;
use crate::verdict::{FailReason, InfraClass, Verdict};

/// How a trial of a results file ended (statistics rule 3: the first seven are scored).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The reward reached the pass mark.
    Pass,
    /// It did not.
    Fail,
    /// The agent ran out of time: scored as a fail.
    AgentTimeout,
    /// The agent ran out of memory: scored as a fail.
    AgentOom,
    /// The agent or its model declined: scored as a fail.
    Refused,
    /// A cap was reached: scored as a fail.
    BudgetExceeded,
    /// The agent ended with an error of its own: scored as a fail.
    AgentError,
    /// Engine, image, container or network trouble: not scored.
    InfraError,
    /// The model's provider failed: not scored.
    ProviderError,
    /// The verifier gave no usable result: not scored.
    VerifierError,
    /// A person stopped it: not scored.
    Cancelled,
    /// Not finished when the file was written.
    Unfinished,
}

impl Outcome {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::AgentTimeout => "agent_timeout",
            Self::AgentOom => "agent_oom",
            Self::Refused => "refused",
            Self::BudgetExceeded => "budget_exceeded",
            Self::AgentError => "agent_error",
            Self::InfraError => "infra_error",
            Self::ProviderError => "provider_error",
            Self::VerifierError => "verifier_error",
            Self::Cancelled => "cancelled",
            Self::Unfinished => "unfinished",
        }
    }

    /// `Some(passed)` where it is scored.
    #[must_use]
    pub const fn scored(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail
            | Self::AgentTimeout
            | Self::AgentOom
            | Self::Refused
            | Self::BudgetExceeded
            | Self::AgentError => Some(false),
            Self::InfraError | Self::ProviderError | Self::VerifierError | Self::Cancelled | Self::Unfinished => None,
        }
    }

    /// Whether it is trouble that is not the agent's.
    #[must_use]
    pub const fn is_trouble(self) -> bool {
        matches!(self, Self::InfraError | Self::ProviderError | Self::VerifierError)
    }

    /// The verdict it stands for; `None` while unfinished.
    #[must_use]
    pub fn verdict(self) -> Option<Verdict> {
        let agent = || FailReason::AgentError { message: self.word().to_owned() };
        let trouble = |class| Verdict::InfraError { class, message: self.word().to_owned() };
        Some(match self {
            Self::Pass => Verdict::Pass,
            Self::Fail => Verdict::Fail { reason: FailReason::WrongResult },
            Self::Refused => Verdict::Fail { reason: FailReason::Refused },
            Self::AgentTimeout | Self::AgentOom | Self::BudgetExceeded | Self::AgentError => {
                Verdict::Fail { reason: agent() }
            }
            Self::InfraError => trouble(InfraClass::Engine),
            Self::ProviderError => trouble(InfraClass::Provider),
            Self::VerifierError => Verdict::VerifierError { message: self.word().to_owned() },
            Self::Cancelled => Verdict::Cancelled,
            Self::Unfinished => return None,
        })
    }

    /// The state of such a trial.
    #[must_use]
    pub fn state(self) -> TrialState {
        match self.verdict() {
            Some(verdict) => TrialState::Finished { attempts: 1, verdict, at: Timestamp(0) },
            None => TrialState::NEW,
        }
    }
}

/// Results of the test cases of one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseResults {
    /// By name.
    Named(Vec<TestCase>),
    /// How many there were and how many passed.
    Counted {
        /// Passed.
        passed: u32,
        /// In all.
        total: u32,
    },
}

/// One row of a results file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileTrial {
    /// The line where it begins in the file, from 1.
    pub line: u32,
    /// The column in characters, from 1; other than 1 only where several trials share a line.
    pub column: u32,
    /// The task's name.
    pub task: String,
    /// The arm.
    pub condition: Condition,
    /// The planned repetition, as labelled in the file.
    pub repeat: Option<i64>,
    /// The try at it; the last one counts. Without `repeat`, programs mean the repetition by it.
    pub attempt: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// In 0..=1.
    pub reward: Option<f64>,
    /// Tokens by class; where the file has only a total, all of it stands under `input`.
    pub usage: TokenUsage,
    /// What its task shares with others, such as a repository.
    pub cluster: Option<String>,
    /// The skill under test; a baseline that is shared by several skills names none.
    pub skill: Option<String>,
    /// Who solved it.
    pub agent: Option<String>,
    /// With which model.
    pub model: Option<String>,
    /// Whether the model's answers came from a file.
    pub scripted: bool,
    /// Whether the agent opened the skill.
    pub activated: Option<bool>,
    /// Test by test.
    pub cases: Option<CaseResults>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scored_is_what_its_verdict_says() {
        use Outcome::*;
        for outcome in [
            Pass,
            Fail,
            AgentTimeout,
            AgentOom,
            Refused,
            BudgetExceeded,
            AgentError,
            InfraError,
            ProviderError,
            VerifierError,
            Cancelled,
            Unfinished,
        ] {
            let verdict = outcome.verdict();
            assert_eq!(outcome.scored(), verdict.as_ref().and_then(Verdict::scored), "{outcome:?}");
            assert_eq!(outcome.is_trouble(), verdict.is_some_and(|verdict| verdict.is_retried()), "{outcome:?}");
        }
    }
}
