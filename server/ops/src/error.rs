//! Why a request could not be done, in words for the person who asked.

use domain::finding::Finding;
use store::StoreError;

/// The errors of [`crate::Ops`]. Each says what to do; the kind decides the HTTP status and the exit code.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// The thing asked for is not there.
    #[error("{what} {id} does not exist; it may have been deleted")]
    NotFound {
        /// `skill`, `task`, …
        what: &'static str,
        /// As asked for.
        id: String,
    },
    /// The request cannot be done as it is.
    #[error("{message}")]
    Invalid {
        /// Reason and remedy.
        message: String,
        /// Place by place, where there are any.
        findings: Vec<Finding>,
    },
    /// Larger than the limit of this route.
    #[error(
        "the upload is larger than {limit_mb} MB; remove what the skill does not need, or raise the limit of the server"
    )]
    TooLarge {
        /// MiB.
        limit_mb: u64,
    },
    /// Storage trouble.
    #[error("the store could not do it")]
    Store(#[source] StoreError),
    /// A fault of this program, or of what it keeps; nothing about the request is wrong. Who makes one logs the cause.
    #[error("{message}")]
    Internal {
        /// What could not be done, and what can be done about it.
        message: String,
    },
}

impl From<StoreError> for OpsError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { noun, id } => Self::NotFound { what: noun, id },
            other => Self::Store(other),
        }
    }
}

impl OpsError {
    /// A request that cannot be done, for one reason.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), findings: Vec::new() }
    }

    /// Logs the cause of a fault of our own, and answers it for the person who asked.
    #[must_use]
    pub fn internal(message: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        let message = message.into();
        tracing::error!(%cause, "{message}");
        Self::Internal { message }
    }

    /// A plan that cannot be started, for one reason that lies in one field of the form.
    #[must_use]
    pub fn field(name: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let findings = vec![Finding::error("plan", name, message.clone())];
        Self::Invalid { message, findings }
    }
}

/// Shorthand for the answers of [`crate::Ops`].
pub type Result<T> = std::result::Result<T, OpsError>;
