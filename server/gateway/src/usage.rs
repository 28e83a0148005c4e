//! Reads tokens and the proper end of an answer from the bytes that pass by, and changes none of them.

use domain::usage::TokenUsage;
use serde_json::Value;

use crate::protocol::sse::{SseEvent, SseReader};
use crate::protocol::{Protocol, anthropic, gemini, openai};

/// Largest JSON answer that is read for its usage; that of a larger one is unknown.
const MAX_JSON_BYTES: usize = 32 * 1024 * 1024;

/// What the wire has told so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireReading {
    /// Tokens; a class not told yet is unknown.
    pub usage: TokenUsage,
    /// Whether the answer came to its proper end.
    pub complete: bool,
    /// Whether the model has said its last word: an end as well, where the connection then closes without an error.
    pub finished: bool,
    /// An error that came within a stream: kind and words.
    pub error: Option<(String, String)>,
    /// The model that answers, as it calls itself.
    pub model: Option<String>,
    /// Whether the model, or a filter before it, declined to answer.
    pub declined: bool,
    /// Why list prices do not hold for this answer; `None` = they do.
    pub off_list: Option<String>,
}

/// Looks at an answer as it passes.
#[derive(Debug)]
pub struct UsageReader {
    protocol: Protocol,
    form: Form,
    reading: WireReading,
}

#[derive(Debug)]
enum Form {
    Stream(SseReader),
    Json { body: Vec<u8>, too_long: bool },
}

impl UsageReader {
    /// A reader for an answer of this content type.
    #[must_use]
    pub fn new(protocol: Protocol, content_type: &str) -> Self {
        let form = if content_type.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
            Form::Stream(SseReader::new())
        } else {
            Form::Json { body: Vec::new(), too_long: false }
        };
        Self { protocol, form, reading: WireReading::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Stream(sse) => {
                for event in sse.push(bytes) {
                    read_event(self.protocol, &mut self.reading, &event);
                }
            }
            Form::Json { body, too_long } if body.len().saturating_add(bytes.len()) <= MAX_JSON_BYTES => {
                if !*too_long {
                    body.extend_from_slice(bytes);
                }
            }
            Form::Json { body, too_long } => {
                *too_long = true;
                body.clear();
            }
        }
    }

    /// What is known now. `ended` = the upstream closed its answer without an error.
    #[must_use]
    pub fn reading(&self, ended: bool) -> WireReading {
        let mut reading = match &self.form {
            Form::Stream(_) => self.reading.clone(),
            Form::Json { too_long: true, .. } => WireReading { complete: ended, ..WireReading::default() },
            Form::Json { body, too_long: false } => json_reading(self.protocol, body),
        };
        reading.complete |= reading.finished && ended;
        reading
    }
}

fn json_reading(protocol: Protocol, body: &[u8]) -> WireReading {
    let mut reading = WireReading::default();
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return reading };
    match protocol {
        Protocol::Anthropic => anthropic::read_json(&mut reading, &value),
        Protocol::OpenaiChat => openai::chat::read_json(&mut reading, &value),
        Protocol::OpenaiResponses => openai::responses::read_json(&mut reading, &value),
        Protocol::Gemini => gemini::read_json(&mut reading, &value),
    }
    reading
}

fn read_event(protocol: Protocol, reading: &mut WireReading, event: &SseEvent) {
    match protocol {
        Protocol::Anthropic => anthropic::read_event(reading, event),
        Protocol::OpenaiChat => openai::chat::read_event(reading, event),
        Protocol::OpenaiResponses => openai::responses::read_event(reading, event),
        Protocol::Gemini => gemini::read_event(reading, event),
    }
}
