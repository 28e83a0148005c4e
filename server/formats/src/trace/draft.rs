//! Puts a trace together from events: calls get their results wherever these come, and a step is given out once nothing can be added to it.

use std::collections::VecDeque;

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolResult, Trace, TraceRoom, TraceStep};
use serde_json::Value;

use super::reading::{Reading, SelfReport};
use super::text::{clip, clip_to, clip_value};

/// Steps that wait for a result (of a sub-agent, say) before the first of them is given out all the same.
const MOST_WAITING: usize = 500;
/// Notes kept; more are counted.
const MOST_NOTES: usize = 50;
/// Bytes kept of each end of a line that could not be read.
const RAW_KEPT: usize = 2048;

/// A step that may still be added to, by its number from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepKey(usize);

impl StepKey {
    /// Of a step for which there was no room.
    const NONE: Self = Self(usize::MAX);
}

/// The trace so far, and what else is known.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Facts about the run; its trace stays empty until the end.
    pub(super) reading: Reading,
    waiting: VecDeque<TraceStep>,
    /// Number of the first waiting step.
    first: usize,
    done: Vec<TraceStep>,
    room: TraceRoom,
    more_notes: u64,
}

impl Draft {
    /// Adds a step, while there is room.
    pub(super) fn add(&mut self, step: TraceStep) -> StepKey {
        let step = clipped(step);
        if !self.room.step(&step) {
            return StepKey::NONE;
        }
        let key = StepKey(self.first.saturating_add(self.waiting.len()));
        self.waiting.push_back(step);
        key
    }

    /// Whether nothing more is recorded, so that reading on is of no use.
    pub(super) const fn is_full(&self) -> bool {
        self.room.is_full()
    }

    /// Records nothing more.
    pub(super) const fn stop(&mut self) {
        self.room.close();
    }

    /// A step, unless it has been given out.
    pub(super) fn step(&mut self, key: StepKey) -> Option<&mut TraceStep> {
        self.waiting.get_mut(key.0.checked_sub(self.first)?)
    }

    /// Adds what is said to a step; to a new one where it has been given out.
    pub(super) fn extend(&mut self, key: StepKey, more: TraceStep) -> StepKey {
        let more = clipped(more);
        if self.step(key).is_some() && !self.room.step(&more) {
            return key;
        }
        let Some(step) = self.step(key) else { return self.add(more) };
        if !step.text.is_empty() && !more.text.is_empty() {
            step.text.push_str("\n\n");
        }
        step.text.push_str(&more.text);
        step.text = clip(&step.text);
        step.reasoning = match (step.reasoning.take(), more.reasoning) {
            (Some(mut old), Some(new)) => {
                old.push_str("\n\n");
                old.push_str(&new);
                Some(old)
            }
            (old, new) => old.or(new),
        };
        step.calls.extend(more.calls);
        step.usage = more.usage.or(step.usage);
        key
    }

    /// Gives a call its result. One whose call is not known is kept as an aside.
    pub(super) fn result(&mut self, id: &str, result: ToolResult) {
        let result = ToolResult { text: clip(&result.text), ..result };
        if !self.room.more(result.text.len()) {
            return;
        }
        let calls = self.waiting.iter_mut().rev().flat_map(|step| step.calls.iter_mut());
        match calls.into_iter().find(|call| call.id == id) {
            Some(call) => call.result = Some(result),
            None => self.aside(None, &format!("[result of a call that is not recorded: {id}]\n{}", result.text)),
        }
    }

    /// The call of this id, while its step has not been given out.
    pub(super) fn call(&mut self, id: &str) -> Option<&mut ToolCall> {
        self.waiting.iter_mut().rev().flat_map(|step| step.calls.iter_mut()).find(|call| call.id == id)
    }

    /// Adds a line beside the conversation.
    pub(super) fn aside(&mut self, at: Option<Timestamp>, text: &str) {
        self.add(TraceStep { at, aside: true, ..TraceStep::said(Source::System, text) });
    }

    /// Adds a line that could not be read, and says so.
    pub(super) fn unreadable(&mut self, note: String, line: &[u8]) {
        self.aside(None, &format!("[{note}] {}", clip_to(&String::from_utf8_lossy(line), RAW_KEPT)));
        self.note(note);
    }

    /// Says something about the record itself.
    pub(super) fn note(&mut self, note: String) {
        if self.reading.notes.len() < MOST_NOTES {
            self.reading.notes.push(note);
        } else {
            self.more_notes = self.more_notes.saturating_add(1);
        }
    }

    /// Takes the steps to which nothing can be added any more, in order.
    pub(super) fn take(&mut self) -> Vec<TraceStep> {
        while self.first_is_done() {
            self.done.extend(self.waiting.pop_front());
            self.first = self.first.saturating_add(1);
        }
        std::mem::take(&mut self.done)
    }

