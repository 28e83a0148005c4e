//! Errors in the vendors' forms, read and written.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use super::Protocol;
use crate::upstream::ByteStream;

/// Longest error text kept of a foreign answer, in characters.
const MAX_MESSAGE: usize = 500;

/// How a vendor names an error: status and its kind (`error.type`, `error.code` or `error.status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// HTTP status.
    pub status: StatusCode,
    /// `error.type` of Anthropic and OpenAI, `error.status` of Gemini.
    pub kind: &'static str,
    /// `error.code` of OpenAI.
    pub code: Option<&'static str>,
}

impl Kind {
    /// Without a code.
    #[must_use]
    pub const fn new(status: StatusCode, kind: &'static str) -> Self {
        Self { status, kind, code: None }
    }

    /// With a code.
    #[must_use]
    pub const fn coded(status: StatusCode, kind: &'static str, code: &'static str) -> Self {
        Self { status, kind, code: Some(code) }
    }

    /// The provider cannot be reached.
    #[must_use]
    pub const fn unavailable(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Anthropic => Self::new(StatusCode::BAD_GATEWAY, "api_error"),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => Self::new(StatusCode::BAD_GATEWAY, "server_error"),
            Protocol::Gemini => Self::new(StatusCode::BAD_GATEWAY, "UNAVAILABLE"),
        }
    }
}

/// An error in the vendor's form. `retry` tells the vendor's own clients whether another try makes sense.
#[must_use]
pub fn error_response(protocol: Protocol, kind: Kind, message: &str, retry: bool) -> Response<ByteStream> {
    spelled(protocol, kind.status, kind.kind, kind.code, message, retry)
}

/// As [`error_response`], with words that come from elsewhere.
#[must_use]
pub fn spelled(
    protocol: Protocol,
    status: StatusCode,
    kind: &str,
    code: Option<&str>,
    message: &str,
    retry: bool,
) -> Response<ByteStream> {
    let body = match protocol {
        Protocol::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Protocol::OpenaiChat | Protocol::OpenaiResponses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
        Protocol::Gemini => json!({"error": {"code": status.as_u16(), "message": message, "status": kind}}),
    };
    let body = body.to_string();
    let once: ByteStream = stream::once(async move { Ok(Bytes::from(body)) }).boxed();
    let mut response = Response::new(once);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let should_retry = if retry { "true" } else { "false" };
    response.headers_mut().insert("x-should-retry", HeaderValue::from_static(should_retry));
    response
}

/// The words of an error answer: `error.message`, else the beginning of whatever came.
#[must_use]
pub fn error_message(body: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        // Gemini wraps the error of a stream into a list; some compatible servers give the message alone.
        ["/error/message", "/0/error/message", "/message", "/error"]
            .iter()
            .find_map(|path| value.pointer(path)?.as_str())
    });
    let text = message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let text: String = text.trim().chars().take(MAX_MESSAGE).collect();
    if text.is_empty() { "no message".to_owned() } else { text }
}

/// Whether it is an error in the form of a vendor, or of a server that speaks like one; anything else may come from a proxy on the way.
pub(crate) fn is_vendor_error(body: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return false };
    let says = |path: &str| value.pointer(path).is_some_and(Value::is_string);
    let is_vllm = value.get("object").is_some_and(|kind| kind == "error");
    says("/error/message") || says("/0/error/message") || (is_vllm && says("/message"))
}

/// OpenAI's `error.code`.
pub(crate) fn vendor_code(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    Some(value.pointer("/error/code")?.as_str()?.to_owned())
}
