//! Reads a record as it comes: bytes in, steps out as soon as they are complete, everything else at the end.

use domain::trace::TraceStep;
use serde_json::Value;

use super::draft::Draft;
use super::lines::{Line, Lines};
use super::reading::Reading;
use super::{atif, claude, codex, gemini, mini, openclaw, opencode, openhands, qwen};

/// Most that is read of a record, in bytes; one JSON value that is larger is not read at all.
const LARGEST_WHOLE: usize = 256 * 1024 * 1024;

/// The records that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// `claude -p --output-format stream-json`.
    ClaudeStream,
    /// Claude Code's session file.
    ClaudeSession,
    /// `codex exec --json`.
    CodexExec,
    /// Codex' rollout file.
    CodexRollout,
    /// `opencode run --format json`.
    OpenCode,
    /// `gemini -o stream-json`.
    GeminiStream,
    /// `qwen -o stream-json`.
    QwenStream,
    /// `openclaw agent exec --json`.
    OpenClaw,
    /// The trajectory file of mini-swe-agent.
    MiniSweAgent,
    /// The event list of the OpenHands SDK.
    OpenHands,
    /// The Agent Trajectory Interchange Format, v1.2 to v1.8.
    Atif,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::ClaudeStream,
        Self::ClaudeSession,
        Self::CodexExec,
        Self::CodexRollout,
        Self::OpenCode,
        Self::GeminiStream,
        Self::QwenStream,
        Self::OpenClaw,
        Self::MiniSweAgent,
        Self::OpenHands,
        Self::Atif,
    ];
}

/// Understands the events of one agent, one after the other.
pub(super) trait Events: Send {
    /// Takes one line's object.
    fn event(&mut self, event: &Value, draft: &mut Draft);

    /// No more will come.
    fn end(&mut self, draft: &mut Draft);
}

enum Form {
    Lines { lines: Lines, events: Box<dyn Events> },
    Whole { bytes: Vec<u8>, too_long: bool, read: fn(&Value, &mut Draft) },
}

/// Reads one record of one agent.
pub struct TraceReader {
    form: Form,
    /// Bytes of lines so far.
    read: usize,
    taker: Taker,
}

/// Where lines go.
#[derive(Default)]
struct Taker {
    draft: Draft,
    number: u64,
}

impl TraceReader {
    /// A reader at the record's start.
    #[must_use]
    pub fn new(format: TraceFormat) -> Self {
        let lines = |events: Box<dyn Events>| Form::Lines { lines: Lines::default(), events };
        let whole = |read: fn(&Value, &mut Draft)| Form::Whole { bytes: Vec::new(), too_long: false, read };
        let form = match format {
            TraceFormat::ClaudeStream => lines(Box::new(claude::Claude::stream())),
            TraceFormat::ClaudeSession => lines(Box::new(claude::Claude::session())),
            TraceFormat::CodexExec => lines(Box::<codex::Exec>::default()),
            TraceFormat::CodexRollout => lines(Box::<codex::Rollout>::default()),
            TraceFormat::OpenCode => lines(Box::<opencode::OpenCode>::default()),
            TraceFormat::GeminiStream => lines(Box::<gemini::Gemini>::default()),
            TraceFormat::QwenStream => lines(Box::<qwen::Qwen>::default()),
            TraceFormat::OpenClaw => whole(openclaw::read),
            TraceFormat::MiniSweAgent => whole(mini::read),
            TraceFormat::OpenHands => whole(openhands::read),
            TraceFormat::Atif => whole(atif::fill),
        };
        Self { form, read: 0, taker: Taker::default() }
    }

