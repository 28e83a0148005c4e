//! The record of an OpenHands SDK run, as our driver writes it: `{"events": […], "metrics": {…}}`. Of the metrics the accumulated block counts.

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use serde_json::Value;

use super::draft::{Draft, StepKey};
use super::reading::ReportedEnd;
use super::text::{filled, word};
use super::usage::report;

/// Reads the record.
pub(super) fn read(record: &Value, draft: &mut Draft) {
    draft.reading.usage = report(record);
    let usages = record.pointer("/metrics/token_usages").and_then(Value::as_array);
    draft.reading.model_calls = usages.map(|usages| usages.len() as u64);
    draft.reading.version = word(record, "version").map(str::to_owned);
    draft.reading.model = word(record, "model").map(str::to_owned);
    draft.reading.end = match (word(record, "status"), word(record, "error")) {
        (_, Some(error)) => ReportedEnd::Failed { message: error.to_owned() },
        (Some("finished"), None) => ReportedEnd::Completed,
        _ => ReportedEnd::NotTold,
    };
    let mut step: Option<(String, StepKey)> = None;
    for event in record.get("events").and_then(Value::as_array).into_iter().flatten() {
        take(event, &mut step, draft);
    }
}

/// Actions of one answer share its id.
fn take(event: &Value, open: &mut Option<(String, StepKey)>, draft: &mut Draft) {
    let at = word(event, "timestamp").and_then(Timestamp::from_rfc3339);
    let source = match word(event, "source").unwrap_or_default() {
        "agent" => Source::Agent,
        "user" => Source::User,
        _ => Source::System,
    };
    match word(event, "kind").unwrap_or_default() {
        "ActionEvent" => {
            let answer = word(event, "llm_response_id").unwrap_or_default().to_owned();
            let thought = texts(event.get("thought").unwrap_or(&Value::Null));
            let reasoning = word(event, "reasoning_content").and_then(filled);
            let more = TraceStep { at, reasoning, calls: vec![call(event)], ..TraceStep::said(Source::Agent, thought) };
            let known = open.take().filter(|(id, _)| *id == answer && !id.is_empty());
            let key = match known {
                Some((_, key)) => draft.extend(key, more),
                None => draft.add(more),
            };
            *open = Some((answer, key));
        }
        "ObservationEvent" | "AgentErrorEvent" => {
            let id = word(event, "tool_call_id").unwrap_or_default();
            draft.result(id, result(event));
        }
        "MessageEvent" => {
            let text = texts(event.pointer("/llm_message/content").unwrap_or(&Value::Null));
            draft.add(TraceStep { at, ..TraceStep::said(source, text) });
        }
        "SystemPromptEvent" => {
            let text = event.pointer("/system_prompt/text").and_then(Value::as_str).unwrap_or_default();
            draft.add(TraceStep { at, ..TraceStep::said(Source::System, text) });
        }
        _ => {}
    }
}

fn call(event: &Value) -> ToolCall {
    let name = word(event, "tool_name").unwrap_or_default();
    let kind = match name {
        "terminal" | "execute_bash" => ToolKind::Shell,
        "file_editor" | "str_replace_editor" => match event.pointer("/action/command").and_then(Value::as_str) {
            Some("view") => ToolKind::Read,
            Some("create") => ToolKind::Write,
            _ => ToolKind::Edit,
        },
        "grep" | "glob" => ToolKind::Search,
        "invoke_skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    };
    ToolCall {
        id: word(event, "tool_call_id").unwrap_or_default().to_owned(),
        tool: kind,
        name: name.to_owned(),
        arguments: event.get("action").cloned().unwrap_or_default(),
        result: None,
    }
}

fn result(event: &Value) -> ToolResult {
    let observation = event.get("observation").unwrap_or(&Value::Null);
    let exit_code = observation.get("exit_code").and_then(Value::as_i64);
    let told = texts(observation.get("content").unwrap_or(&Value::Null));
    let error = word(event, "error");
    let is_error = error.is_some() || observation.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    ToolResult {
        text: error.map_or(told, str::to_owned),
        exit_code,
        is_error: is_error || exit_code.is_some_and(|code| code > 0),
        duration_ms: None,
    }
}

fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| word(part, "text")).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}
