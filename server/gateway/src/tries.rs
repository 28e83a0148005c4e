//! One try of a call, up to the first byte of its answer, and what the agent gets where no try came through.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, response};

use crate::call::Call;
use crate::protocol::error::{Kind, error_response};
use crate::protocol::{Protocol, headers};
use crate::trouble::ProviderTrouble;
use crate::upstream::{ByteStream, Upstream};

/// Longest error answer that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// An answer that goes to the agent.
pub(crate) struct Good {
    pub(crate) parts: response::Parts,
    pub(crate) first: Option<Bytes>,
    pub(crate) rest: ByteStream,
}

/// A try that failed; with the provider's own answer where there was one.
pub(crate) struct Failed {
    pub(crate) trouble: ProviderTrouble,
    pub(crate) answer: Option<(response::Parts, Bytes)>,
}

/// What a try came to.
pub(crate) enum Try {
    Good(Good),
    /// The request is wrong by itself.
    Rejected(response::Parts, Bytes),
    Failed(Failed),
}

pub(crate) async fn try_once(upstream: &dyn Upstream, request: Request<Bytes>, protocol: Protocol) -> Try {
    let failed = |trouble| Try::Failed(Failed { trouble, answer: None });
    let response = match upstream.send(request).await {
        Ok(response) => response,
        Err(error) => return failed(error.into()),
    };
    let (parts, mut rest) = response.into_parts();
    if !parts.status.is_success() {
        let body = upstream.redact(error_body(rest).await);
        return match ProviderTrouble::from_status(parts.status, &body) {
            Some(trouble) => Try::Failed(Failed { trouble, answer: Some((parts, body)) }),
            None => Try::Rejected(parts, body),
        };
    }
    match rest.next().await {
        Some(Err(error)) => failed(error.into()),
        // Nothing has been passed on yet, so this can be tried again like a 529.
        Some(Ok(first)) if protocol.is_early_error(&first) => {
            let message = String::from_utf8_lossy(&first).chars().take(500).collect();
            failed(ProviderTrouble::Overloaded { status: 529, message })
        }
        Some(Ok(first)) => Try::Good(Good { parts, first: Some(first), rest }),
        None => Try::Good(Good { parts, first: None, rest }),
    }
}

async fn error_body(mut body: ByteStream) -> Bytes {
    let mut whole = BytesMut::new();
    while let Some(Ok(piece)) = body.next().await {
        whole.extend_from_slice(&piece);
        if whole.len() >= MAX_ERROR_BYTES {
            break;
        }
    }
    whole.truncate(MAX_ERROR_BYTES);
    whole.freeze()
}

/// The provider's own words where it had any, else the vendor's kind of server error.
pub(crate) fn give_up(failed: Failed, protocol: Protocol, call: Call) -> Response<ByteStream> {
    let mut response = match failed.answer {
        Some((parts, body)) => whole(parts, body),
        None => error_response(protocol, Kind::unavailable(protocol), &failed.trouble.to_string(), false),
    };
    // The retries are used up here; an agent that starts its own would only lose minutes.
    response.headers_mut().insert("x-should-retry", http::HeaderValue::from_static("false"));
    call.give_up(failed.trouble, response.status());
    response
}

pub(crate) fn whole(mut parts: response::Parts, body: Bytes) -> Response<ByteStream> {
    parts.headers = headers::towards_agent(parts.headers);
    Response::from_parts(parts, stream::once(async move { Ok(body) }).boxed())
}

pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