    /// Takes the next bytes, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Lines { .. } if self.taker.draft.is_full() => {}
            Form::Lines { lines, events } => {
                self.read = self.read.saturating_add(bytes.len());
                if self.read > LARGEST_WHOLE {
                    return self.taker.draft.stop();
                }
                lines.push(bytes, |line| self.taker.take(line, events.as_mut()));
            }
            Form::Whole { too_long: true, .. } => {}
            Form::Whole { bytes: held, too_long, .. } => {
                if held.len().saturating_add(bytes.len()) > LARGEST_WHOLE {
                    *too_long = true;
                    *held = Vec::new();
                } else {
                    held.extend_from_slice(bytes);
                }
            }
        }
    }

    /// Steps that are complete and have not been taken yet, in order.
    pub fn take_steps(&mut self) -> Vec<TraceStep> {
        self.taker.draft.take()
    }

    /// The end of the record.
    #[must_use]
    pub fn finish(mut self) -> Reading {
        match &mut self.form {
            Form::Lines { lines, events } => {
                lines.finish(|line| self.taker.take(line, events.as_mut()));
                events.end(&mut self.taker.draft);
            }
            Form::Whole { bytes, too_long, read } => self.taker.whole(bytes, *too_long, *read),
        }
        self.taker.draft.finish()
    }
}

/// Reads a whole record.
#[must_use]
pub fn read(format: TraceFormat, bytes: &[u8]) -> Reading {
    let mut reader = TraceReader::new(format);
    reader.push(bytes);
    reader.finish()
}

impl Taker {
    fn take(&mut self, line: Line<'_>, events: &mut dyn Events) {
        if self.draft.is_full() {
            return;
        }
        self.number = self.number.saturating_add(1);
        let (bytes, is_tail) = match line {
            Line::Whole(bytes) => (bytes.trim_ascii(), false),
            Line::Tail(bytes) => (bytes.trim_ascii(), true),
            Line::LeftOut { bytes } => return self.left_out(bytes),
        };
        if bytes.is_empty() {
            return;
        }
        let counts = &mut self.draft.reading.counts;
        if bytes.first() != Some(&b'{') {
            counts.log_lines = counts.log_lines.saturating_add(1);
            return self.draft.aside(None, &String::from_utf8_lossy(bytes));
        }
        match object(bytes) {
            Some(event) => {
                counts.events = counts.events.saturating_add(1);
                events.event(&event, &mut self.draft);
            }
            None => {
                counts.unreadable = counts.unreadable.saturating_add(1);
                let number = self.number;
                let note =
                    if is_tail { "last line incomplete".to_owned() } else { format!("line {number} unreadable") };
                self.draft.unreadable(note, bytes);
            }
        }
    }

    fn left_out(&mut self, bytes: u64) {
        let counts = &mut self.draft.reading.counts;
        counts.left_out = counts.left_out.saturating_add(1);
        let note = format!("event of {} MB left out (line {})", bytes / 1_000_000, self.number);
        self.draft.aside(None, &format!("[{note}]"));
        self.draft.note(note);
    }

    fn whole(&mut self, bytes: &[u8], too_long: bool, read: fn(&Value, &mut Draft)) {
        if too_long {
            return self.draft.note(format!("a record of more than {} MB is not read", LARGEST_WHOLE / 1_000_000));
        }
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return;
        }
        match object(bytes) {
            Some(value) => {
                self.draft.reading.counts.events = 1;
                read(&value, &mut self.draft);
            }
            None if atif::is_episodes(bytes) => {
                self.draft.reading.counts.events = 1;
                atif::fill_episodes(bytes, &mut self.draft);
            }
            None => {
                self.draft.reading.counts.unreadable = 1;
                self.draft.unreadable("the record is not a JSON object, or is cut".to_owned(), bytes);
            }
        }
    }
}

/// A JSON object, also where a text in it is not UTF-8.
fn object(bytes: &[u8]) -> Option<Value> {
    let value = serde_json::from_slice::<Value>(bytes).ok().or_else(|| {
        let text = std::str::from_utf8(bytes).is_err().then(|| String::from_utf8_lossy(bytes))?;
        serde_json::from_str(&text).ok()
    });
    value.filter(Value::is_object)
}
