//! The vendors' own languages, as far as the gateway has to understand them: which call it is, what decides whether it is passed on, how
//! tokens are told, and how an error is said. Everything else passes through unread.

pub mod anthropic;
pub mod error;
pub mod gemini;
pub mod headers;
mod links;
pub mod openai;
pub mod refusal;
mod route;
pub mod sse;

pub use refusal::Refusal;
pub use route::{Action, Route, likely_protocol};

use serde::{Deserialize, Serialize};

/// A vendor's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini `generateContent` and `streamGenerateContent`.
    Gemini,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenaiChat, Self::OpenaiResponses, Self::Gemini];

    /// The vendor's name for it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic Messages",
            Self::OpenaiChat => "OpenAI Chat Completions",
            Self::OpenaiResponses => "OpenAI Responses",
            Self::Gemini => "Gemini generateContent",
        }
    }

    /// Whether the first bytes of a stream are an error: then nothing has been said yet, and the call can be tried again.
    #[must_use]
    pub(crate) fn is_early_error(self, first: &[u8]) -> bool {
        let starts = |words: &str| first.trim_ascii_start().starts_with(words.as_bytes());
        match self {
            Self::Anthropic => starts("event: error"),
            Self::OpenaiChat | Self::Gemini => starts("data: {\"error\"") || starts("data: {\n  \"error\""),
            Self::OpenaiResponses => starts("event: error") || starts("data: {\"type\":\"error\""),
        }
    }
}

/// What decides whether a call is passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallHead {
    /// The model asked for.
    pub model: String,
    /// Further models that the provider may take instead.
    pub fallbacks: Vec<String>,
    /// What the provider is asked to do by itself, beyond answering: search, fetch, run code, call remote servers. In the vendor's words.
    pub hosted: Vec<String>,
}
