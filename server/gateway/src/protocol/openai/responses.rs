//! Responses: the few fields that are read.

use domain::usage::TokenUsage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::ToolHead;
use crate::protocol::CallHead;
use crate::protocol::sse::SseEvent;
use crate::usage::WireReading;

#[derive(Deserialize)]
struct Body {
    model: String,
    #[serde(default)]
    models: Option<Vec<String>>,
    #[serde(default)]
    tools: Option<Vec<ToolHead>>,
    /// A prompt kept by the provider, which may bring tools of its own.
    #[serde(default)]
    prompt: Option<IgnoredAny>,
}

pub(crate) fn head(body: &[u8]) -> Result<CallHead, String> {
    let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let tools = body.tools.iter().flatten().filter_map(ToolHead::hosted);
    let hosted = tools.chain(body.prompt.map(|_| "stored prompt".to_owned())).collect();
    Ok(CallHead { model: body.model, fallbacks: body.models.unwrap_or_default(), hosted })
}

/// Reads a wire `usage` object. Input tokens include those of the cache, output tokens the reasoning.
fn usage(wire: &Value) -> TokenUsage {
    let number = |path: &str| wire.pointer(path).and_then(Value::as_u64);
    let prompt = number("/input_tokens");
    let cache_read = prompt.map(|_| number("/input_tokens_details/cached_tokens").unwrap_or(0));
    let cache_write = prompt.map(|_| number("/input_tokens_details/cache_write_tokens").unwrap_or(0));
    TokenUsage {
        input: prompt
            .zip(cache_read)
            .zip(cache_write)
            .and_then(|((prompt, read), write)| prompt.checked_sub(read)?.checked_sub(write)),
        cache_read,
        cache_write,
        output: number("/output_tokens"),
    }
}

pub(crate) fn read_event(reading: &mut WireReading, event: &SseEvent) {
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
    let kind = data.get("type").and_then(Value::as_str).unwrap_or(&event.event);
    if let Some(response) = data.get("response") {
        take(reading, response);
    }
    match kind {
        "response.completed" | "response.incomplete" | "response.done" => reading.complete = true,
        "response.failed" => {
            reading.error = Some(super::error(data.pointer("/response/error").unwrap_or(&Value::Null)))
        }
        // Both forms occur: the fields beside the type, or an object of their own.
        "error" => reading.error = Some(super::error(data.get("error").unwrap_or(&data))),
        _ => {}
    }
}

pub(crate) fn read_json(reading: &mut WireReading, answer: &Value) {
    take(reading, answer);
    if answer.get("status").and_then(Value::as_str) == Some("failed") {
        reading.error = Some(super::error(answer.get("error").unwrap_or(&Value::Null)));
    }
    reading.complete = true;
}

fn take(reading: &mut WireReading, response: &Value) {
    super::model(reading, response);
    super::off_list(reading, response);
    if let Some(wire) = response.get("usage").filter(|wire| wire.is_object()) {
        reading.usage = usage(wire);
    }
    reading.declined |= declines(response);
}

/// A filter's word, or a refusal among what the model wrote.
fn declines(response: &Value) -> bool {
    let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
    let mut parts = items.filter_map(|item| item.get("content")?.as_array()).flatten();
    response.pointer("/incomplete_details/reason").and_then(Value::as_str) == Some("content_filter")
        || parts.any(|part| part.get("type").and_then(Value::as_str) == Some("refusal"))
}
