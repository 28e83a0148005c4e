//! One call to a model as a page shows it: what the gateway's record of it tells, read back. Fields that a record lacks are unknown.

use serde::{Deserialize, Serialize};

use crate::usage::TokenUsage;

/// One call, with all tries that it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Path asked for.
    pub endpoint: String,
    /// The model asked for.
    #[serde(default)]
    pub model: Option<String>,
    /// How it ended.
    pub outcome: CallEnd,
    /// HTTP status that the agent got; `None` where it got none.
    #[serde(default)]
    pub status: Option<u16>,
    /// Tokens, from the wire.
    #[serde(default)]
    pub usage: TokenUsage,
    /// List price of them; `None` = unknown.
    #[serde(default)]
    pub cost: Option<f64>,
    /// Milliseconds from the start of the trial's gateway to the call.
    #[serde(default)]
    pub started_after_ms: u64,
    /// Milliseconds from the call to the first byte of its answer.
    #[serde(default)]
    pub latency_to_first_byte_ms: Option<u64>,
    /// Milliseconds from the call to its end.
    #[serde(default)]
    pub total_ms: u64,
    /// Tries after the first one.
    #[serde(default)]
    pub retries: u32,
    /// Whether the answer was recorded earlier.
    #[serde(default)]
    pub replayed: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallEnd {
    /// Answered to the end.
    Answered,
    /// The provider said that the request is wrong.
    Rejected {
        /// In its words.
        message: String,
    },
    /// The gateway refused it.
    Refused {
        /// Why.
        reason: String,
    },
    /// The provider failed, retries included.
    Trouble {
        /// What happened.
        message: String,
    },
    /// The agent went away before the end.
    Cancelled,
}

impl CallEnd {
    /// One word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Rejected { .. } => "rejected by the provider",
            Self::Refused { .. } => "refused by the gateway",
            Self::Trouble { .. } => "provider trouble",
            Self::Cancelled => "left by the agent",
        }
    }

    /// What to say beside the word.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Answered | Self::Cancelled => None,
            Self::Rejected { message } | Self::Trouble { message } => Some(message),
            Self::Refused { reason } => Some(reason),
        }
    }
}

/// The calls of a trial, of which a page shows the first ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCalls {
    /// In the order in which they were made.
    pub shown: Vec<ModelCall>,
    /// How many there were.
    pub of: usize,
}

impl ModelCalls {
    /// Reads a stored record of calls, and keeps the first `most`. `None` where it is not such a record.
    #[must_use]
    pub fn read(json: &[u8], most: usize) -> Option<Self> {
        let mut shown: Vec<ModelCall> = serde_json::from_slice(json).ok()?;
        let of = shown.len();
        shown.truncate(most);
        Some(Self { shown, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_another_version_is_read_as_far_as_it_goes() {
        let json = br#"[{"endpoint":"/v1/messages","outcome":{"kind":"answered"},"new":1},{"endpoint":"/x","outcome":{"kind":"refused","reason":"no"}}]"#;
        let calls = ModelCalls::read(json, 1).unwrap();
        assert_eq!((calls.shown.len(), calls.of), (1, 2));
        assert_eq!((calls.shown[0].usage.total(), calls.shown[0].cost), (None, None));
        assert_eq!(ModelCalls::read(b"{}", 9), None);
    }
}
