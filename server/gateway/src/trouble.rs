//! The provider's own failures, which make an attempt an infrastructure error and never a score.

use std::time::Duration;

use http::StatusCode;

use crate::protocol::error::{error_message, is_vendor_error, vendor_code};
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
    /// 401, 402, 403, 404, and what else says that the key, the account or the model's name is wrong. Trying again does not help.
    #[error("the model's provider denies access ({status}): {message}; {}", remedy(*status))]
    Denied {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// 403 or 404 in no vendor's form. It may be a proxy that is put up again in a moment, so nothing is certain.
    #[error(
        "what answers in the place of the model's provider is none ({status}): {message}; check the upstream's base URL and the way to it"
    )]
    Elsewhere {
        /// HTTP status.
        status: u16,
        /// Its words.
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
        let denied = || Some(Self::Denied { status: code, message: message() });
        match code {
            // OpenAI says with a 429 that the account is empty. What a quota gives again by itself is told in other words.
            429 if String::from_utf8_lossy(body).contains("insufficient_quota") => denied(),
            429 => Some(Self::RateLimited { message: message() }),
            529 => Some(Self::Overloaded { status: code, message: message() }),
            408 | 409 | 500..=599 => Some(Self::Failed { status: code, message: message() }),
            401 | 402 => denied(),
            403 | 404 if is_vendor_error(body) => denied(),
            403 | 404 => Some(Self::Elsewhere { status: code, message: message() }),
            400 if is_denial(body) => denied(),
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
            Self::Denied { .. } | Self::Elsewhere { .. } | Self::NotRecorded { .. } => false,
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

/// A 400 that is not the request's fault: Anthropic's accounts that are empty, at their limit or closed, Gemini's wrong key, OpenAI's empty
/// account and unknown model.
fn is_denial(body: &[u8]) -> bool {
    let said = ["credit balance", "specified API usage limits", "organization has been disabled", "API key not valid"];
    let message = error_message(body);
    said.iter().any(|words| message.contains(words))
        || matches!(vendor_code(body).as_deref(), Some("model_not_found" | "billing_hard_limit_reached"))
}

/// What to do about a denial.
const fn remedy(status: u16) -> &'static str {
    match status {
        401 => "set the upstream's key anew",
        402 | 429 => "fill the account, or raise its limit",
        403 => "see what the upstream's key and account may use",
        404 => "check the model's name and the upstream's base URL",
        _ => "check the upstream's key, account and model name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certain_to_be_said_again_is_a_denial() {
        let error = |words: &str| format!(r#"{{"type":"error","error":{{"type":"x","message":"{words}"}}}}"#);
        let coded =
            |code: &str| format!(r#"{{"error":{{"message":"m","type":"invalid_request_error","code":"{code}"}}}}"#);
        let gemini = |status: &str| {
            format!(r#"{{"error":{{"code":0,"message":"exceeded your current quota","status":"{status}"}}}}"#)
        };
        let page = "<html>404 Not Found</html>".to_owned();
        for (status, body, want) in [
            (401, error("invalid x-api-key"), "denied"),
            (401, String::new(), "denied"),
            (402, error("Insufficient Balance"), "denied"),
            (403, error("no permission"), "denied"),
            (403, page.clone(), "elsewhere"),
            (404, error("model: m"), "denied"),
            (404, r#"{"object":"error","message":"The model `m` does not exist.","code":404}"#.to_owned(), "denied"),
            (404, r#"{"error":"Not Found","status":404}"#.to_owned(), "elsewhere"),
            (403, r#"{"message":"Forbidden"}"#.to_owned(), "elsewhere"),
            (404, r#"{"detail":"Not Found"}"#.to_owned(), "elsewhere"),
            (404, page, "elsewhere"),
            (400, error("Your credit balance is too low to access the API"), "denied"),
            (
                400,
                error("You have reached your specified API usage limits. You will regain access on 2026-04-01"),
                "denied",
            ),
            (400, error("This organization has been disabled."), "denied"),
            (400, error("API key not valid. Please pass a valid API key."), "denied"),
            (400, coded("model_not_found"), "denied"),
            (400, coded("billing_hard_limit_reached"), "denied"),
            (400, coded("context_length_exceeded"), "none"),
            (400, error("max_tokens: too large"), "none"),
            (413, error("too large"), "none"),
            (429, coded("insufficient_quota"), "denied"),
            (429, coded("rate_limit_exceeded"), "passing"),
            // Gemini's quotas are given again by the minute and by the day.
            (429, gemini("RESOURCE_EXHAUSTED"), "passing"),
            (500, error("m"), "passing"),
            (503, gemini("UNAVAILABLE"), "passing"),
            (529, error("Overloaded"), "passing"),
        ] {
            let trouble = ProviderTrouble::from_status(StatusCode::from_u16(status).unwrap(), body.as_bytes());
            let got = match &trouble {
                None => "none",
                Some(ProviderTrouble::Denied { .. }) => "denied",
                Some(ProviderTrouble::Elsewhere { .. }) => "elsewhere",
                Some(trouble) if trouble.is_passing() => "passing",
                Some(_) => "other",
            };
            assert_eq!(got, want, "{status} {body}");
        }
    }
}
