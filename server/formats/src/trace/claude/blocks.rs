//! Content blocks of messages, in the trace's terms. Qwen Code prints the same ones.

use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use serde_json::Value;

use crate::trace::text::{filled, word};

/// Claude Code's tools by canonical kind.
pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "Bash" | "BashOutput" | "KillShell" | "Monitor" => ToolKind::Shell,
        "Read" => ToolKind::Read,
        "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Write" => ToolKind::Write,
        "Grep" | "Glob" | "LS" => ToolKind::Search,
        "Skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    }
}

/// What an assistant message says and calls.
pub(in crate::trace) fn agent_step(message: &Value, kind: fn(&str) -> ToolKind) -> TraceStep {
    let mut step = TraceStep::said(Source::Agent, "");
    let mut texts = Vec::new();
    let mut thoughts = Vec::new();
    for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        match word(block, "type").unwrap_or_default() {
            "text" => texts.extend(word(block, "text")),
            "thinking" => thoughts.extend(word(block, "thinking")),
            "tool_use" | "server_tool_use" => step.calls.push(call(block, kind)),
            _ => {}
        }
    }
    if let Some(text) = message.get("content").and_then(Value::as_str) {
        texts.push(text);
    }
    step.text = texts.join("\n\n");
    step.reasoning = filled(&thoughts.join("\n\n"));
    step
}

fn call(block: &Value, kind: fn(&str) -> ToolKind) -> ToolCall {
    let name = word(block, "name").unwrap_or_default();
    ToolCall {
        id: word(block, "id").unwrap_or_default().to_owned(),
        tool: kind(name),
        name: name.to_owned(),
        arguments: block.get("input").cloned().unwrap_or_default(),
        result: None,
    }
}

/// The results in a user message, by call id.
pub(in crate::trace) fn tool_results(content: &Value) -> Vec<(String, ToolResult)> {
    let blocks = content.as_array().into_iter().flatten();
    let results = blocks.filter(|block| word(block, "type") == Some("tool_result"));
    results
        .map(|block| {
            let text = block.get("content").map(shown).unwrap_or_default();
            let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let exit_code = is_error.then(|| exit_code(&text)).flatten();
            let id = word(block, "tool_use_id").unwrap_or_default().to_owned();
            (id, ToolResult { text, exit_code, is_error, duration_ms: None })
        })
        .collect()
}

/// Commands that fail are told to the model as `Exit code 2` and what they printed.
fn exit_code(text: &str) -> Option<i64> {
    text.strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}

/// The text of a user message, without results.
pub(in crate::trace) fn user_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| word(block, "type") == Some("text"));
            texts.filter_map(|block| word(block, "text")).collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// A result's content as one text.
fn shown(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(shown_block).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn shown_block(block: &Value) -> String {
    match word(block, "text") {
        Some(text) => text.to_owned(),
        None => format!("[{}]", word(block, "type").unwrap_or("something that is no text")),
    }
}