    fn first_is_done(&self) -> bool {
        let Some(step) = self.waiting.front() else { return false };
        let speaks = |step: &TraceStep| step.source == Source::Agent && !step.aside;
        !speaks(step)
            || self.waiting.len() > MOST_WAITING
            || (step.calls.iter().all(|call| call.result.is_some()) && self.waiting.iter().skip(1).any(speaks))
    }

    /// Ends it: everything not yet taken is in the reading's trace.
    pub(super) fn finish(mut self) -> Reading {
        self.done.extend(std::mem::take(&mut self.waiting));
        if self.room.is_full() {
            self.done.push(Trace::stop());
            // What the agent counted is not read to its end either.
            self.reading.usage = SelfReport::default();
            self.reading.model_calls = None;
        }
        if self.more_notes > 0 {
            let notes = format!("{} more notes of this kind left out", self.more_notes);
            self.reading.notes.push(notes);
        }
        self.reading.trace.steps = self.done;
        self.reading
    }
}

fn clipped(step: TraceStep) -> TraceStep {
    TraceStep {
        text: clip(&step.text),
        reasoning: step.reasoning.as_deref().map(clip),
        calls: step.calls.into_iter().map(clipped_call).collect(),
        ..step
    }
}

fn clipped_call(call: ToolCall) -> ToolCall {
    let result = call.result.map(|result| ToolResult { text: clip(&result.text), ..result });
    let arguments: Value = clip_value(&call.arguments);
    ToolCall { id: clip(&call.id), name: clip(&call.name), arguments, result, ..call }
}

#[cfg(test)]
mod tests {
    use domain::trace::{MOST_BYTES, MOST_PARTS, ToolKind};

    use super::*;

    fn asks(id: &str) -> TraceStep {
        let call = ToolCall {
            id: id.to_owned(),
            tool: ToolKind::Other,
            name: "Task".to_owned(),
            arguments: Value::Null,
            result: None,
        };
        TraceStep { calls: vec![call], ..TraceStep::said(Source::Agent, "") }
    }

    fn answer() -> ToolResult {
        ToolResult { text: "done".to_owned(), exit_code: None, is_error: false, duration_ms: None }
    }

    #[test]
    fn a_step_is_given_out_in_order_once_it_is_complete() {
        let mut draft = Draft::default();
        draft.add(TraceStep::said(Source::User, "task"));
        let key = draft.add(asks("a"));
        assert_eq!(draft.take().len(), 1, "the task waits for nothing");
        draft.add(TraceStep::said(Source::Agent, "a sub-agent speaks"));
        assert!(draft.take().is_empty(), "the call has no result yet");
        draft.result("a", answer());
        assert_eq!(draft.take().len(), 1);
        assert!(draft.step(key).is_none());
        draft.extend(key, TraceStep::said(Source::Agent, "late block"));
        draft.result("gone", answer());
        let texts: Vec<String> = draft.finish().trace.steps.into_iter().map(|step| step.text).collect();
        let lost = "[result of a call that is not recorded: gone]\ndone";
        assert_eq!(texts, ["a sub-agent speaks", "late block", lost]);
    }

    #[test]
    fn what_has_no_room_is_left_out_whatever_it_is_added_to() {
        let thought = || TraceStep { reasoning: Some("x".repeat(100_000)), ..TraceStep::said(Source::Agent, "") };
        let many: fn(&mut Draft) = |draft| (0..MOST_PARTS + 9).for_each(|_| _ = draft.add(asks("a")));
        let one_step: fn(&mut Draft) = |draft| {
            let key = draft.add(asks("a"));
            (0..MOST_PARTS).for_each(|_| _ = draft.extend(key, asks("a")));
        };
        let given_out: fn(&mut Draft) = |draft| {
            for _ in 0..MOST_PARTS + 9 {
                draft.add(TraceStep::said(Source::User, "x"));
                let taken = draft.take();
                draft.done = taken;
            }
        };
        for (name, fill) in [("steps", many), ("one step", one_step), ("asides", given_out)] {
            let mut draft = Draft::default();
            fill(&mut draft);
            assert!(draft.is_full(), "{name}");
            draft.reading.model_calls = Some(7);
            draft.result("a", answer());
            draft.aside(None, "later");
            let reading = draft.finish();
            assert!(reading.trace.is_stopped() && reading.trace.tool_calls() <= MOST_PARTS, "{name}");
            assert_eq!(
                (reading.model_calls, reading.usage),
                (None, SelfReport::default()),
                "{name}: not read to the end"
            );
        }
        let mut draft = Draft::default();
        let key = draft.add(thought());
        while !draft.is_full() {
            draft.extend(key, thought());
        }
        let length = draft.finish().trace.steps[0].reasoning.as_ref().unwrap().len();
        assert!((MOST_BYTES / 2..MOST_BYTES).contains(&length), "{length}");
    }

    #[test]
    fn a_result_that_never_comes_does_not_hold_everything() {
        let mut draft = Draft::default();
        draft.add(asks("a"));
        for _ in 0..MOST_WAITING + 10 {
            draft.add(TraceStep::said(Source::Agent, "x"));
        }
        assert!(!draft.take().is_empty());
    }
}
