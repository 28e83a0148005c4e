//! The trajectory file of mini-swe-agent (format 1.x): the messages, each answer with the API's raw response.

use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use serde_json::Value;

use super::draft::Draft;
use super::reading::{CallReport, ReportedEnd};
use super::text::word;
use super::usage::{count, openai, sum};

/// Reads the trajectory.
pub(super) fn read(file: &Value, draft: &mut Draft) {
    for message in file.get("messages").and_then(Value::as_array).into_iter().flatten() {
        take(message, draft);
    }
    let info = file.get("info").unwrap_or(&Value::Null);
    let reading = &mut draft.reading;
    reading.version = word(info, "mini_version").map(str::to_owned);
    reading.usage.tokens = sum(reading.calls.iter().map(|call| call.usage));
    reading.usage.total = reading.usage.tokens.total();
    let stats = info.get("model_stats").unwrap_or(&Value::Null);
    reading.model_calls = count(stats, &["api_calls"]).or(Some(reading.calls.len() as u64));
    // Cost tracking is off where the price is not known, and then it tells 0.
    reading.usage.cost_usd = stats.get("instance_cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    reading.end = match word(info, "exit_status").unwrap_or_default() {
        "" => ReportedEnd::NotTold,
        "Submitted" => ReportedEnd::Completed,
        "LimitsExceeded" => ReportedEnd::Limit { what: "LimitsExceeded".to_owned() },
        status if is_provider(status) => ReportedEnd::Provider { status: None, message: status.to_owned() },
        status => ReportedEnd::Failed { message: status.to_owned() },
    };
}

/// Names of litellm's errors.
fn is_provider(status: &str) -> bool {
    ["APIError", "RateLimit", "ServiceUnavailable", "InternalServer", "APIConnection", "Authentication", "Timeout"]
        .iter()
        .any(|word| status.contains(word))
}

fn take(message: &Value, draft: &mut Draft) {
    let text = content(message.get("content").unwrap_or(&Value::Null));
    match word(message, "role").unwrap_or_default() {
        "system" | "developer" => drop(draft.add(TraceStep::said(Source::System, text))),
        "user" => drop(draft.add(TraceStep::said(Source::User, text))),
        "assistant" => assistant(message, text, draft),
        "tool" => {
            let exit_code = message.pointer("/extra/returncode").and_then(Value::as_i64);
            let is_error = exit_code.is_some_and(|code| code != 0);
            let id = word(message, "tool_call_id").unwrap_or_default();
            draft.result(id, ToolResult { text, exit_code, is_error, duration_ms: None });
        }
        _ => {}
    }
}

fn assistant(message: &Value, text: String, draft: &mut Draft) {
    let response = message.pointer("/extra/response").unwrap_or(&Value::Null);
    let usage = response.get("usage").and_then(openai);
    if let Some(usage) = usage {
        let id = word(response, "id").unwrap_or_default().to_owned();
        draft.reading.calls.push(CallReport { id, usage, by_sub_agent: false });
    }
    if draft.reading.model.is_none() {
        draft.reading.model = word(response, "model").map(str::to_owned);
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(call).collect();
    let reasoning = word(message, "reasoning_content").map(str::to_owned);
    draft.add(TraceStep { calls, usage, reasoning, ..TraceStep::said(Source::Agent, text) });
}

fn call(call: &Value) -> ToolCall {
    let function = call.get("function").unwrap_or(&Value::Null);
    let name = word(function, "name").unwrap_or_default();
    let given = function.get("arguments").cloned().unwrap_or_default();
    let parsed = given.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    ToolCall {
        id: word(call, "id").unwrap_or_default().to_owned(),
        tool: if name == "bash" { ToolKind::Shell } else { ToolKind::Other },
        name: name.to_owned(),
        arguments: parsed.unwrap_or(given),
        result: None,
    }
}

fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| word(part, "text")).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}
