//! Why a page or an action could not be had: one enum for server functions, forms and pages, with one status for each kind.

use domain::finding::Finding;
use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

/// An error as the person in front of the browser sees it: what happened and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum AppError {
    /// The thing asked for is not there.
    #[error("{message}")]
    NotFound {
        /// Which thing.
        message: String,
    },
    /// The request cannot be done as it is.
    #[error("{message}")]
    Invalid {
        /// Reason and remedy.
        message: String,
        /// Place by place, where there are any.
        findings: Vec<Finding>,
    },
    /// The request did not come from one of our own pages, or from one that is too old.
    #[error("this form is no longer valid; go back, reload the page and send it again")]
    Forbidden,
    /// More bytes than are taken.
    #[error("{message}")]
    TooLarge {
        /// With the limit.
        message: String,
    },
    /// The page was loaded from another build of the server.
    #[error("a new version of Skilldelta is running; reload this page to go on")]
    Outdated,
    /// The server does not answer.
    #[error("the server did not answer: {message}")]
    Unreachable {
        /// The browser's words.
        message: String,
    },
    /// Our own trouble.
    #[error("{message}")]
    Internal {
        /// What failed.
        message: String,
    },
}

impl AppError {
    /// There is no such `what`.
    pub fn not_found(what: &str) -> Self {
        Self::NotFound { message: format!("there is no such {what}; it may have been deleted") }
    }

    /// A request that cannot be done, for one reason.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), findings: Vec::new() }
    }

    /// HTTP status.
    pub const fn status(&self) -> u16 {
        match self {
            Self::NotFound { .. } => 404,
            Self::Invalid { .. } => 422,
            Self::Forbidden => 403,
            Self::TooLarge { .. } => 413,
            Self::Outdated => 409,
            Self::Unreachable { .. } => 503,
            Self::Internal { .. } => 500,
        }
    }

    /// Title of the page that shows it.
    pub const fn title(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "Not found",
            Self::Invalid { .. } => "This cannot be done as it is",
            Self::Forbidden => "Form refused",
            Self::TooLarge { .. } => "Too large",
            Self::Outdated => "Reload needed",
            Self::Unreachable { .. } => "No answer",
            Self::Internal { .. } => "Something failed on the server",
        }
    }
}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(message) => Self::Unreachable { message },
            ServerFnErrorErr::Args(message) | ServerFnErrorErr::MissingArg(message) => Self::invalid(message),
            // An answer that cannot be read was made by another build.
            ServerFnErrorErr::Deserialization(_) => Self::Outdated,
            other => Self::Internal { message: other.to_string() },
        }
    }
}

#[cfg(feature = "ssr")]
impl From<crate::api::backend::OpsError> for AppError {
    fn from(error: crate::api::backend::OpsError) -> Self {
        use crate::api::backend::OpsError;
        let message = error.to_string();
        match error {
            OpsError::NotFound { .. } => Self::NotFound { message },
            OpsError::Invalid { findings, .. } => Self::Invalid { message, findings },
            OpsError::TooLarge { .. } => Self::TooLarge { message },
            OpsError::Internal { .. } => Self::Internal { message },
            OpsError::Store(reason) => {
                tracing::error!(error = &reason as &dyn std::error::Error, "the store failed");
                Self::Internal { message: format!("{message}: {reason}") }
            }
        }
    }
}
