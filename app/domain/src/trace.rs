//! The neutral record of what an agent did. All text in it is hostile: it is capped when recorded and escaped when shown.

mod room;

pub use room::{MOST_BYTES, MOST_PARTS, TraceRoom};
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::usage::TokenUsage;

/// What an agent did, step by step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// In order of time.
    pub steps: Vec<TraceStep>,
}

/// Who speaks in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The agent program's standing instructions.
    System,
    /// The task.
    User,
    /// The model, through its agent.
    Agent,
}

/// One turn: text, the tool calls it made, their results, its tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// When it was complete; `None` where not recorded.
    pub at: Option<Timestamp>,
    /// Who speaks.
    pub source: Source,
    /// What is said.
    pub text: String,
    /// The model's reasoning, where it was sent.
    pub reasoning: Option<String>,
    /// The tools it called, in order.
    pub calls: Vec<ToolCall>,
    /// Tokens of the model call behind this step.
    pub usage: Option<TokenUsage>,
    /// Id of the call whose sub-agent speaks; `None` for the agent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Beside the conversation with the model: a line of log, a warning, a remark of the agent program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
}

impl TraceStep {
    /// A step that is nothing but text.
    #[must_use]
    pub fn said(source: Source, text: impl Into<String>) -> Self {
        Self {
            at: None,
            source,
            text: text.into(),
            reasoning: None,
            calls: Vec::new(),
            usage: None,
            parent: None,
            aside: false,
        }
    }
}

/// The kinds of tool that agents have, by canonical name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Runs a command.
    Shell,
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Writes a file.
    Write,
    /// Looks for files or text.
    Search,
    /// Opens a skill.
    Skill,
    /// Anything else.
    Other,
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id for it.
    pub id: String,
    /// Canonical kind.
    pub tool: ToolKind,
    /// The agent's own name for the tool.
    pub name: String,
    /// As the model gave them.
    pub arguments: serde_json::Value,
    /// `None` where the run ended before it came.
    pub result: Option<ToolResult>,
}

impl ToolCall {
    /// The arguments as a person reads them: a single text as it is, anything else as indented JSON.
    #[must_use]
    pub fn arguments_text(&self) -> String {
        let object = self.arguments.as_object().filter(|object| object.len() == 1);
        let single = object.and_then(|object| object.values().next()?.as_str());
        match (single, &self.arguments) {
            (Some(text), _) => text.to_owned(),
            (None, serde_json::Value::String(text)) => text.clone(),
            (None, other) => serde_json::to_string_pretty(other).unwrap_or_default(),
        }
    }
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// As the model saw it, capped.
    pub text: String,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// Whether the agent was told that it failed.
    pub is_error: bool,
    /// Milliseconds.
    pub duration_ms: Option<u64>,
}

impl Trace {
    /// Number of model turns, those of sub-agents included.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.steps.iter().filter(|step| step.source == Source::Agent && !step.aside).count()
    }

    /// Number of tool calls.
    #[must_use]
    pub fn tool_calls(&self) -> usize {
        self.steps.iter().map(|step| step.calls.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_text_argument_is_shown_as_it_is() {
        for (arguments, text) in [
            (serde_json::json!({"command": "ls -l"}), "ls -l"),
            (serde_json::json!("ls"), "ls"),
            (serde_json::json!({"a": 1, "b": "c"}), "{\n  \"a\": 1,\n  \"b\": \"c\"\n}"),
        ] {
            let name = String::new();
            let call = ToolCall { id: name.clone(), tool: ToolKind::Other, name, arguments, result: None };
            assert_eq!(call.arguments_text(), text);
        }
    }
}
