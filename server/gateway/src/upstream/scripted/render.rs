//! A turn of a script as the vendor would send it: one JSON text, or a stream of events.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use serde_json::{Value, json};

use super::script::Turn;
use crate::protocol::anthropic::RequestView;
use crate::upstream::ByteStream;

/// Streamed texts are cut into pieces of so many characters.
const PIECE: usize = 40;

pub(super) fn answer(request: &RequestView, turn: &Turn, request_bytes: usize) -> Response<ByteStream> {
    let content = content(request.turns_taken(), turn);
    let usage = usage(turn, request_bytes, &content);
    let stop_reason = turn.stop_reason.clone().unwrap_or_else(|| {
        let word = if turn.tools.is_empty() { "end_turn" } else { "tool_use" };
        word.to_owned()
    });
    let message = json!({
        "id": format!("msg_scripted_{}", request.turns_taken()),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage,
    });
    let (kind, pieces) = if request.stream {
        ("text/event-stream", events(message, &content))
    } else {
        ("application/json", vec![message.to_string()])
    };
    let mut response = Response::new(stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece)))).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn content(turn_number: usize, turn: &Turn) -> Vec<Value> {
    let text = (!turn.text.is_empty()).then(|| json!({"type": "text", "text": turn.text}));
    let tools = turn.tools.iter().enumerate().map(|(index, tool)| {
        json!({"type": "tool_use", "id": format!("toolu_scripted_{turn_number}_{index}"), "name": tool.name, "input": tool.input})
    });
    text.into_iter().chain(tools).collect()
}

fn usage(turn: &Turn, request_bytes: usize, content: &[Value]) -> Value {
    let reply_bytes = Value::from(content.to_vec()).to_string().len();
    json!({
        "input_tokens": turn.usage.input.unwrap_or_else(|| quarter(request_bytes)),
        "cache_creation_input_tokens": turn.usage.cache_write.unwrap_or(0),
        "cache_read_input_tokens": turn.usage.cache_read.unwrap_or(0),
        "output_tokens": turn.usage.output.unwrap_or_else(|| quarter(reply_bytes)),
    })
}

fn quarter(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
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
    let characters: Vec<char> = whole.chars().collect();
    for piece in characters.chunks(PIECE) {
        let piece: String = piece.iter().collect();
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

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}
