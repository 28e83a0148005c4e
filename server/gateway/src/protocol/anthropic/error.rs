//! The vendor's kind of error, read and written.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::upstream::ByteStream;

/// Longest error text kept of a foreign answer, in characters.
const MAX_MESSAGE: usize = 500;

/// Why the gateway itself does not pass a request on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Another path or method.
    NoSuchEndpoint {
        /// Method and path.
        asked: String,
    },
    /// The body is not a Messages request.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Another model than the evaluation's.
    OtherModel {
        /// The model asked for.
        asked: String,
        /// The models allowed.
        allowed: Vec<String>,
    },
    /// A cap of the attempt is reached.
    Cap {
        /// Which one, in words.
        cap: String,
    },
}

impl Refusal {
    /// The status and `error.type` by which the vendor would say it.
    #[must_use]
    pub const fn vendor_kind(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NoSuchEndpoint { .. } | Self::OtherModel { .. } => (StatusCode::NOT_FOUND, "not_found_error"),
            // As the vendor refuses an empty account. A 429 would make agents wait and try again for minutes.
            Self::Unreadable { .. } | Self::Cap { .. } => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        }
    }

    /// What the agent is told.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::NoSuchEndpoint { asked } => {
                format!("{asked} is not offered to this trial; POST {} is", super::MESSAGES_PATH)
            }
            Self::Unreadable { reason } => format!("not a Messages request: {reason}"),
            Self::OtherModel { asked, allowed } => {
                format!("model: {asked} is not offered to this trial; its evaluation uses {}", allowed.join(", "))
            }
            Self::Cap { cap } => format!("this trial's budget is used up: {cap}"),
        }
    }

    /// The whole answer.
    #[must_use]
    pub fn response(&self) -> Response<ByteStream> {
        let (status, kind) = self.vendor_kind();
        error_response(status, kind, &self.message(), false)
    }
}

/// An error in the vendor's form. `retry` tells the vendor's own clients whether another try makes sense.
#[must_use]
pub fn error_response(status: StatusCode, kind: &str, message: &str, retry: bool) -> Response<ByteStream> {
    let body = json!({"type": "error", "error": {"type": kind, "message": message}}).to_string();
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
    let message = parsed.as_ref().and_then(|value| value.pointer("/error/message")).and_then(Value::as_str);
    let text = message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let text: String = text.trim().chars().take(MAX_MESSAGE).collect();
    if text.is_empty() { "no message".to_owned() } else { text }
}
