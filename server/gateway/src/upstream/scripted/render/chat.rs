//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{EVENTS, JSON, Said, Tokens, bare_event, pieces, with};

pub(super) fn answer(said: &Said<'_>) -> (&'static str, Vec<String>) {
    if said.asked.stream { (EVENTS, events(said)) } else { (JSON, vec![whole(said).to_string()]) }
}

fn finish_reason<'a>(said: &'a Said<'_>) -> &'a str {
    match said.stop_reason.as_str() {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}

fn usage(tokens: &Tokens) -> Value {
    json!({
        "prompt_tokens": tokens.prompt(),
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt().saturating_add(tokens.output),
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

fn whole(said: &Said<'_>) -> Value {
    let mut message =
        json!({"role": "assistant", "content": (!said.text.is_empty()).then_some(said.text), "refusal": null});
    if !said.tools.is_empty() {
        let calls = said.tools.iter().enumerate().map(|(index, tool)| {
            let function = json!({"name": tool.name, "arguments": Value::from(tool.input.clone()).to_string()});
            json!({"id": said.call_id("call", index), "type": "function", "function": function})
        });
        message = with(message, "tool_calls", calls.collect());
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(said)});
    json!({
        "id": said.id("chatcmpl"),
        "object": "chat.completion",
        "created": 0,
        "model": said.asked.model,
        "choices": [choice],
        "usage": usage(&said.tokens),
    })
}

fn events(said: &Said<'_>) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let model = &said.asked.model;
        let (id, object) = (said.id("chatcmpl"), "chat.completion.chunk");
        bare_event(
            &json!({"id": id, "object": object, "created": 0, "model": model, "choices": choices, "usage": usage}),
        )
    };
    let delta = |delta: Value, reason: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": reason}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    events.extend(pieces(said.text).into_iter().map(|piece| delta(json!({"content": piece}), None)));
    for (index, tool) in said.tools.iter().enumerate() {
        let call = |call: Value| delta(json!({"tool_calls": [with(call, "index", json!(index))]}), None);
        let function = json!({"name": tool.name, "arguments": ""});
        events.push(call(json!({"id": said.call_id("call", index), "type": "function", "function": function})));
        let arguments = pieces(&Value::from(tool.input.clone()).to_string());
        events.extend(arguments.into_iter().map(|piece| call(json!({"function": {"arguments": piece}}))));
    }
    events.push(delta(json!({}), Some(finish_reason(said))));
    if said.asked.stream_option {
        events.push(chunk(json!([]), usage(&said.tokens)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}
