//! Trouble that is not the agent's, and the verdict it makes. Every layer's error becomes one of these before it leaves the engine.

use domain::verdict::{InfraClass, Verdict};

use crate::sandbox::SandboxError;

/// Why an attempt could not be brought to a score.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// Engine, image or container.
    #[error("{0}")]
    Sandbox(#[from] SandboxError),
    /// The repository that the task works in.
    #[error("{0}")]
    Repository(#[from] repos::RepoError),
    /// Contents that should be in the blob store.
    #[error("{what} could not be read from or written to the data folder: {source}; check its disk and permissions")]
    Blobs {
        /// What was wanted.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// The skill was not where it should be, or was where it should not be.
    #[error("{0}")]
    Audit(String),
    /// The model's provider.
    #[error("{0}")]
    Provider(String),
    /// The model's provider, which denies access.
    #[error("{0}")]
    Denied(String),
    /// The order asks for something that this executor does not have.
    #[error("{0}")]
    Order(String),
    /// A person stopped it.
    #[error("cancelled")]
    Cancelled,
    /// The budget of its whole evaluation was used up before it was done: what other trials spent is no result of its agent.
    #[error("the evaluation's budget is used up: {0}")]
    Budget(gateway::CapReached),
}

impl Fault {
    /// How the attempt ends.
    pub(super) fn verdict(&self) -> Verdict {
        let class = match self {
            Self::Sandbox(error) => error.class(),
            Self::Repository(error) if error.is_disk_full() => InfraClass::DiskFull,
            Self::Repository(_) => InfraClass::Image,
            Self::Blobs { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => InfraClass::DiskFull,
            Self::Blobs { .. } | Self::Order(_) => InfraClass::Container,
            Self::Audit(_) => InfraClass::Audit,
            Self::Provider(_) => InfraClass::Provider,
            Self::Denied(_) => InfraClass::ProviderDenied,
            Self::Cancelled | Self::Budget(_) => return Verdict::Cancelled,
        };
        Verdict::InfraError { class, message: self.to_string() }
    }
}
