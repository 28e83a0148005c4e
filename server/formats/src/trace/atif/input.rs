//! ATIF in. Counts of prompts contain what the cache served; there is no field for what it was written, so writers put that into `extra`.

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use domain::usage::TokenUsage;
use serde_json::Value;

use crate::trace::draft::Draft;
use crate::trace::reading::{CallReport, ReportedEnd};
use crate::trace::text::{filled, word};
use crate::trace::usage::{contained, count, sum};

/// Reads a trajectory.
pub(in crate::trace) fn fill(file: &Value, draft: &mut Draft) {
    let schema = word(file, "schema_version").unwrap_or_default();
    if !is_known(schema) {
        draft
            .note(format!("the schema version '{schema}' is not among ATIF-v1.0 to ATIF-v1.8; read as far as it goes"));
    }
    let agent = file.get("agent").unwrap_or(&Value::Null);
    draft.reading.version = word(agent, "version").map(str::to_owned);
    draft.reading.model = word(agent, "model_name").map(str::to_owned);
    draft.reading.session = word(file, "session_id").map(str::to_owned);
    let steps = file.get("steps").and_then(Value::as_array);
    if steps.is_none() {
        draft.note("there are no steps".to_owned());
    }
    for step in steps.into_iter().flatten() {
        take(step, draft);
    }
    totals(file.get("final_metrics").unwrap_or(&Value::Null), draft);
    if steps.is_some_and(|steps| !steps.is_empty()) {
        draft.reading.end = ReportedEnd::NotTold;
    }
}

fn is_known(schema: &str) -> bool {
    let minor = schema.strip_prefix("ATIF-v1.").and_then(|minor| minor.parse::<u8>().ok());
    minor.is_some_and(|minor| minor <= 8)
}

fn take(step: &Value, draft: &mut Draft) {
    let source = match word(step, "source").unwrap_or_default() {
        "agent" => Source::Agent,
        "user" => Source::User,
        _ => Source::System,
    };
    let usage = step
        .get("metrics")
        .and_then(|metrics| tokens(metrics, ["prompt_tokens", "completion_tokens", "cached_tokens"]));
    let is_copy = step.get("is_copied_context").and_then(Value::as_bool) == Some(true);
    if let Some(usage) = usage.filter(|_| !is_copy) {
        let id = step.get("step_id").map(Value::to_string).unwrap_or_default();
        draft.reading.calls.push(CallReport { id, usage, by_sub_agent: false });
    }
    draft.add(TraceStep {
        at: word(step, "timestamp").and_then(Timestamp::from_rfc3339),
        reasoning: word(step, "reasoning_content").and_then(filled),
        calls: step.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(call).collect(),
        usage,
        aside: step.pointer("/extra/aside").and_then(Value::as_bool) == Some(true),
        parent: step.pointer("/extra/parent_call_id").and_then(Value::as_str).map(str::to_owned),
        ..TraceStep::said(source, message(step.get("message").unwrap_or(&Value::Null)))
    });
    let results = step.pointer("/observation/results").and_then(Value::as_array).into_iter().flatten();
    for result in results {
        observe(result, draft);
    }
}

/// A result without a call of its own is what the system or another agent says.
fn observe(result: &Value, draft: &mut Draft) {
    let text = message(result.get("content").unwrap_or(&Value::Null));
    let extra = result.get("extra").unwrap_or(&Value::Null);
    let Some(id) = word(result, "source_call_id") else {
        draft.add(TraceStep::said(Source::System, text));
        return;
    };
    let exit_code = extra.get("exit_code").and_then(Value::as_i64);
    let is_error = extra.get("is_error").and_then(Value::as_bool).unwrap_or(exit_code.is_some_and(|code| code != 0));
    draft.result(id, ToolResult { text, exit_code, is_error, duration_ms: count(extra, &["duration_ms"]) });
}

fn call(call: &Value) -> ToolCall {
    let name = word(call, "function_name").unwrap_or_default();
    let told = call.pointer("/extra/tool").and_then(|tool| serde_json::from_value(tool.clone()).ok());
    ToolCall {
        id: word(call, "tool_call_id").unwrap_or_default().to_owned(),
        tool: told.unwrap_or_else(|| kind(name)),
        name: name.to_owned(),
        arguments: call.get("arguments").cloned().unwrap_or_default(),
        result: None,
    }
}

/// The agents whose trajectories come so have different names for the same tools.
fn kind(name: &str) -> ToolKind {
    match name.to_ascii_lowercase().as_str() {
        "bash" | "shell" | "terminal" | "execute_bash" | "run_shell_command" | "exec" | "exec_command"
        | "command_execution" | "bash_command" => ToolKind::Shell,
        "read" | "read_file" | "view" => ToolKind::Read,
        "edit" | "multiedit" | "apply_patch" | "str_replace_editor" | "replace" => ToolKind::Edit,
        "write" | "write_file" => ToolKind::Write,
        "grep" | "glob" | "search" | "ls" => ToolKind::Search,
        "skill" | "activate_skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    }
}

fn tokens(metrics: &Value, [prompt, completion, cached]: [&str; 3]) -> Option<TokenUsage> {
    let prompt = count(metrics, &[prompt])?;
    let extra = metrics.get("extra").unwrap_or(&Value::Null);
    let written = count(extra, &["cache_write_tokens", "cache_creation_input_tokens", "total_cache_write_tokens"]);
    Some(contained(prompt, count(metrics, &[cached]).unwrap_or(0), written.unwrap_or(0), count(metrics, &[completion])))
}

fn totals(metrics: &Value, draft: &mut Draft) {
    let reading = &mut draft.reading;
    let told = tokens(metrics, ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"]);
    reading.usage.tokens = told.unwrap_or_else(|| sum(reading.calls.iter().map(|call| call.usage)));
    reading.usage.total = reading.usage.tokens.total();
    reading.usage.cost_usd = metrics.get("total_cost_usd").and_then(Value::as_f64);
    if !reading.calls.is_empty() {
        reading.model_calls = Some(reading.calls.len() as u64);
    }
}

/// A text, or parts of which the texts are taken and the rest named.
fn message(message: &Value) -> String {
    match message {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let shown = |part: &Value| match word(part, "text") {
                Some(text) => text.to_owned(),
                None => format!("[{}]", word(part, "type").unwrap_or("part")),
            };
            parts.iter().map(shown).collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}
