//! OpenAI Responses.

use serde_json::{Value, json};

use super::{EVENTS, JSON, Said, event, pieces, with};

pub(super) fn answer(said: &Said<'_>) -> (&'static str, Vec<String>) {
    if said.asked.stream { (EVENTS, events(said)) } else { (JSON, vec![done(said).to_string()]) }
}

fn message(said: &Said<'_>, text: &str, status: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let content = if status == "completed" { json!([part]) } else { json!([]) };
    json!({"type": "message", "id": said.id("msg"), "status": status, "role": "assistant", "content": content})
}

fn call(said: &Said<'_>, index: usize, status: &str) -> Value {
    let tool = said.tools.get(index).cloned().unwrap_or_default();
    let arguments = if status == "completed" { Value::from(tool.input).to_string() } else { String::new() };
    json!({
        "type": "function_call",
        "id": said.call_id("fc", index),
        "call_id": said.call_id("call", index),
        "name": tool.name,
        "arguments": arguments,
        "status": status,
    })
}

fn output(said: &Said<'_>) -> Vec<Value> {
    let text = (!said.text.is_empty()).then(|| message(said, said.text, "completed"));
    text.into_iter().chain((0..said.tools.len()).map(|index| call(said, index, "completed"))).collect()
}

fn response(said: &Said<'_>, status: &str, output: Vec<Value>, usage: Value) -> Value {
    let incomplete = (status == "incomplete").then(|| {
        let reason = if said.stop_reason == "refusal" { "content_filter" } else { "max_output_tokens" };
        json!({"reason": reason})
    });
    json!({
        "id": said.id("resp"),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": incomplete,
        "model": said.asked.model,
        "output": output,
        "parallel_tool_calls": true,
        "usage": usage,
    })
}

fn last_status(said: &Said<'_>) -> &'static str {
    if matches!(said.stop_reason.as_str(), "max_tokens" | "refusal") { "incomplete" } else { "completed" }
}

fn done(said: &Said<'_>) -> Value {
    let tokens = &said.tokens;
    let usage = json!({
        "input_tokens": tokens.prompt(),
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.prompt().saturating_add(tokens.output),
    });
    response(said, last_status(said), output(said), usage)
}

fn events(said: &Said<'_>) -> Vec<String> {
    let begun = response(said, "in_progress", Vec::new(), Value::Null);
    let mut data = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in output(said).into_iter().enumerate() {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => text_events(said, index, &item, &mut data),
            _ => call_events(said, index, &item, &mut data),
        }
    }
    let kind = if last_status(said) == "incomplete" { "response.incomplete" } else { "response.completed" };
    data.push(json!({"type": kind, "response": done(said)}));
    let numbered = data.into_iter().enumerate().map(|(number, data)| {
        let data = with(data, "sequence_number", json!(number));
        let name = data.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        event(&name, &data)
    });
    numbered.collect()
}

fn text_events(said: &Said<'_>, index: usize, item: &Value, data: &mut Vec<Value>) {
    let id = said.id("msg");
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let place = |kind: &str| json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0});
    let at = |kind: &str, name: &str, value: Value| with(place(kind), name, value);
    let opened = message(said, "", "in_progress");
    data.push(json!({"type": "response.output_item.added", "output_index": index, "item": opened}));
    data.push(at("response.content_part.added", "part", part("")));
    data.extend(pieces(said.text).into_iter().map(|piece| at("response.output_text.delta", "delta", json!(piece))));
    data.push(at("response.output_text.done", "text", json!(said.text)));
    data.push(at("response.content_part.done", "part", part(said.text)));
    data.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}

fn call_events(said: &Said<'_>, index: usize, item: &Value, data: &mut Vec<Value>) {
    let number = index.saturating_sub(usize::from(!said.text.is_empty()));
    let id = said.call_id("fc", number);
    let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
    let opened = call(said, number, "in_progress");
    data.push(json!({"type": "response.output_item.added", "output_index": index, "item": opened}));
    let kind = "response.function_call_arguments";
    data.extend(
        pieces(arguments).into_iter().map(
            |piece| json!({"type": format!("{kind}.delta"), "item_id": id, "output_index": index, "delta": piece}),
        ),
    );
    data.push(json!({"type": format!("{kind}.done"), "item_id": id, "output_index": index, "arguments": arguments}));
    data.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}
