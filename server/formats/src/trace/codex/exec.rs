//! `codex exec --json`: items as they start and complete, and at the end of the turn the sum of all calls.

use domain::trace::{Source, ToolCall, ToolResult, TraceStep};
use serde_json::Value;

use super::{kind, usage};
use crate::trace::draft::{Draft, StepKey};
use crate::trace::reader::Events;
use crate::trace::reading::ReportedEnd;
use crate::trace::text::word;
use crate::trace::usage::count;

/// What a failed sandbox of Codex' own says. Every command fails then, and the exit code is still 0.
const OWN_SANDBOX: &str = "bwrap: ";

/// Reads the stream.
#[derive(Debug, Default)]
pub(in crate::trace) struct Exec {
    step: Option<StepKey>,
    /// A call of the current step was answered: what comes next is another turn of the model.
    answered: bool,
}

impl Exec {
    fn item(&mut self, item: &Value, is_complete: bool, draft: &mut Draft) {
        match word(item, "type").unwrap_or_default() {
            "agent_message" if is_complete => {
                let text = word(item, "text").unwrap_or_default();
                self.speak(TraceStep::said(Source::Agent, text), draft);
            }
            "reasoning" if is_complete => {
                let reasoning = word(item, "text").map(str::to_owned);
                self.speak(TraceStep { reasoning, ..TraceStep::said(Source::Agent, "") }, draft);
            }
            "error" => draft.aside(None, word(item, "message").unwrap_or_default()),
            "agent_message" | "reasoning" => {}
            name => self.tool(name, item, is_complete, draft),
        }
    }

    /// A message opens a step, unless the step so far is nothing but thoughts.
    fn speak(&mut self, more: TraceStep, draft: &mut Draft) {
        let open = self.step.filter(|key| {
            draft.step(*key).is_some_and(|step| step.text.is_empty() && step.calls.is_empty()) && !self.answered
        });
        self.step = Some(match open {
            Some(key) => draft.extend(key, more),
            None => draft.add(more),
        });
        self.answered = false;
    }

    fn tool(&mut self, name: &str, item: &Value, is_complete: bool, draft: &mut Draft) {
        let id = word(item, "id").unwrap_or_default();
        if draft.call(id).is_none() {
            let call = ToolCall {
                id: id.to_owned(),
                tool: kind(name),
                name: name.to_owned(),
                arguments: arguments(item),
                result: None,
            };
            let more = TraceStep { calls: vec![call], ..TraceStep::said(Source::Agent, "") };
            self.step = Some(match self.step.filter(|_| !self.answered) {
                Some(key) => draft.extend(key, more),
                None => draft.add(more),
            });
            self.answered = false;
        }
        if is_complete {
            let result = result(item);
            if result.is_error && result.text.starts_with(OWN_SANDBOX) {
                draft.reading.denials.push(name.to_owned());
            }
            draft.result(id, result);
            self.answered = true;
        }
    }
}

impl Events for Exec {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        let item = event.get("item").unwrap_or(&Value::Null);
        match word(event, "type").unwrap_or_default() {
            "thread.started" => draft.reading.session = word(event, "thread_id").map(str::to_owned),
            "item.started" | "item.updated" => self.item(item, false, draft),
            "item.completed" => self.item(item, true, draft),
            "turn.completed" => {
                let told = event.get("usage").unwrap_or(&Value::Null);
                let report = &mut draft.reading.usage;
                report.tokens = usage(told).unwrap_or_default();
                report.total = report.tokens.total();
                report.reasoning = count(told, &["reasoning_output_tokens"]);
                draft.reading.end = ReportedEnd::Completed;
            }
            "turn.failed" => {
                let message = event.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
                draft.reading.end = failure(message);
            }
            "error" => draft.aside(None, word(event, "message").unwrap_or_default()),
            _ => {}
        }
    }

    fn end(&mut self, _: &mut Draft) {}
}

/// What went in, whatever kind of item it is.
fn arguments(item: &Value) -> Value {
    const TOLD_ELSEWHERE: [&str; 7] = ["id", "type", "aggregated_output", "exit_code", "status", "result", "error"];
    let fields = item.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !TOLD_ELSEWHERE.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn result(item: &Value) -> ToolResult {
    let exit_code = item.get("exit_code").and_then(Value::as_i64);
    let text = word(item, "aggregated_output").map(str::to_owned);
    let other = || item.get("result").or_else(|| item.get("error")).map(Value::to_string);
    ToolResult {
        text: text.or_else(other).unwrap_or_default(),
        exit_code,
        is_error: exit_code.is_some_and(|code| code != 0) || word(item, "status") == Some("failed"),
        duration_ms: None,
    }
}

/// `unexpected status 401 Unauthorized: …`, `exceeded retry limit, last status: 429 Too Many Requests`.
fn failure(message: &str) -> ReportedEnd {
    let status = message.split("status").nth(1).and_then(|rest| {
        let digits: String = rest.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u16>().ok()
    });
    let is_provider = status.is_some()
        || ["stream disconnected", "error sending request"].iter().any(|words| message.contains(words));
    let message = message.to_owned();
    if is_provider { ReportedEnd::Provider { status, message } } else { ReportedEnd::Failed { message } }
}
