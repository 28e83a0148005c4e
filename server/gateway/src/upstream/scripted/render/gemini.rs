//! Gemini.

use serde_json::{Value, json};

use super::{EVENTS, JSON, Said, bare_event, pieces, with};

pub(super) fn answer(said: &Said<'_>) -> (&'static str, Vec<String>) {
    let tools = said.tools.iter().map(|tool| json!({"functionCall": {"name": tool.name, "args": tool.input}}));
    if !said.asked.stream {
        let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
        let parts = text.into_iter().chain(tools).collect();
        return (JSON, vec![piece(said, parts, true).to_string()]);
    }
    let texts = pieces(said.text).into_iter().map(|piece| json!({"text": piece}));
    let parts: Vec<Value> = texts.chain(tools).collect();
    let count = parts.len();
    let mut data: Vec<Value> =
        parts.into_iter().enumerate().map(|(index, part)| piece(said, vec![part], index + 1 == count)).collect();
    if data.is_empty() {
        data.push(piece(said, vec![json!({"text": ""})], true));
    }
    if said.asked.stream_option {
        return (EVENTS, data.iter().map(bare_event).collect());
    }
    let last = data.len();
    let listed = data.iter().enumerate().map(|(index, data)| {
        let (open, close) = (if index == 0 { "[" } else { "," }, if index + 1 == last { "]" } else { "" });
        format!("{open}{data}{close}\n")
    });
    (JSON, listed.collect())
}

fn piece(said: &Said<'_>, parts: Vec<Value>, is_last: bool) -> Value {
    let tokens = &said.tokens;
    let reason = match said.stop_reason.as_str() {
        "end_turn" | "tool_use" | "stop_sequence" => "STOP",
        "max_tokens" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        other => other,
    };
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    let mut usage =
        json!({"promptTokenCount": tokens.prompt(), "totalTokenCount": tokens.prompt().saturating_add(tokens.output)});
    if tokens.cache_read > 0 {
        usage = with(usage, "cachedContentTokenCount", json!(tokens.cache_read));
    }
    if is_last {
        candidate = with(candidate, "finishReason", json!(reason));
        usage = with(usage, "candidatesTokenCount", json!(tokens.output));
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": said.asked.model,
        "responseId": said.id("resp"),
    })
}
