//! `qwen -o stream-json`: Claude Code's shape, but its input counts contain what the cache served, and each block has an id of its own; the
//! tokens of a call stand on its last block, the others have zeros.

use domain::trace::{Source, ToolKind, TraceStep};
use serde_json::Value;

use super::claude::{agent_step, tool_results, user_text};
use super::draft::{Draft, StepKey};
use super::reader::Events;
use super::reading::{CallReport, ReportedEnd};
use super::text::{names, word};
use super::usage::{count, openai, sum};

/// Reads the stream.
#[derive(Debug, Default)]
pub(super) struct Qwen {
    /// The step whose call is not counted yet.
    step: Option<StepKey>,
    skills: Vec<(String, String)>,
    has_result: bool,
}

fn kind(name: &str) -> ToolKind {
    match name {
        "run_shell_command" => ToolKind::Shell,
        "read_file" | "read_many_files" => ToolKind::Read,
        "edit" | "notebook_edit" => ToolKind::Edit,
        "write_file" => ToolKind::Write,
        "grep_search" | "glob" | "list_directory" => ToolKind::Search,
        "skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    }
}

impl Qwen {
    fn assistant(&mut self, event: &Value, draft: &mut Draft) {
        let Some(message) = event.get("message") else { return };
        let parent = word(event, "parent_tool_use_id").map(str::to_owned);
        let by_sub_agent = parent.is_some();
        let mut step = TraceStep { parent, ..agent_step(message, kind) };
        for call in step.calls.iter().filter(|call| call.tool == ToolKind::Skill) {
            self.skills.extend(word(&call.arguments, "skill").map(|skill| (call.id.clone(), skill.to_owned())));
        }
        let counted = message.get("usage").filter(|usage| count(usage, &["input_tokens"]).unwrap_or(0) > 0);
        step.usage = counted.and_then(openai);
        let usage = step.usage;
        let key = match self.step.take() {
            Some(key) => draft.extend(key, step),
            None => draft.add(step),
        };
        match usage {
            Some(usage) => {
                let id = word(message, "id").unwrap_or_default().to_owned();
                draft.reading.calls.push(CallReport { id, usage, by_sub_agent });
            }
            None => self.step = Some(key),
        }
    }

    fn user(&mut self, event: &Value, draft: &mut Draft) {
        let Some(content) = event.pointer("/message/content") else { return };
        self.step = None;
        for (id, result) in tool_results(content) {
            if let Some(at) = self.skills.iter().position(|(call, _)| *call == id) {
                let (_, skill) = self.skills.swap_remove(at);
                if !result.is_error {
                    draft.reading.skills.open(&skill);
                }
            }
            draft.result(&id, result);
        }
        let text = user_text(content);
        if !text.is_empty() {
            let parent = word(event, "parent_tool_use_id").map(str::to_owned);
            draft.add(TraceStep { parent, ..TraceStep::said(Source::User, text) });
        }
    }

    fn outcome(&mut self, event: &Value, draft: &mut Draft) {
        self.has_result = true;
        let reading = &mut draft.reading;
        reading.usage.tokens = event.get("usage").and_then(openai).unwrap_or_default();
        reading.usage.total = reading.usage.tokens.total();
        let denials = event.get("permission_denials").and_then(Value::as_array).into_iter().flatten();
        reading.denials = denials.filter_map(|denial| word(denial, "tool_name")).map(str::to_owned).collect();
        let error = event.pointer("/error/message").and_then(Value::as_str);
        let message = error.or_else(|| word(event, "result")).unwrap_or_default().to_owned();
        let is_error = event.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        reading.end = match word(event, "subtype").unwrap_or_default() {
            "error_max_turns" => ReportedEnd::Limit { what: message },
            _ if is_error && message.contains("API Error") => ReportedEnd::Provider { status: None, message },
            _ if is_error => ReportedEnd::Failed { message },
            _ => ReportedEnd::Completed,
        };
    }
}

impl Events for Qwen {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        if let Some(session) = word(event, "session_id") {
            draft.reading.session.get_or_insert_with(|| session.to_owned());
        }
        match word(event, "type").unwrap_or_default() {
            "assistant" => self.assistant(event, draft),
            "user" => self.user(event, draft),
            "result" => self.outcome(event, draft),
            "system" if word(event, "subtype") == Some("init") => {
                draft.reading.version = word(event, "qwen_code_version").map(str::to_owned);
                draft.reading.model = word(event, "model").map(str::to_owned);
                draft.reading.skills.listed = event.get("skills").and_then(names);
            }
            _ => {}
        }
    }

    fn end(&mut self, draft: &mut Draft) {
        for (_, skill) in self.skills.drain(..) {
            draft.reading.skills.open(&skill);
        }
        let reading = &mut draft.reading;
        if !reading.calls.is_empty() {
            reading.model_calls = Some(reading.calls.len() as u64);
        }
        if !self.has_result && !reading.calls.is_empty() {
            reading.usage.tokens = sum(reading.calls.iter().map(|call| call.usage));
            reading.usage.total = reading.usage.tokens.total();
            reading.usage.at_least = true;
        }
    }
}
