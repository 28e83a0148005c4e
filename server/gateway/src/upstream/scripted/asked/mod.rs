//! What a scripted model looks at, read from the request of any vendor.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Map, Value};

use crate::protocol::{Protocol, Route};

/// A request, as a scripted model sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Asked {
    /// The model asked for.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Whether a stream is to tell its tokens (Chat Completions tells them only when asked), or is one of events (Gemini has two forms).
    pub stream_option: bool,
    /// The system prompt.
    pub system: String,
    /// What the user said, one text a line. What an agent reads by its tools is not part of it.
    pub user: String,
    /// The tools on offer.
    pub tools: Vec<Offered>,
    /// How many times the model has spoken.
    pub turns_taken: usize,
}

/// A tool on offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Offered {
    pub name: String,
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Map<String, Value>,
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(route: &Route, path_and_query: &str, body: &[u8]) -> Result<Self, String> {
        let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if !body.is_object() {
            return Err("it is no JSON object".to_owned());
        }
        Ok(match route.protocol {
            Protocol::Anthropic => anthropic::read(&body),
            Protocol::OpenaiChat => chat::read(&body),
            Protocol::OpenaiResponses => responses::read(&body),
            Protocol::Gemini => gemini::read(route.model.as_deref().unwrap_or_default(), path_and_query, &body),
        })
    }

    /// Everything that the agent program told the model: system prompt, user texts, tool descriptions.
    pub fn told(&self) -> String {
        let tools = self.tools.iter().map(|tool| tool.description.as_str());
        [self.system.as_str(), self.user.as_str()].into_iter().chain(tools).collect::<Vec<_>>().join("\n")
    }

    fn add(place: &mut String, text: &str) {
        if !place.is_empty() && !text.is_empty() {
            place.push('\n');
        }
        place.push_str(text);
    }

    fn say(&mut self, role: &str, text: &str) {
        match role {
            "system" | "developer" => Self::add(&mut self.system, text),
            "user" => Self::add(&mut self.user, text),
            _ => {}
        }
    }
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A plain text, or the texts of those parts that are of these kinds.
fn text_of(content: Option<&Value>, kinds: &[&str]) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter(|part| kinds.contains(&word(part, "type"))).map(|part| word(part, "text"));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn offered(tool: &Value, schema: &str) -> Offered {
    Offered {
        name: word(tool, "name").to_owned(),
        description: word(tool, "description").to_owned(),
        schema: tool.get(schema).and_then(Value::as_object).cloned().unwrap_or_default(),
    }
}
