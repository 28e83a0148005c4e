//! What is kept of each model call.

use domain::usage::TokenUsage;
use serde::{Deserialize, Serialize};

use crate::protocol::Protocol;

/// One call that an agent made, with all tries that it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The vendor's language; of a request that is no known call the likely one.
    pub protocol: Protocol,
    /// Path asked for, without its query.
    pub endpoint: String,
    /// The model asked for; `None` where the request could not be read.
    pub model: Option<String>,
    /// The model that answered, as it calls itself; `None` = not told.
    pub answered_by: Option<String>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// HTTP status that the agent got; `None` where it got none.
    pub status: Option<u16>,
    /// Tokens, from the wire.
    pub usage: TokenUsage,
    /// List price of these tokens, in the price table's currency; `None` = unknown.
    pub cost: Option<f64>,
    /// Milliseconds from the opening of the gateway to the call.
    pub started_after_ms: u64,
    /// Milliseconds from the call to the first byte of the answer that was passed on.
    pub latency_to_first_byte_ms: Option<u64>,
    /// Milliseconds from the call to its end.
    pub total_ms: u64,
    /// Tries after the first one.
    pub retries: u32,
    /// Whether the answer was recorded earlier.
    pub replayed: bool,
    /// Whether that was for a request in which tools had answered otherwise.
    #[serde(default)]
    pub drifted: bool,
    /// Whether the model, or a filter of its provider, declined to answer.
    #[serde(default)]
    pub declined: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallOutcome {
    /// Answered to the end.
    Answered,
    /// The provider said that the request is wrong (400, 413, …).
    Rejected {
        /// In its words.
        message: String,
    },
    /// This gateway refused it; it never reached the provider.
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
