//! Chat Completions: the few fields that are read.

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
    #[serde(default)]
    web_search_options: Option<IgnoredAny>,
    #[serde(default)]
    plugins: Option<Vec<IgnoredAny>>,
}

pub(crate) fn head(body: &[u8]) -> Result<CallHead, String> {
    let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let tools = body.tools.iter().flatten().filter_map(ToolHead::hosted);
    let search = body.web_search_options.map(|_| "web_search_options".to_owned());
    let plugins = body.plugins.filter(|plugins| !plugins.is_empty()).map(|_| "plugins".to_owned());
    let hosted = tools.chain(search).chain(plugins).collect();
    Ok(CallHead { model: body.model, fallbacks: body.models.unwrap_or_default(), hosted })
}

/// Reads a wire `usage` object. Prompt tokens include those of the cache. What the total counts beyond prompt and completion was written
/// by the model as well (reasoning, with providers that leave it out of the completion).
fn usage(wire: &Value) -> TokenUsage {
    let number = |path: &str| wire.pointer(path).and_then(Value::as_u64);
    let prompt = number("/prompt_tokens");
    // The second name is DeepSeek's.
    let cached = number("/prompt_tokens_details/cached_tokens").or_else(|| number("/prompt_cache_hit_tokens"));
    let cache_read = prompt.map(|_| cached.unwrap_or(0));
    let cache_write = prompt.map(|_| number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0));
    let beyond = number("/total_tokens").zip(prompt).and_then(|(total, prompt)| total.checked_sub(prompt));
    TokenUsage {
        input: prompt
            .zip(cache_read)
            .zip(cache_write)
            .and_then(|((prompt, read), write)| prompt.checked_sub(read)?.checked_sub(write)),
        cache_read,
        cache_write,
        output: number("/completion_tokens").map(|written| written.max(beyond.unwrap_or(0))),
    }
}

pub(crate) fn read_event(reading: &mut WireReading, event: &SseEvent) {
    if event.data.trim() == "[DONE]" {
        reading.complete = true;
        return;
    }
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
    take(reading, &data);
}

pub(crate) fn read_json(reading: &mut WireReading, answer: &Value) {
    take(reading, answer);
    reading.complete = true;
}

fn take(reading: &mut WireReading, data: &Value) {
    // Some compatible servers say so under the status 200.
    if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
        reading.error = Some(super::error(error));
    }
    super::model(reading, data);
    super::off_list(reading, data);
    if let Some(wire) = data.get("usage").filter(|wire| wire.is_object()) {
        reading.usage = usage(wire);
    }
    let choices = data.get("choices").and_then(Value::as_array);
    let ends = |choice: &Value| choice.get("finish_reason").is_some_and(Value::is_string);
    reading.finished |= choices.is_some_and(|choices| choices.iter().any(ends));
    reading.declined |= choices.is_some_and(|choices| choices.iter().any(declines));
}

/// A filter's word, or the model's own in the field for it.
fn declines(choice: &Value) -> bool {
    let says = |path: &str| choice.pointer(path).and_then(Value::as_str).is_some_and(|words| !words.is_empty());
    choice.get("finish_reason").and_then(Value::as_str) == Some("content_filter")
        || says("/message/refusal")
        || says("/delta/refusal")
}
