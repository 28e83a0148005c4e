//! Tokens and the end of a Messages answer.

use domain::usage::TokenUsage;
use serde_json::Value;

use crate::protocol::sse::SseEvent;
use crate::usage::WireReading;

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

pub(crate) fn read_event(reading: &mut WireReading, event: &SseEvent) {
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
    match data.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => {
            if let Some(message) = data.get("message") {
                take(reading, message);
            }
            // A placeholder (1 in practice): the final count comes with message_delta or not at all.
            reading.usage.output = None;
        }
        "message_delta" => take(reading, &data),
        "message_stop" => reading.complete = true,
        "error" => {
            let word = |name: &str| data.pointer(name).and_then(Value::as_str).unwrap_or("unknown").to_owned();
            reading.error = Some((word("/error/type"), word("/error/message")));
        }
        _ => {}
    }
}

pub(crate) fn read_json(reading: &mut WireReading, answer: &Value) {
    take(reading, answer);
    reading.complete = true;
}

fn take(reading: &mut WireReading, holder: &Value) {
    if let Some(model) = holder.get("model").and_then(Value::as_str) {
        reading.model = Some(model.to_owned());
    }
    // In the message itself, or in the delta that ends its stream.
    let reason = holder.get("stop_reason").or_else(|| holder.pointer("/delta/stop_reason"));
    reading.declined |= reason.and_then(Value::as_str) == Some("refusal");
    if let Some(wire) = holder.get("usage") {
        overlay_usage(&mut reading.usage, wire);
        if let Some(reason) = off_list(wire) {
            reading.off_list = Some(reason);
        }
    }
}

/// Why list prices do not hold: tokens of these kinds are charged otherwise.
fn off_list(wire: &Value) -> Option<String> {
    let number = |path: &str| wire.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let word = |name: &str| wire.get(name).and_then(Value::as_str);
    if number("/cache_creation/ephemeral_1h_input_tokens") > 0 {
        return Some("cache writes for an hour".to_owned());
    }
    if number("/server_tool_use/web_search_requests") > 0 {
        return Some("web searches".to_owned());
    }
    match (word("service_tier"), word("speed")) {
        (Some(tier @ ("priority" | "batch")), _) => Some(format!("service tier '{tier}'")),
        (_, Some("fast")) => Some("fast mode".to_owned()),
        _ => None,
    }
}
