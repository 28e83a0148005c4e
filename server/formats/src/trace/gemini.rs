//! `gemini -o stream-json`: messages in pieces, calls, results, and a final line with sums whose input contains what the cache served.

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use serde_json::Value;

use super::draft::{Draft, StepKey};
use super::reader::Events;
use super::reading::ReportedEnd;
use super::text::word;
use super::usage::{contained, count};

/// Reads the stream.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    step: Option<StepKey>,
    answered: bool,
    /// Skill calls without a result: call id and skill.
    skills: Vec<(String, String)>,
}

fn kind(name: &str) -> ToolKind {
    match name {
        "run_shell_command" => ToolKind::Shell,
        "read_file" | "read_many_files" => ToolKind::Read,
        "replace" | "edit" => ToolKind::Edit,
        "write_file" => ToolKind::Write,
        "glob" | "search_file_content" | "grep_search" | "list_directory" => ToolKind::Search,
        "activate_skill" => ToolKind::Skill,
        _ => ToolKind::Other,
    }
}

impl Gemini {
    /// Pieces of one message follow each other and are joined as they are.
    fn message(&mut self, at: Option<Timestamp>, event: &Value, draft: &mut Draft) {
        let text = word(event, "content").unwrap_or_default();
        if word(event, "role") != Some("assistant") {
            draft.add(TraceStep { at, ..TraceStep::said(Source::User, text) });
            self.step = None;
            return;
        }
        let open =
            self.step.filter(|_| !self.answered).and_then(|key| draft.step(key)).filter(|step| step.calls.is_empty());
        match open {
            Some(step) => step.text.push_str(text),
            None => self.step = Some(draft.add(TraceStep { at, ..TraceStep::said(Source::Agent, text) })),
        }
        self.answered = false;
    }

    fn call(&mut self, at: Option<Timestamp>, event: &Value, draft: &mut Draft) {
        let name = word(event, "tool_name").unwrap_or_default();
        let id = word(event, "tool_id").unwrap_or_default().to_owned();
        let arguments = event.get("parameters").cloned().unwrap_or_default();
        if kind(name) == ToolKind::Skill
            && let Some(skill) = word(&arguments, "name")
        {
            self.skills.push((id.clone(), skill.to_owned()));
        }
        let call = ToolCall { id, tool: kind(name), name: name.to_owned(), arguments, result: None };
        let more = TraceStep { at, calls: vec![call], ..TraceStep::said(Source::Agent, "") };
        self.step = Some(match self.step.filter(|_| !self.answered) {
            Some(key) => draft.extend(key, more),
            None => draft.add(more),
        });
        self.answered = false;
    }

    fn result(&mut self, event: &Value, draft: &mut Draft) {
        let id = word(event, "tool_id").unwrap_or_default();
        let is_error = word(event, "status") != Some("success");
        let error = event.pointer("/error/message").and_then(Value::as_str);
        let text = word(event, "output").or(error).unwrap_or_default().to_owned();
        if let Some(at) = self.skills.iter().position(|(call, _)| call == id) {
            let (_, skill) = self.skills.swap_remove(at);
            if !is_error {
                draft.reading.skills.open(&skill);
            }
        }
        draft.result(id, ToolResult { text, exit_code: None, is_error, duration_ms: None });
        self.answered = true;
    }
}

impl Events for Gemini {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        let at = word(event, "timestamp").and_then(Timestamp::from_rfc3339);
        match word(event, "type").unwrap_or_default() {
            "init" => {
                draft.reading.session = word(event, "session_id").map(str::to_owned);
                draft.reading.model = word(event, "model").map(str::to_owned);
            }
            "message" => self.message(at, event, draft),
            "tool_use" => self.call(at, event, draft),
            "tool_result" => self.result(event, draft),
            "error" => draft.aside(at, word(event, "message").unwrap_or_default()),
            "result" => outcome(event, draft),
            _ => {}
        }
    }

    fn end(&mut self, draft: &mut Draft) {
        for (_, skill) in self.skills.drain(..) {
            draft.reading.skills.open(&skill);
        }
    }
}

/// Thoughts are in the total, and neither in the input nor in the output.
fn outcome(event: &Value, draft: &mut Draft) {
    let stats = event.get("stats").unwrap_or(&Value::Null);
    if let Some(prompt) = count(stats, &["input_tokens"]) {
        let output = count(stats, &["output_tokens"]);
        let total = count(stats, &["total_tokens"]);
        let written = total.and_then(|total| total.checked_sub(prompt)).max(output);
        let report = &mut draft.reading.usage;
        report.tokens = contained(prompt, count(stats, &["cached"]).unwrap_or(0), 0, written);
        report.total = report.tokens.total();
        report.reasoning = written.zip(output).map(|(written, output)| written.saturating_sub(output));
    }
    let message = event.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason told").to_owned();
    let kind = event.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
    draft.reading.end = match word(event, "status") {
        Some("success") => ReportedEnd::Completed,
        _ if kind.contains("MaxSessionTurns") => ReportedEnd::Limit { what: message },
        _ if kind.contains("Api") || kind.contains("API") => ReportedEnd::Provider { status: None, message },
        _ => ReportedEnd::Failed { message },
    };
}
