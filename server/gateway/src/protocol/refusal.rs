//! What the gateway itself does not pass on, said in each vendor's own kind of error.

use http::{Response, StatusCode};

use super::error::{Kind, error_response};
use super::{Protocol, anthropic};
use crate::upstream::ByteStream;

/// Longest words of a request that are said back, in characters: it may be as long as [`crate::serve::MAX_REQUEST`], and so would be each
/// answer that nobody reads.
const MAX_SAID_BACK: usize = 200;

/// Why the gateway itself does not pass a request on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Another path or method.
    NoSuchEndpoint {
        /// Method and path.
        asked: String,
    },
    /// The upstream speaks another vendor's language.
    NotSpoken {
        /// What the call is.
        asked: Protocol,
        /// The upstream.
        upstream: String,
        /// What it speaks.
        speaks: Vec<Protocol>,
    },
    /// The body is no such call.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// The body is too long.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The token of another trial, or none.
    BadToken,
    /// Another model than the evaluation's.
    OtherModel {
        /// The model asked for.
        asked: String,
        /// The models allowed.
        allowed: Vec<String>,
    },
    /// The provider is asked to reach out by itself while the trial's network is closed.
    ProviderTool {
        /// The tools, in the vendor's words.
        tools: Vec<String>,
    },
    /// A cap is reached.
    Cap {
        /// Which one, in words.
        cap: String,
    },
}

impl Refusal {
    /// The status and kind by which the vendor would say it.
    #[must_use]
    pub const fn vendor_kind(&self, protocol: Protocol) -> Kind {
        match protocol {
            Protocol::Anthropic => self.anthropic(),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => self.openai(),
            Protocol::Gemini => self.gemini(),
        }
    }

    const fn anthropic(&self) -> Kind {
        match self {
            Self::NoSuchEndpoint { .. } | Self::NotSpoken { .. } | Self::OtherModel { .. } => {
                Kind::new(StatusCode::NOT_FOUND, "not_found_error")
            }
            Self::TooLarge { .. } => Kind::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
            Self::BadToken => Kind::new(StatusCode::UNAUTHORIZED, "authentication_error"),
            // A cap as the vendor refuses an empty account. A 429 would make agents wait and try again for minutes.
            Self::Unreadable { .. } | Self::ProviderTool { .. } | Self::Cap { .. } => {
                Kind::new(StatusCode::BAD_REQUEST, "invalid_request_error")
            }
        }
    }

    const fn openai(&self) -> Kind {
        const WRONG: &str = "invalid_request_error";
        match self {
            Self::NoSuchEndpoint { .. } | Self::NotSpoken { .. } => {
                Kind::coded(StatusCode::NOT_FOUND, WRONG, "unknown_url")
            }
            Self::OtherModel { .. } => Kind::coded(StatusCode::NOT_FOUND, WRONG, "model_not_found"),
            Self::TooLarge { .. } => Kind::coded(StatusCode::PAYLOAD_TOO_LARGE, WRONG, "request_too_large"),
            Self::BadToken => Kind::coded(StatusCode::UNAUTHORIZED, WRONG, "invalid_api_key"),
            Self::Unreadable { .. } => Kind::new(StatusCode::BAD_REQUEST, WRONG),
            Self::ProviderTool { .. } => Kind::coded(StatusCode::BAD_REQUEST, WRONG, "unsupported_tool"),
            Self::Cap { .. } => Kind::coded(StatusCode::BAD_REQUEST, WRONG, "billing_hard_limit_reached"),
        }
    }

    const fn gemini(&self) -> Kind {
        match self {
            Self::NoSuchEndpoint { .. } | Self::NotSpoken { .. } | Self::OtherModel { .. } => {
                Kind::new(StatusCode::NOT_FOUND, "NOT_FOUND")
            }
            Self::BadToken | Self::TooLarge { .. } | Self::Unreadable { .. } | Self::ProviderTool { .. } => {
                Kind::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT")
            }
            Self::Cap { .. } => Kind::new(StatusCode::BAD_REQUEST, "FAILED_PRECONDITION"),
        }
    }

    /// What the agent is told.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::NoSuchEndpoint { asked } => {
                let asked = brief(asked);
                format!(
                    "{asked} is not offered to this trial; POST {}, /v1/chat/completions, /v1/responses and \
                     /v1beta/models/MODEL:generateContent are",
                    anthropic::MESSAGES_PATH
                )
            }
            Self::NotSpoken { asked, upstream, speaks } => {
                let speaks: Vec<_> = speaks.iter().map(|protocol| protocol.title()).collect();
                format!("the upstream '{upstream}' does not speak {}; it speaks {}", asked.title(), speaks.join(", "))
            }
            Self::Unreadable { reason } => format!("not a model request: {reason}"),
            Self::TooLarge { limit } => format!("the request is longer than {limit} bytes"),
            Self::BadToken => "API key not valid: it is not this trial's token".to_owned(),
            Self::OtherModel { asked, allowed } => {
                let asked = brief(asked);
                format!("model: {asked} is not offered to this trial; its evaluation uses {}", allowed.join(", "))
            }
            Self::ProviderTool { tools } => {
                format!("tools: {} cannot be used here: this trial's network is closed", brief(&tools.join(", ")))
            }
            Self::Cap { cap } => format!("this trial's budget is used up: {cap}"),
        }
    }

    /// The whole answer.
    #[must_use]
    pub fn response(&self, protocol: Protocol) -> Response<ByteStream> {
        error_response(protocol, self.vendor_kind(protocol), &self.message(), false)
    }
}

/// The beginning of what was asked.
fn brief(asked: &str) -> String {
    let mut rest = asked.chars();
    let start: String = rest.by_ref().take(MAX_SAID_BACK).collect();
    if rest.next().is_some() { format!("{start}…") } else { start }
}
