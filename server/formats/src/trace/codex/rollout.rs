//! Codex' rollout file: the conversation as it goes over the wire, and running totals of tokens, which are printed again and again.

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolResult, TraceStep};
use serde_json::Value;

use super::{kind, usage};
use crate::trace::draft::{Draft, StepKey};
use crate::trace::reader::Events;
use crate::trace::reading::CallReport;
use crate::trace::text::{filled, word};
use crate::trace::usage::count;

/// Reads the file.
#[derive(Debug, Default)]
pub(in crate::trace) struct Rollout {
    step: Option<StepKey>,
    answered: bool,
    /// The last running total.
    total: Option<Value>,
}

impl Rollout {
    fn item(&mut self, at: Option<Timestamp>, item: &Value, draft: &mut Draft) {
        match word(item, "type").unwrap_or_default() {
            "message" => self.message(at, item, draft),
            "reasoning" => {
                let reasoning = filled(&texts(item.get("summary").unwrap_or(&Value::Null)));
                if reasoning.is_some() {
                    self.agent(TraceStep { at, reasoning, ..TraceStep::said(Source::Agent, "") }, draft);
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let calls = vec![call(item)];
                self.agent(TraceStep { at, calls, ..TraceStep::said(Source::Agent, "") }, draft);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = word(item, "call_id").unwrap_or_default();
                draft.result(id, result(item.get("output").unwrap_or(&Value::Null)));
                self.answered = true;
            }
            _ => {}
        }
    }

    fn message(&mut self, at: Option<Timestamp>, item: &Value, draft: &mut Draft) {
        let text = texts(item.get("content").unwrap_or(&Value::Null));
        let source = match word(item, "role").unwrap_or_default() {
            "assistant" => return self.agent(TraceStep { at, ..TraceStep::said(Source::Agent, text) }, draft),
            "user" => Source::User,
            _ => Source::System,
        };
        draft.add(TraceStep { at, ..TraceStep::said(source, text) });
    }

    fn agent(&mut self, more: TraceStep, draft: &mut Draft) {
        self.step = Some(match self.step.filter(|_| !self.answered) {
            Some(key) => draft.extend(key, more),
            None => draft.add(more),
        });
        self.answered = false;
    }

    /// A total that has not changed is the same call told again.
    fn tokens(&mut self, info: &Value, draft: &mut Draft) {
        let Some(total) = info.get("total_token_usage").filter(|total| usage(total).is_some()) else { return };
        if self.total.as_ref() == Some(total) {
            return;
        }
        self.total = Some(total.clone());
        if let Some(last) = info.get("last_token_usage").and_then(usage) {
            let id = draft.reading.calls.len().to_string();
            draft.reading.calls.push(CallReport { id, usage: last, by_sub_agent: false });
            if let Some(step) = self.step.and_then(|key| draft.step(key)) {
                step.usage = Some(last);
            }
        }
    }
}

impl Events for Rollout {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        let at = word(event, "timestamp").and_then(Timestamp::from_rfc3339);
        let payload = event.get("payload").unwrap_or(&Value::Null);
        match (word(event, "type").unwrap_or_default(), word(payload, "type").unwrap_or_default()) {
            ("session_meta", _) => {
                draft.reading.session = word(payload, "id").map(str::to_owned);
                draft.reading.version = word(payload, "cli_version").map(str::to_owned);
            }
            ("turn_context", _) => draft.reading.model = word(payload, "model").map(str::to_owned),
            ("response_item", _) => self.item(at, payload, draft),
            ("event_msg", "token_count") => self.tokens(payload.get("info").unwrap_or(&Value::Null), draft),
            _ => {}
        }
    }

    fn end(&mut self, draft: &mut Draft) {
        let Some(total) = &self.total else { return };
        let report = &mut draft.reading.usage;
        report.tokens = usage(total).unwrap_or_default();
        report.total = report.tokens.total();
        report.reasoning = count(total, &["reasoning_output_tokens"]);
        draft.reading.model_calls = Some(draft.reading.calls.len() as u64);
    }
}

fn call(item: &Value) -> ToolCall {
    let name = word(item, "name").or_else(|| word(item, "type")).unwrap_or_default();
    let given = item.get("arguments").or_else(|| item.get("input")).or_else(|| item.get("action"));
    let parsed = given.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    ToolCall {
        id: word(item, "call_id").unwrap_or_default().to_owned(),
        tool: kind(name),
        name: name.to_owned(),
        arguments: parsed.filter(Value::is_object).or_else(|| given.cloned()).unwrap_or_default(),
        result: None,
    }
}

/// The output is a text, or a JSON object in a text, which has the exit code.
fn result(output: &Value) -> ToolResult {
    let text = output.as_str().map_or_else(|| texts(output), str::to_owned);
    let parsed = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let exit_code = parsed.pointer("/metadata/exit_code").and_then(Value::as_i64).or_else(|| told_code(&text));
    let text = word(&parsed, "output").map_or(text, str::to_owned);
    ToolResult { text, exit_code, is_error: exit_code.is_some_and(|code| code != 0), duration_ms: None }
}

/// `Process exited with code 1` and the like, in the first lines of a plain output.
fn told_code(text: &str) -> Option<i64> {
    let told = |line: &str| {
        ["Process exited with code ", "Exit code: "]
            .iter()
            .find_map(|words| line.strip_prefix(words)?.trim().parse().ok())
    };
    text.lines().take(8).find_map(told)
}

fn texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| word(part, "text"));
    parts.collect::<Vec<_>>().join("\n\n")
}
