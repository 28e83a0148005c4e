//! How much a trace holds: what a page can read and show. An agent, or what runs beside it, may print as much as it likes.

use std::io;

use serde::Serialize;

use super::{Source, Trace, TraceStep};

/// Steps and tool calls of one trace together.
pub const MOST_PARTS: usize = 20_000;
/// Bytes of one trace as JSON; some room is left for the tokens that are added to its steps at the end.
pub const MOST_BYTES: usize = 60 << 20;

/// Said in the last step of a trace that became too long.
const STOPPED: &str = "[The record stops here: a trace holds 20000 steps and calls, or 60 MiB. What the agent did after this is in no trace; its log \
                       holds the end of its output.]";

/// The room that is left while a trace is recorded.
#[derive(Debug)]
pub struct TraceRoom {
    parts: usize,
    bytes: usize,
    is_full: bool,
}

impl Default for TraceRoom {
    fn default() -> Self {
        Self { parts: MOST_PARTS, bytes: MOST_BYTES, is_full: false }
    }
}

impl TraceRoom {
    /// Takes the room of a step; `false` = there is none, and never will be again, so that a trace has no gap.
    pub fn step(&mut self, step: &TraceStep) -> bool {
        self.take(step.calls.len().saturating_add(1), bytes(step))
    }

    /// The same for what is added to a step, in bytes of text.
    pub fn more(&mut self, bytes: usize) -> bool {
        self.take(0, bytes)
    }

    fn take(&mut self, parts: usize, bytes: usize) -> bool {
        match (self.parts.checked_sub(parts), self.bytes.checked_sub(bytes)) {
            (Some(parts), Some(bytes)) if !self.is_full => (self.parts, self.bytes) = (parts, bytes),
            _ => self.is_full = true,
        }
        !self.is_full
    }

    /// Nothing more is to be recorded.
    pub const fn close(&mut self) {
        self.is_full = true;
    }

    /// Whether something had no room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.is_full
    }
}

impl Trace {
    /// The step that ends a trace which became too long.
    #[must_use]
    pub fn stop() -> TraceStep {
        TraceStep { aside: true, ..TraceStep::said(Source::System, STOPPED) }
    }

    /// Whether it was stopped, so that what is not in it may have been all the same.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.steps.last().is_some_and(|last| last.aside && last.source == Source::System && last.text == STOPPED)
    }
}

fn bytes(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_by_steps_calls_and_bytes_until_one_has_none() {
        let said = |text: &str| TraceStep::said(Source::Agent, text);
        let length = serde_json::to_string(&said("")).unwrap().len();
        for (name, texts, want) in [
            ("few", vec![String::new(); 3], 3),
            ("many steps", vec![String::new(); MOST_PARTS + 5], MOST_PARTS),
            ("as many bytes as there may be", vec!["x".repeat(MOST_BYTES - length)], 1),
            ("one byte more", vec!["x".repeat(MOST_BYTES - length + 1), String::new()], 0),
        ] {
            let mut room = TraceRoom::default();
            let kept = texts.iter().filter(|text| room.step(&said(text))).count();
            assert_eq!((kept, room.is_full()), (want, want < texts.len()), "{name}");
        }
    }

    #[test]
    fn a_trace_that_was_stopped_says_so() {
        assert!(!Trace::default().is_stopped());
        assert!(Trace { steps: vec![TraceStep::said(Source::Agent, "x"), Trace::stop()] }.is_stopped());
        let told = TraceStep { aside: true, ..TraceStep::said(Source::System, "[x]") };
        assert!(!Trace { steps: vec![Trace::stop(), told] }.is_stopped());
        let said = [MOST_PARTS.to_string(), format!("{} MiB", MOST_BYTES >> 20)];
        assert!(said.iter().all(|number| STOPPED.contains(number.as_str())));
    }
}
