//! What can go wrong with a sandbox or an image: none of it is the agent's fault. Every message names the reason and a remedy.

use domain::verdict::InfraClass;

/// Trouble of the engine, an image or a container.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// No engine answers.
    #[error("the container engine does not answer: {reason}; {remedy}")]
    EngineUnavailable {
        /// What the connection said.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// An image is not there and cannot be had.
    #[error("image '{image}' is not on the engine and cannot be pulled: {reason}; {remedy}")]
    ImageMissing {
        /// As the task names it.
        image: String,
        /// What the engine said.
        reason: String,
        /// What to do.
        remedy: String,
        /// Whether that is sure to stay so: its registry has none of that name. A registry that was not reached may be reached later.
        lasts: bool,
    },
    /// An image asks for something that is refused or cannot be built.
    #[error("{file}:{line}: {reason}; {remedy}")]
    Refused {
        /// The file.
        file: String,
        /// From 1.
        line: u32,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// A step of an image build failed.
    #[error(
        "image build failed at '{step}': {reason}{}; mend the step, or build again without cache if something fetched has changed",
        last_words(log_tail)
    )]
    BuildFailed {
        /// The instruction.
        step: String,
        /// What the engine said.
        reason: String,
        /// The last lines of output.
        log_tail: String,
    },
    /// A disk is full.
    #[error("no space left on the disk: {reason}; free some space, or let old images be pruned")]
    NoSpace {
        /// What the engine said.
        reason: String,
    },
    /// The engine has no address range left for another network.
    #[error(
        "no free network: {reason}; remove unused networks (docker network prune) or widen the engine's address pools"
    )]
    NoNetwork {
        /// What the engine said.
        reason: String,
    },
    /// The container ended under our hands.
    #[error("the container was lost: {reason}; it will be tried again in a new one")]
    Lost {
        /// What is known of its end.
        reason: String,
    },
    /// The engine or a build took longer than allowed.
    #[error("{what} took longer than {seconds} s; raise its limit or lower the concurrency")]
    Timeout {
        /// What.
        what: String,
        /// The limit.
        seconds: u64,
    },
    /// Something else.
    #[error("{what}: {reason}; see the engine's log if it stays so")]
    Other {
        /// What was tried.
        what: String,
        /// What the engine said.
        reason: String,
    },
}

impl SandboxError {
    /// The class that a trial with this trouble is filed under.
    #[must_use]
    pub const fn class(&self) -> InfraClass {
        match self {
            Self::EngineUnavailable { .. } => InfraClass::Engine,
            Self::ImageMissing { lasts: true, .. } | Self::Refused { .. } => InfraClass::NoImage,
            // A step that fetches something may fail by what it fetches from.
            Self::ImageMissing { lasts: false, .. } | Self::BuildFailed { .. } => InfraClass::Image,
            Self::NoSpace { .. } => InfraClass::DiskFull,
            Self::NoNetwork { .. } | Self::Lost { .. } | Self::Timeout { .. } | Self::Other { .. } => {
                InfraClass::Container
            }
        }
    }

    /// An error of no special kind.
    pub(crate) fn other(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::from_words(&what.into(), &reason.to_string())
    }

    /// Files an engine's words under their kind. Both wordings of an address pool that is used up occur, by engine version.
    pub(crate) fn from_words(what: &str, reason: &str) -> Self {
        let words = reason.to_ascii_lowercase();
        let reason = reason.trim().to_owned();
        if words.contains("no space left on device") || words.contains("disk quota exceeded") {
            Self::NoSpace { reason }
        } else if words.contains("non-overlapping ipv4 address pool")
            || words.contains("predefined address pools have been fully subnetted")
        {
            Self::NoNetwork { reason }
        } else {
            Self::Other { what: what.to_owned(), reason }
        }
    }
}

/// The last lines of a build's output, where the cause usually stands.
fn last_words(log: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(3);
    let words = lines.get(from..).unwrap_or_default().join(" / ");
    let cut: String = words.chars().take(400).collect();
    if cut.is_empty() { cut } else { format!(" (it printed: {cut})") }
}
