//! Keeps the trace of a run: every text that enters it is cleaned of secrets and capped, and every step is told once.

use domain::finding::Finding;
use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, Trace, TraceRoom, TraceStep};
use formats::trace::SkillsSeen;
use serde_json::Value;

use super::{AgentEnd, AgentRun};
use crate::sandbox::{CappedLog, ExecEnd, Exit, Redactor};

/// Bytes kept of each end of a text.
const KEPT: usize = 64 * 1024;

/// Records one run.
pub(super) struct Recorder<'a> {
    redactor: &'a Redactor,
    steps: &'a mut (dyn FnMut(TraceStep) + Send),
    clock: &'a (dyn Fn() -> Timestamp + Send + Sync),
    trace: Trace,
    room: TraceRoom,
    note: Option<String>,
    peak_memory: Option<u64>,
    secrets: u64,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        redactor: &'a Redactor,
        steps: &'a mut (dyn FnMut(TraceStep) + Send),
        clock: &'a (dyn Fn() -> Timestamp + Send + Sync),
    ) -> Self {
        Self {
            redactor,
            steps,
            clock,
            trace: Trace::default(),
            room: TraceRoom::default(),
            note: None,
            peak_memory: None,
            secrets: 0,
        }
    }

    pub(super) fn system(&mut self, text: &str) {
        self.record(TraceStep::said(Source::System, text));
    }

    pub(super) fn user(&mut self, text: &str) {
        self.record(TraceStep::said(Source::User, text));
    }

    /// An agent that is one command: the step of that command.
    pub(super) fn command(&mut self, name: &str, command: &str, result: ToolResult) {
        let arguments = serde_json::json!({"command": command});
        let call = ToolCall {
            id: "1".to_owned(),
            tool: ToolKind::Shell,
            name: name.to_owned(),
            arguments,
            result: Some(result),
        };
        self.record(TraceStep { calls: vec![call], ..TraceStep::said(Source::Agent, "") });
    }

    /// Records a step, while there is room for one.
    pub(super) fn record(&mut self, step: TraceStep) {
        if self.room.is_full() {
            return;
        }
        let mut step = self.clean(step);
        if !self.room.step(&step) {
            step = TraceStep { at: step.at, ..Trace::stop() };
        }
        self.trace.steps.push(step.clone());
        (self.steps)(step);
    }

    pub(super) fn note(&mut self, text: &str) {
        self.note = Some(self.text(text));
    }

    pub(super) fn used(&mut self, end: &ExecEnd) {
        self.peak_memory = self.peak_memory.max(end.peak_memory);
    }

    pub(super) fn end(self, end: AgentEnd) -> AgentRun {
        let stopped = self.trace.is_stopped().then(|| {
            let message = "the agent's trace became too long, and holds only the beginning of what it did";
            Finding::warning("trace_stopped", "trace", message).hint("the end of its output is in the agent's log")
        });
        AgentRun {
            end,
            trace: self.trace,
            note: self.note,
            peak_memory: self.peak_memory,
            secrets: self.secrets,
            skills: SkillsSeen::default(),
            findings: stopped.into_iter().collect(),
        }
    }

    fn clean(&mut self, step: TraceStep) -> TraceStep {
        TraceStep {
            at: Some(step.at.unwrap_or_else(|| (self.clock)())),
            source: step.source,
            text: self.text(&step.text),
            reasoning: step.reasoning.map(|text| self.text(&text)),
            calls: step.calls.into_iter().map(|call| self.call(call)).collect(),
            usage: step.usage,
            parent: step.parent.map(|id| self.text(&id)),
            aside: step.aside,
        }
    }

    fn call(&mut self, call: ToolCall) -> ToolCall {
        let arguments = self.value(call.arguments);
        let result = call.result.map(|result| ToolResult { text: self.text(&result.text), ..result });
        ToolCall { id: self.text(&call.id), name: self.text(&call.name), arguments, result, ..call }
    }

    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.value(value)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.text(&name), self.value(value))).collect()
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut redactor = self.redactor.clone();
        let before = redactor.hits();
        let mut clean = redactor.push(text.as_bytes());
        clean.extend(redactor.finish());
        self.secrets += redactor.hits() - before;
        let mut capped = CappedLog::new(KEPT, KEPT);
        capped.push(&clean);
        String::from_utf8_lossy(&capped.finish().bytes).replace('\0', "\u{fffd}")
    }
}

/// What a command answered, in a trace's terms.
pub(super) fn tool_result(end: &ExecEnd, text: String) -> ToolResult {
    let exit_code = match end.exit {
        Exit::Exited(code) => Some(i64::from(code)),
        Exit::Signalled(signal) => Some(128 + i64::from(signal)),
        Exit::TimedOut { .. } | Exit::OutOfMemory { .. } => None,
    };
    let duration_ms = u64::try_from(end.duration.as_millis()).ok();
    ToolResult { text, exit_code, is_error: !end.exit.is_success(), duration_ms }
}

#[cfg(test)]
mod tests {
    use domain::trace::MOST_PARTS;

    use super::*;

    #[test]
    fn no_secret_enters_the_trace_and_each_is_counted() {
        let redactor = Redactor::new(["sk-test-0000EXAMPLE0000KEY"]);
        let mut told = Vec::new();
        let mut keep = |step| told.push(step);
        let mut recorder = Recorder::new(&redactor, &mut keep, &|| Timestamp(7));
        recorder.user("the key is sk-test-0000EXAMPLE0000KEY");
        let text = "sk-test-0000EXAMPLE0000KEY \0".to_owned();
        let result = ToolResult { text, exit_code: Some(0), is_error: false, duration_ms: None };
        recorder.command("sh", "echo sk-test-0000EXAMPLE0000KEY", result);
        let run = recorder.end(AgentEnd::Completed);
        let shown = format!("{told:?}");
        assert!(!shown.contains("EXAMPLE") && shown.contains("[secret] \u{fffd}"), "{shown}");
        assert_eq!((run.secrets, run.trace.steps, told[0].at), (3, told.clone(), Some(Timestamp(7))));
    }

    #[test]
    fn a_trace_that_becomes_too_long_stops_and_says_so_once() {
        let redactor = Redactor::new::<&str>([]);
        let mut told = 0;
        let mut keep = |_| told += 1;
        let mut recorder = Recorder::new(&redactor, &mut keep, &|| Timestamp(7));
        for _ in 0..MOST_PARTS + 9 {
            recorder.user("x");
        }
        let run = recorder.end(AgentEnd::Completed);
        assert!(run.trace.is_stopped());
        assert_eq!((run.trace.steps.len(), told), (MOST_PARTS + 1, MOST_PARTS + 1));
        assert!(run.findings.iter().any(|finding| finding.code == "trace_stopped"), "{:?}", run.findings);
    }

    #[test]
    fn long_texts_keep_their_ends() {
        let redactor = Redactor::new::<&str>([]);
        let mut keep = |_| ();
        let mut recorder = Recorder::new(&redactor, &mut keep, &|| Timestamp(0));
        recorder.user(&format!("begin{}end", "x".repeat(1 << 20)));
        let run = recorder.end(AgentEnd::Completed);
        let text = &run.trace.steps[0].text;
        assert!(text.starts_with("beginx") && text.ends_with("xend") && text.contains("bytes left out]"));
        assert!(text.len() < 3 * KEPT);
    }
}
