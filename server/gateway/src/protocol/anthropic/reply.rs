//! A Messages answer put together again, from JSON or from a stream. Blocks are kept whole, since agents must send them back unchanged.

use domain::usage::TokenUsage;
use serde_json::{Map, Value};

use super::overlay_usage;
use crate::protocol::sse::{SseEvent, SseReader};

/// A complete answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Content blocks in the vendor's form.
    pub content: Vec<Value>,
    /// Why the model stopped; `None` where the answer ended before it said so.
    pub stop_reason: Option<String>,
    /// Tokens, as far as told.
    pub usage: TokenUsage,
    /// An error that came within the stream.
    pub error: Option<String>,
}

impl Reply {
    /// An answer in one JSON text.
    ///
    /// # Errors
    /// What is not JSON.
    pub fn from_json(body: &[u8]) -> Result<Self, serde_json::Error> {
        let mut value: Value = serde_json::from_slice(body)?;
        let mut reply = Self::default();
        if let Some(usage) = value.get("usage") {
            overlay_usage(&mut reply.usage, usage);
        }
        reply.stop_reason = value.get("stop_reason").and_then(Value::as_str).map(str::to_owned);
        if let Some(Value::Array(blocks)) = value.get_mut("content").map(Value::take) {
            reply.content = blocks;
        }
        Ok(reply)
    }

    /// The text blocks, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        self.join("text", "text")
    }

    /// The thinking blocks; `None` where there is none.
    #[must_use]
    pub fn reasoning(&self) -> Option<String> {
        Some(self.join("thinking", "thinking")).filter(|text| !text.is_empty())
    }

    fn join(&self, kind: &str, field: &str) -> String {
        let of_kind = self.content.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some(kind));
        of_kind.filter_map(|block| block.get(field).and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
    }
}

/// Builds a [`Reply`] from a stream.
#[derive(Debug, Default)]
pub struct ReplyReader {
    sse: SseReader,
    reply: Reply,
    /// The JSON text of a tool's input, which comes in pieces; by block index.
    inputs: Map<String, Value>,
    finished: bool,
}

impl ReplyReader {
    /// A reader at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for event in self.sse.push(bytes) {
            self.take(&event);
        }
    }

    /// The answer, and whether it came to its end.
    #[must_use]
    pub fn finish(mut self) -> (Reply, bool) {
        for (index, text) in std::mem::take(&mut self.inputs) {
            let input = text.as_str().and_then(|text| serde_json::from_str(text).ok());
            let block = index.parse::<usize>().ok().and_then(|index| self.reply.content.get_mut(index));
            if let (Some(Value::Object(block)), Some(input)) = (block, input) {
                block.insert("input".to_owned(), input);
            }
        }
        (self.reply, self.finished)
    }

    fn take(&mut self, event: &SseEvent) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
        match data.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                self.usage(data.pointer("/message/usage"));
                // A placeholder, as in the usage reader.
                self.reply.usage.output = None;
            }
            "content_block_start" => self.reply.content.extend(data.get("content_block").cloned()),
            "content_block_delta" => self.delta(&data),
            "message_delta" => {
                self.usage(data.get("usage"));
                let reason = data.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.reply.stop_reason = reason.map(str::to_owned).or(self.reply.stop_reason.take());
            }
            "message_stop" => self.finished = true,
            "error" => {
                let message = data.pointer("/error/message").and_then(Value::as_str).unwrap_or("no message");
                self.reply.error = Some(message.to_owned());
            }
            _ => {}
        }
    }

    fn usage(&mut self, wire: Option<&Value>) {
        if let Some(wire) = wire {
            overlay_usage(&mut self.reply.usage, wire);
        }
    }

    fn delta(&mut self, data: &Value) {
        let Some(index) = data.get("index").and_then(Value::as_u64) else { return };
        let piece = |field: &str| data.pointer(&format!("/delta/{field}")).and_then(Value::as_str);
        if let Some(json) = piece("partial_json") {
            append(&mut self.inputs, &index.to_string(), json);
        }
        let block = usize::try_from(index).ok().and_then(|index| self.reply.content.get_mut(index));
        if let Some(Value::Object(block)) = block {
            for field in ["text", "thinking", "signature"] {
                if let Some(text) = piece(field) {
                    append(block, field, text);
                }
            }
        }
    }
}

fn append(object: &mut Map<String, Value>, field: &str, piece: &str) {
    match object.get_mut(field) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            object.insert(field.to_owned(), Value::String(piece.to_owned()));
        }
    }
}
