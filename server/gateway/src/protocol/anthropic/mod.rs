//! Anthropic Messages: the few fields that the gateway and our own agent read.

mod head;
mod reply;
mod usage;

pub use super::error::error_message;
pub(super) use head::head;
pub use reply::{Reply, ReplyReader};
pub(crate) use usage::{overlay_usage, read_event, read_json};

/// The path of a call.
pub const MESSAGES_PATH: &str = "/v1/messages";
