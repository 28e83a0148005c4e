//! Reads tokens and the proper end of an answer from the bytes that pass by, and changes none of them.

use domain::usage::TokenUsage;
use serde_json::Value;

use crate::protocol::anthropic::overlay_usage;
use crate::protocol::sse::{SseEvent, SseReader};

/// Largest JSON answer that is read for its usage; that of a larger one is unknown.
const MAX_JSON_BYTES: usize = 32 * 1024 * 1024;

/// What the wire has told so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireReading {
    /// Tokens; a class not told yet is unknown.
    pub usage: TokenUsage,
    /// Whether the answer came to its proper end.
    pub complete: bool,
    /// An error that came within a stream: kind and words.
    pub error: Option<(String, String)>,
}

/// Looks at an answer as it passes.
#[derive(Debug)]
pub struct UsageReader {
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
    pub fn new(content_type: &str) -> Self {
        let form = if content_type.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
            Form::Stream(SseReader::new())
        } else {
            Form::Json { body: Vec::new(), too_long: false }
        };
        Self { form, reading: WireReading::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Stream(sse) => {
                for event in sse.push(bytes) {
                    take_event(&mut self.reading, &event);
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
        match &self.form {
            Form::Stream(_) => self.reading.clone(),
            Form::Json { too_long: true, .. } => WireReading { complete: ended, ..WireReading::default() },
            Form::Json { body, too_long: false } => json_reading(body),
        }
    }
}

fn json_reading(body: &[u8]) -> WireReading {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return WireReading::default() };
    let mut usage = TokenUsage::UNKNOWN;
    if let Some(wire) = value.get("usage") {
        overlay_usage(&mut usage, wire);
    }
    WireReading { usage, complete: true, error: None }
}

fn take_event(reading: &mut WireReading, event: &SseEvent) {
    let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
    match data.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => {
            if let Some(wire) = data.pointer("/message/usage") {
                overlay_usage(&mut reading.usage, wire);
            }
            // A placeholder (1 in practice): the final count comes with message_delta or not at all.
            reading.usage.output = None;
        }
        "message_delta" => {
            if let Some(wire) = data.get("usage") {
                overlay_usage(&mut reading.usage, wire);
            }
        }
        "message_stop" => reading.complete = true,
        "error" => {
            let word = |name: &str| data.pointer(name).and_then(Value::as_str).unwrap_or("unknown").to_owned();
            reading.error = Some((word("/error/type"), word("/error/message")));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,",
        "\"cache_creation_input_tokens\":12142,\"cache_read_input_tokens\":7,\"output_tokens\":1}}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{\"output_tokens\":20}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":44}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    fn usage(input: u64, cache_write: u64, cache_read: u64, output: Option<u64>) -> TokenUsage {
        TokenUsage { input: Some(input), cache_read: Some(cache_read), cache_write: Some(cache_write), output }
    }

    #[test]
    fn a_stream_counts_its_last_cumulative_usage_once() {
        for size in [1, 7, STREAM.len()] {
            let mut reader = UsageReader::new("text/event-stream; charset=utf-8");
            STREAM.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
            let want = WireReading { usage: usage(3, 12142, 7, Some(44)), complete: true, error: None };
            assert_eq!(reader.reading(true), want, "pieces of {size}");
        }
    }

    #[test]
    fn a_cut_stream_has_no_output_count_and_no_end() {
        let mut reader = UsageReader::new("text/event-stream");
        reader.push(STREAM.split("event: message_delta").next().unwrap().as_bytes());
        assert_eq!(
            reader.reading(false),
            WireReading { usage: usage(3, 12142, 7, None), complete: false, error: None }
        );
        reader.push(b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
        assert_eq!(reader.reading(false).error, Some(("overloaded_error".to_owned(), "Overloaded".to_owned())));
    }

    #[test]
    fn json_is_read_whole_and_what_is_not_told_is_unknown() {
        for (body, want) in [
            (
                r#"{"usage":{"input_tokens":5,"output_tokens":2,"cache_read_input_tokens":null}}"#,
                usage(5, 0, 0, Some(2)),
            ),
            (r#"{"usage":{"output_tokens":"many"}}"#, TokenUsage::UNKNOWN),
            (r#"{"content":[]}"#, TokenUsage::UNKNOWN),
        ] {
            let mut reader = UsageReader::new("application/json");
            reader.push(body.as_bytes());
            assert_eq!(reader.reading(true), WireReading { usage: want, complete: true, error: None }, "{body}");
        }
        let mut reader = UsageReader::new("application/json");
        reader.push(b"{\"usage\":{\"input_tok");
        assert_eq!(reader.reading(true), WireReading::default());
    }
}
