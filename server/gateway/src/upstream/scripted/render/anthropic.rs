//! Anthropic Messages.

use serde_json::{Value, json};

use super::{EVENTS, JSON, NamedTool, Said, event, pieces};

pub(super) fn answer(said: &Said<'_>) -> (&'static str, Vec<String>) {
    let content = content(said.asked.turns_taken, said.text, &said.tools);
    let message = json!({
        "id": said.id("msg"),
        "type": "message",
        "role": "assistant",
        "model": said.asked.model,
        "content": content,
        "stop_reason": said.stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": said.tokens.input,
            "cache_creation_input_tokens": said.tokens.cache_write,
            "cache_read_input_tokens": said.tokens.cache_read,
            "output_tokens": said.tokens.output,
        },
    });
    if said.asked.stream { (EVENTS, events(message, &content)) } else { (JSON, vec![message.to_string()]) }
}

/// Content blocks.
pub(super) fn content(turn_number: usize, text: &str, tools: &[NamedTool]) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let tools = tools.iter().enumerate().map(|(index, tool)| {
        json!({"type": "tool_use", "id": format!("toolu_scripted_{turn_number}_{index}"), "name": tool.name, "input": tool.input})
    });
    text.into_iter().chain(tools).collect()
}

/// The stream as the vendor sends it: the start holds a placeholder of one output token, the end the count.
fn events(mut message: Value, content: &[Value]) -> Vec<String> {
    let output = message.pointer("/usage/output_tokens").cloned();
    let stop_reason = message.get("stop_reason").cloned();
    for (path, value) in [("/content", json!([])), ("/stop_reason", Value::Null), ("/usage/output_tokens", json!(1))] {
        if let Some(place) = message.pointer_mut(path) {
            *place = value;
        }
    }
    let mut events = vec![event("message_start", &json!({"type": "message_start", "message": message}))];
    for (index, block) in content.iter().enumerate() {
        events.extend(block_events(index, block));
    }
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    let end = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}});
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({"type": "message_stop"})));
    events
}

fn block_events(index: usize, block: &Value) -> Vec<String> {
    let (field, whole) = match block.get("text").and_then(Value::as_str) {
        Some(text) => ("text", text.to_owned()),
        None => ("input", block.get("input").cloned().unwrap_or_default().to_string()),
    };
    let mut empty = block.clone();
    if let Some(place) = empty.get_mut(field) {
        *place = if field == "text" { json!("") } else { json!({}) };
    }
    let start = json!({"type": "content_block_start", "index": index, "content_block": empty});
    let mut events = vec![event("content_block_start", &start)];
    for piece in pieces(&whole) {
        let delta = match field {
            "text" => json!({"type": "text_delta", "text": piece}),
            _ => json!({"type": "input_json_delta", "partial_json": piece}),
        };
        events.push(event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }
    events.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
    events
}
