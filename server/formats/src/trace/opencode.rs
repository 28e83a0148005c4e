//! `opencode run --format json`: one step from `step_start` to `step_finish`, which has the tokens of its call. There is no final sum, and
//! side requests (the title of the session) are not told at all.

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use domain::usage::TokenUsage;
use serde_json::Value;

use super::draft::{Draft, StepKey};
use super::reader::Events;
use super::reading::{CallReport, ReportedEnd};
use super::text::word;
use super::usage::{count, sum};

/// Reads the stream.
#[derive(Debug, Default)]
pub(super) struct OpenCode {
    step: Option<StepKey>,
    reasoning: u64,
    cost: f64,
}

fn kind(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Shell,
        "read" => ToolKind::Read,
        "edit" | "patch" | "apply_patch" | "multiedit" => ToolKind::Edit,
        "write" => ToolKind::Write,
        "grep" | "glob" | "list" | "codesearch" => ToolKind::Search,
        "skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    }
}

impl OpenCode {
    fn agent(&mut self, more: TraceStep, draft: &mut Draft) {
        self.step = Some(match self.step {
            Some(key) => draft.extend(key, more),
            None => draft.add(more),
        });
    }

    fn tool(&mut self, at: Option<Timestamp>, part: &Value, draft: &mut Draft) {
        let name = word(part, "tool").unwrap_or_default();
        let state = part.get("state").unwrap_or(&Value::Null);
        let call = ToolCall {
            id: word(part, "callID").unwrap_or_default().to_owned(),
            tool: kind(name),
            name: name.to_owned(),
            arguments: state.get("input").cloned().unwrap_or_default(),
            result: result(state),
        };
        let is_fine = call.result.as_ref().is_some_and(|result| !result.is_error);
        if call.tool == ToolKind::Skill
            && is_fine
            && let Some(skill) = word(&call.arguments, "name")
        {
            draft.reading.skills.open(skill);
        }
        self.agent(TraceStep { at, calls: vec![call], ..TraceStep::said(Source::Agent, "") }, draft);
    }

    fn finish(&mut self, part: &Value, draft: &mut Draft) {
        let Some(tokens) = part.get("tokens") else { return };
        let reasoning = count(tokens, &["reasoning"]).unwrap_or(0);
        let cache = tokens.get("cache").unwrap_or(&Value::Null);
        let usage = TokenUsage {
            input: count(tokens, &["input"]),
            cache_read: count(cache, &["read"]),
            cache_write: count(cache, &["write"]),
            output: count(tokens, &["output"]).map(|output| output.saturating_add(reasoning)),
        };
        self.reasoning = self.reasoning.saturating_add(reasoning);
        self.cost += part.get("cost").and_then(Value::as_f64).unwrap_or(0.0);
        if let Some(step) = self.step.and_then(|key| draft.step(key)) {
            step.usage = Some(usage);
        }
        let id = word(part, "messageID").unwrap_or_default().to_owned();
        draft.reading.calls.push(CallReport { id, usage, by_sub_agent: false });
        self.step = None;
        draft.reading.end = match word(part, "reason").unwrap_or_default() {
            "stop" => ReportedEnd::Completed,
            "content-filter" => ReportedEnd::Refused,
            _ => ReportedEnd::NotTold,
        };
    }
}

impl Events for OpenCode {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        if let Some(session) = word(event, "sessionID") {
            draft.reading.session.get_or_insert_with(|| session.to_owned());
        }
        let at = event.get("timestamp").and_then(Value::as_i64).map(Timestamp);
        let part = event.get("part").unwrap_or(&Value::Null);
        match word(event, "type").unwrap_or_default() {
            "step_start" => self.step = None,
            "text" => {
                let text = word(part, "text").unwrap_or_default();
                self.agent(TraceStep { at, ..TraceStep::said(Source::Agent, text) }, draft);
            }
            "reasoning" => {
                let reasoning = word(part, "text").map(str::to_owned);
                self.agent(TraceStep { at, reasoning, ..TraceStep::said(Source::Agent, "") }, draft);
            }
            "tool_use" => self.tool(at, part, draft),
            "step_finish" => self.finish(part, draft),
            "error" => {
                let end = failure(event.get("error").unwrap_or(&Value::Null));
                draft.aside(at, &format!("error: {end:?}"));
                draft.reading.end = end;
            }
            _ => {}
        }
    }

    fn end(&mut self, draft: &mut Draft) {
        let reading = &mut draft.reading;
        if reading.calls.is_empty() {
            return;
        }
        reading.model_calls = Some(reading.calls.len() as u64);
        reading.usage.tokens = sum(reading.calls.iter().map(|call| call.usage));
        reading.usage.total = reading.usage.tokens.total();
        reading.usage.reasoning = Some(self.reasoning);
        // Its side requests are in no line, so the sum is never more than a lower bound.
        reading.usage.at_least = true;
        reading.usage.cost_usd = Some(self.cost).filter(|cost| *cost > 0.0);
    }
}

fn result(state: &Value) -> Option<ToolResult> {
    let is_error = match word(state, "status")? {
        "completed" => false,
        "error" => true,
        _ => return None,
    };
    let text = word(state, "output").or_else(|| word(state, "error")).unwrap_or_default().to_owned();
    let exit_code = state.pointer("/metadata/exit").and_then(Value::as_i64);
    let instant = |place: &str| state.pointer(place).and_then(Value::as_u64);
    let duration_ms = instant("/time/end").zip(instant("/time/start")).and_then(|(end, start)| end.checked_sub(start));
    Some(ToolResult { text, exit_code, is_error: is_error || exit_code.is_some_and(|code| code != 0), duration_ms })
}

fn failure(error: &Value) -> ReportedEnd {
    let name = word(error, "name").unwrap_or("error");
    let message = error.pointer("/data/message").and_then(Value::as_str).unwrap_or(name).to_owned();
    let status = error.pointer("/data/statusCode").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    match name {
        "ContextOverflowError" => ReportedEnd::ContextFull { message },
        "APIError" | "ProviderAuthError" => ReportedEnd::Provider { status, message },
        _ => ReportedEnd::Failed { message },
    }
}
