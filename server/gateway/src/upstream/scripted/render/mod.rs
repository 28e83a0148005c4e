//! A turn of a script as the vendor asked would send it: one JSON text, or a stream of events.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Response};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};

use super::asked::Asked;
use super::script::{NamedTool, Turn};
use super::tools::choose;
use crate::protocol::Protocol;
use crate::upstream::{ByteStream, UpstreamError};

/// Streamed texts are cut into pieces of so many characters.
const PIECE: usize = 40;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What is said, before it is put into any vendor's form.
struct Said<'a> {
    asked: &'a Asked,
    text: &'a str,
    tools: Vec<NamedTool>,
    /// A word of Anthropic's; the others' are made from it.
    stop_reason: String,
    tokens: Tokens,
}

/// Classes that do not overlap.
#[derive(Clone, Copy)]
struct Tokens {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

impl Tokens {
    const fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

impl Said<'_> {
    fn id(&self, kind: &str) -> String {
        format!("{kind}_scripted_{}", self.asked.turns_taken)
    }

    fn call_id(&self, kind: &str, index: usize) -> String {
        format!("{}_{index}", self.id(kind))
    }
}

pub(super) fn answer(protocol: Protocol, asked: &Asked, turn: &Turn, request_bytes: usize) -> Response<ByteStream> {
    let tools: Vec<_> = match asked.tools.as_slice() {
        [] => Vec::new(),
        offered => turn.tools.iter().map(|tool| choose(tool, offered)).collect(),
    };
    let stop_reason = turn.stop_reason.clone().unwrap_or_else(|| {
        let word = if tools.is_empty() { "end_turn" } else { "tool_use" };
        word.to_owned()
    });
    let tokens = tokens(turn, request_bytes, &tools);
    let said = Said { asked, text: &turn.text, tools, stop_reason, tokens };
    let (kind, pieces) = match protocol {
        Protocol::Anthropic => anthropic::answer(&said),
        Protocol::OpenaiChat => chat::answer(&said),
        Protocol::OpenaiResponses => responses::answer(&said),
        Protocol::Gemini => gemini::answer(&said),
    };
    response(kind, pieces)
}

/// The first piece of an answer, or half of it where there is but one, and then the end of the connection.
pub(super) fn cut(answer: ByteStream) -> ByteStream {
    let begun = answer.take(1).map(|piece| piece.map(|bytes| bytes.slice(..bytes.len().div_ceil(2))));
    let reason = "by its script".to_owned();
    begun.chain(stream::once(async { Err(UpstreamError::Cut { reason }) })).boxed()
}

/// The answer to a count of tokens.
pub(super) fn count(protocol: Protocol, request_bytes: usize) -> Response<ByteStream> {
    let name = if protocol == Protocol::Gemini { "totalTokens" } else { "input_tokens" };
    response(JSON, vec![json!({name: quarter(request_bytes)}).to_string()])
}

fn response(kind: &'static str, pieces: Vec<String>) -> Response<ByteStream> {
    let mut response = Response::new(stream::iter(pieces.into_iter().map(|piece| Ok(Bytes::from(piece)))).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn tokens(turn: &Turn, request_bytes: usize, tools: &[NamedTool]) -> Tokens {
    let reply_bytes = Value::from(anthropic::content(0, &turn.text, tools)).to_string().len();
    Tokens {
        input: turn.usage.input.unwrap_or_else(|| quarter(request_bytes)),
        cache_read: turn.usage.cache_read.unwrap_or(0),
        cache_write: turn.usage.cache_write.unwrap_or(0),
        output: turn.usage.output.unwrap_or_else(|| quarter(reply_bytes)),
    }
}

fn quarter(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// The object with one more field.
fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.insert(name.to_owned(), value);
    }
    object
}

fn bare_event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
