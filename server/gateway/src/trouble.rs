//! The provider's own failures, which make an attempt an infrastructure error and never a score.

use std::time::Duration;

use http::StatusCode;

use crate::protocol::error::error_message;
use crate::upstream::UpstreamError;

/// What went wrong between the gateway and the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderTrouble {
    /// 429.
    #[error("the model's provider limits the rate (429): {message}")]
    RateLimited {
        /// The provider's words.
        message: String,
    },
    /// 529, or an `overloaded_error` within a stream.
    #[error("the model's provider is overloaded ({status}): {message}")]
    Overloaded {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// Any other 5xx, or 408.
    #[error("the model's provider failed ({status}): {message}")]
    Failed {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// 401, 402, 403, 404: the key, the account or the model's name is wrong. Trying again does not help.
    #[error(
        "the model's provider denies access ({status}): {message}; check the upstream's key, account and model name"
    )]
    Denied {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// No connection.
    #[error("the model's provider cannot be reached: {reason}; check the upstream's base URL and the network")]
    Unreachable {
        /// Why.
        reason: String,
    },
    /// No byte came for too long.
    #[error("the model's provider sent nothing for {} s", after.as_secs())]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The answer ended before its end.
    #[error("the model's answer was cut off: {reason}")]
    Cut {
        /// Why.
        reason: String,
    },
    /// A replay has no recorded answer for this call.
    #[error(
        "the recording has no answer for this call: {reason}; record the evaluation again, or replay it exactly as it was recorded"
    )]
    NotRecorded {
        /// What differs.
        reason: String,
    },
}

impl ProviderTrouble {
    /// Reads an HTTP status; `None` = no trouble: an answer, or a request that is wrong by itself.
    #[must_use]
    pub fn from_status(status: StatusCode, body: &[u8]) -> Option<Self> {
        let code = status.as_u16();
        let message = || error_message(body);
        match code {
            // OpenAI says with a 429 that the account is empty.
            429 if String::from_utf8_lossy(body).contains("insufficient_quota") => {
                Some(Self::Denied { status: code, message: message() })
            }
            429 => Some(Self::RateLimited { message: message() }),
            529 => Some(Self::Overloaded { status: code, message: message() }),
            408 | 409 | 500..=599 => Some(Self::Failed { status: code, message: message() }),
            401..=404 => Some(Self::Denied { status: code, message: message() }),
            400 if is_denial(&message()) => Some(Self::Denied { status: code, message: message() }),
            _ => None,
        }
    }

    /// Reads an error that came within a stream.
    #[must_use]
    pub fn from_stream(kind: &str, message: String) -> Self {
        let kind = kind.to_ascii_lowercase();
        if kind.contains("overloaded") || kind == "unavailable" {
            Self::Overloaded { status: 529, message }
        } else if kind.contains("rate_limit") || kind == "resource_exhausted" {
            Self::RateLimited { message }
        } else {
            Self::Failed { status: 500, message }
        }
    }

    /// Whether another try may succeed.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Denied { .. } | Self::NotRecorded { .. } => false,
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Failed { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Cut { .. } => true,
        }
    }

    /// Whether the provider may have worked, and charged, before it failed.
    #[must_use]
    pub(crate) const fn may_have_spent(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Cut { .. })
    }
}

impl From<UpstreamError> for ProviderTrouble {
    fn from(error: UpstreamError) -> Self {
        match error {
            UpstreamError::Unreachable { reason } => Self::Unreachable { reason },
            UpstreamError::TimedOut { after } => Self::TimedOut { after },
            UpstreamError::Cut { reason } => Self::Cut { reason },
            UpstreamError::NotRecorded { reason } => Self::NotRecorded { reason },
        }
    }
}

/// A 400 that is not the request's fault: Anthropic's empty account, Gemini's wrong key.
fn is_denial(message: &str) -> bool {
    message.contains("credit balance") || message.contains("API key not valid")
}
