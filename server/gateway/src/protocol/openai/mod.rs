//! OpenAI: Chat Completions and Responses.

pub mod chat;
pub mod responses;

use serde::Deserialize;
use serde_json::Value;

use crate::usage::WireReading;

/// A tool on offer, as far as it is read.
#[derive(Debug, Deserialize)]
struct ToolHead {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    environment: Option<Environment>,
}

#[derive(Debug, Deserialize)]
struct Environment {
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

/// Tools that the agent carries out by itself. What is not on this list is taken for the provider's own, so that a new one is not let
/// through unknown.
const CARRIED_OUT_BY_THE_AGENT: [&str; 8] = [
    "function",
    "custom",
    "local_shell",
    "apply_patch",
    "computer",
    "computer_use_preview",
    // Folders of functions, and the search in them.
    "namespace",
    "tool_search",
];

impl ToolHead {
    /// The provider's own tool by its name; `None` = the agent's.
    fn hosted(&self) -> Option<String> {
        let kind = self.kind.as_deref()?;
        let local = self.environment.as_ref().is_none_or(|place| place.kind.as_deref() == Some("local"));
        let own = CARRIED_OUT_BY_THE_AGENT.contains(&kind) || (kind == "shell" && local);
        (!own).then(|| kind.to_owned())
    }
}

/// Why list prices do not hold for this answer.
fn off_list(reading: &mut WireReading, answer: &Value) {
    let tier = answer.get("service_tier").and_then(Value::as_str);
    if let Some(tier @ ("flex" | "priority" | "scale" | "batch")) = tier {
        reading.off_list = Some(format!("service tier '{tier}'"));
    }
}

fn model(reading: &mut WireReading, answer: &Value) {
    if let Some(model) = answer.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
        reading.model = Some(model.to_owned());
    }
}

/// An error object within an answer: kind and words.
fn error(object: &Value) -> (String, String) {
    let word = |name: &str| object.get(name).and_then(Value::as_str).filter(|word| !word.is_empty()).map(str::to_owned);
    let kind = word("code").or_else(|| word("type")).unwrap_or_else(|| "unknown".to_owned());
    (kind, word("message").unwrap_or_else(|| "no message".to_owned()))
}
