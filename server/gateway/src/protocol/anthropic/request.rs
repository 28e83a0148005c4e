//! A Messages request, as far as it is read.

use serde::Deserialize;
use serde_json::Value;

/// What decides whether a request is passed on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RequestHead {
    /// The model asked for.
    pub model: String,
    /// Whether the answer is to be streamed.
    #[serde(default)]
    pub stream: bool,
}

/// What a scripted model looks at.
#[derive(Debug, Clone, Deserialize)]
pub struct RequestView {
    /// The model asked for.
    pub model: String,
    /// Whether the answer is to be streamed.
    #[serde(default)]
    pub stream: bool,
    /// The system prompt.
    #[serde(default)]
    pub system: ContentView,
    /// The conversation so far.
    #[serde(default)]
    pub messages: Vec<MessageView>,
    /// The tools on offer.
    #[serde(default)]
    pub tools: Vec<ToolView>,
}

/// One message.
#[derive(Debug, Clone, Deserialize)]
pub struct MessageView {
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// What it holds.
    #[serde(default)]
    pub content: ContentView,
}

/// One tool.
#[derive(Debug, Clone, Deserialize)]
pub struct ToolView {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
}

/// A text, or blocks of which those with text are read.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum ContentView {
    /// A plain text.
    Text(String),
    /// Content blocks.
    Blocks(Vec<Value>),
    /// Anything else.
    Other(Value),
}

impl Default for ContentView {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl ContentView {
    /// The texts of its `text` blocks, one per line. Tool results are left out: what an agent reads is not what it was told.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let text = |block: &Value| match block.get("type").and_then(Value::as_str) {
                    Some("text") => block.get("text").and_then(Value::as_str).map(str::to_owned),
                    _ => None,
                };
                blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n")
            }
            Self::Other(_) => String::new(),
        }
    }
}

impl RequestView {
    /// The first user message's text: the task.
    #[must_use]
    pub fn task(&self) -> String {
        self.messages
            .iter()
            .find(|message| message.role == "user")
            .map(|message| message.content.text())
            .unwrap_or_default()
    }

    /// Everything that the agent program told the model: system prompt, user texts, tool descriptions.
    #[must_use]
    pub fn told(&self) -> String {
        let texts =
            self.messages.iter().filter(|message| message.role != "assistant").map(|message| message.content.text());
        let tools = self.tools.iter().map(|tool| tool.description.clone());
        std::iter::once(self.system.text()).chain(texts).chain(tools).collect::<Vec<_>>().join("\n")
    }

    /// How many times the model has spoken.
    #[must_use]
    pub fn turns_taken(&self) -> usize {
        self.messages.iter().filter(|message| message.role == "assistant").count()
    }
}
