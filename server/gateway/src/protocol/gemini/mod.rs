//! Gemini `generateContent` and `streamGenerateContent`: the few fields that are read.

use std::collections::BTreeMap;

use domain::usage::TokenUsage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::sse::SseEvent;
use super::{Action, CallHead, Protocol, Route};
use crate::usage::WireReading;

/// The version and collection that a path begins with.
const BEGINNINGS: [&str; 3] = ["/v1beta/models/", "/v1/models/", "/v1alpha/models/"];
/// Kinds of tools that the agent carries out by itself, in both spellings that the vendor takes.
const CARRIED_OUT_BY_THE_AGENT: [&str; 4] =
    ["functionDeclarations", "function_declarations", "computerUse", "computer_use"];

/// Ends of an answer that was not given.
const DECLINED: [&str; 5] = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];

pub(super) fn route(path: &str) -> Option<Route> {
    let rest = BEGINNINGS.iter().find_map(|beginning| path.strip_prefix(beginning))?;
    let (model, method) = rest.rsplit_once(':')?;
    let action = match method {
        "generateContent" | "streamGenerateContent" => Action::Generate,
        "countTokens" => Action::CountTokens,
        _ => return None,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let named = !model.is_empty() && model != ".." && model.chars().all(plain);
    named.then(|| Route { protocol: Protocol::Gemini, action, model: Some(model.to_owned()) })
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    tools: Option<Vec<BTreeMap<String, IgnoredAny>>>,
}

pub(super) fn head(model: &str, body: &[u8]) -> Result<CallHead, String> {
    let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let kinds = body.tools.into_iter().flatten().flat_map(BTreeMap::into_keys);
    let hosted = kinds.filter(|kind| !CARRIED_OUT_BY_THE_AGENT.contains(&kind.as_str())).collect();
    Ok(CallHead { model: model.to_owned(), fallbacks: Vec::new(), hosted })
}

/// Reads `usageMetadata`. A count of 0 is left out on this wire; prompt tokens include those of the cache, thoughts are written by the
/// model, and what its tools read is prompt.
fn usage(wire: &Value) -> TokenUsage {
    let number = |name: &str| wire.get(name).and_then(Value::as_u64);
    let Some(prompt) = number("promptTokenCount") else { return TokenUsage::UNKNOWN };
    let or_none = |name: &str| number(name).unwrap_or(0);
    let cached = or_none("cachedContentTokenCount");
    TokenUsage {
        input: prompt.checked_sub(cached).map(|fresh| fresh.saturating_add(or_none("toolUsePromptTokenCount"))),
        cache_read: Some(cached),
        cache_write: Some(0),
        output: Some(or_none("candidatesTokenCount").saturating_add(or_none("thoughtsTokenCount"))),
    }
}

pub(crate) fn read_event(reading: &mut WireReading, event: &SseEvent) {
    if let Ok(data) = serde_json::from_str::<Value>(&event.data) {
        take(reading, &data);
    }
}

/// One answer, or the list of pieces that a stream without `alt=sse` is.
pub(crate) fn read_json(reading: &mut WireReading, answer: &Value) {
    match answer {
        Value::Array(pieces) => pieces.iter().for_each(|piece| take(reading, piece)),
        whole => {
            take(reading, whole);
            reading.finished = true;
        }
    }
}

fn take(reading: &mut WireReading, data: &Value) {
    if let Some(error) = data.get("error") {
        let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or("unknown").to_owned();
        reading.error = Some((word("status"), word("message")));
    }
    if let Some(model) = data.get("modelVersion").and_then(Value::as_str) {
        reading.model = Some(model.to_owned());
    }
    let candidates = data.get("candidates").and_then(Value::as_array);
    let ends = |candidate: &Value| candidate.get("finishReason").is_some_and(Value::is_string);
    reading.finished |= candidates.is_some_and(|candidates| candidates.iter().any(ends))
        || data.pointer("/promptFeedback/blockReason").is_some();
    let declines = |candidate: &Value| {
        let reason = candidate.get("finishReason").and_then(Value::as_str);
        reason.is_some_and(|reason| DECLINED.contains(&reason))
    };
    reading.declined |= candidates.is_some_and(|candidates| candidates.iter().any(declines))
        || data.pointer("/promptFeedback/blockReason").is_some();
    if let Some(wire) = data.get("usageMetadata") {
        reading.usage = usage(wire);
        if !reading.finished {
            // Counts grow from piece to piece; only those of the end are whole.
            reading.usage.output = None;
        }
    }
}
