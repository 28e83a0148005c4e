//! Anthropic Messages: the few fields that the gateway and our own agent read. Everything else passes through unread.

mod error;
mod reply;
mod request;

pub use error::{Refusal, error_message, error_response};
pub use reply::{Reply, ReplyReader};
pub use request::{ContentView, MessageView, RequestHead, RequestView, ToolView};

use domain::usage::TokenUsage;
use serde_json::Value;

/// The only path that is answered.
pub const MESSAGES_PATH: &str = "/v1/messages";

/// Lays the fields of a wire `usage` object over `usage`. `message_delta` repeats fields with their final, cumulative values, so the last
/// word counts. A cache class that is null or absent beside known input means, in this protocol, that no cache took part.
pub(crate) fn overlay_usage(usage: &mut TokenUsage, wire: &Value) {
    let class = |name: &str| wire.get(name).and_then(Value::as_u64);
    let input = class("input_tokens");
    let caches = input.map(|_| 0);
    usage.input = input.or(usage.input);
    usage.cache_write = class("cache_creation_input_tokens").or(usage.cache_write).or(caches);
    usage.cache_read = class("cache_read_input_tokens").or(usage.cache_read).or(caches);
    usage.output = class("output_tokens").or(usage.output);
}
