//! Upstreams that fail on purpose, and short ways to call the gateway.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::id::AttemptId;
use futures::{StreamExt, stream};
use gateway::{ByteStream, Caps, Gateway, Protocol, RetryPolicy, TrialGateway, TrialTicket, Upstream, UpstreamError};
use http::{Request, Response, StatusCode};

pub const STREAM: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1,",
    "\"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":2}}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

/// One thing that an upstream does when it is called.
pub enum Act {
    Answer(Response<ByteStream>),
    Fail(UpstreamError),
    Hang,
}

/// Does its acts in order, then answers [`STREAM`].
pub struct Acting {
    acts: Mutex<VecDeque<Act>>,
    pub seen: Mutex<Vec<Request<Bytes>>>,
}

impl Acting {
    pub fn new(acts: Vec<Act>) -> Arc<Self> {
        Arc::new(Self { acts: Mutex::new(acts.into()), seen: Mutex::default() })
    }

    pub fn calls(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

#[async_trait]
impl Upstream for Acting {
    fn name(&self) -> &'static str {
        "acting"
    }

    fn is_scripted(&self) -> bool {
        true
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        self.seen.lock().unwrap().push(request);
        let act = self.acts.lock().unwrap().pop_front();
        match act {
            None => Ok(streamed(vec![Ok(STREAM)])),
            Some(Act::Answer(response)) => Ok(response),
            Some(Act::Fail(error)) => Err(error),
            Some(Act::Hang) => std::future::pending().await,
        }
    }
}

pub fn streamed(pieces: Vec<Result<&'static str, UpstreamError>>) -> Response<ByteStream> {
    let body = stream::iter(pieces.into_iter().map(|piece| piece.map(Bytes::from))).boxed();
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

pub fn status(code: u16, retry_after: Option<&str>) -> Act {
    let body = stream::once(async { Ok(Bytes::from(r#"{"error":{"type":"x","message":"its words"}}"#)) }).boxed();
    let mut response = Response::builder().status(code).header("content-type", "application/json");
    if let Some(value) = retry_after {
        response = response.header("retry-after", value);
    }
    Act::Answer(response.body(body).unwrap())
}

pub fn cut() -> UpstreamError {
    UpstreamError::Cut { reason: "connection reset".to_owned() }
}

pub fn open(upstream: Arc<dyn Upstream>, caps: Caps) -> TrialGateway {
    let ticket = TrialTicket {
        side_models: vec!["small".to_owned()],
        caps,
        retry: RetryPolicy { within: Duration::from_secs(20), ..RetryPolicy::default() },
        lane: "lane".to_owned(),
        ..TrialTicket::new(AttemptId(1), "m", upstream.name())
    };
    Gateway::new(vec![upstream]).open(ticket).unwrap()
}

pub fn request(body: &str) -> Request<Bytes> {
    Request::post("/v1/messages?beta=true")
        .header("x-api-key", "trial-token")
        .body(Bytes::from(body.to_owned()))
        .unwrap()
}

pub fn post(path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    Request::post(path).body(body.into()).unwrap()
}

/// Where each vendor is asked for model `m`.
pub const fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => "/v1/messages",
        Protocol::OpenaiChat => "/v1/chat/completions",
        Protocol::OpenaiResponses => "/v1/responses",
        Protocol::Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
    }
}

pub fn ask() -> Request<Bytes> {
    request(r#"{"model":"m","stream":true,"messages":[]}"#)
}

/// Status, whole body, and whether the body came to its end without an error.
pub async fn call(gateway: &TrialGateway, request: Request<Bytes>) -> (StatusCode, String, bool) {
    let response = gateway.handle(request).await;
    let status = response.status();
    let pieces: Vec<_> = response.into_body().collect().await;
    let whole = pieces.iter().all(Result::is_ok);
    let bytes: Vec<u8> = pieces.into_iter().flatten().flatten().collect();
    (status, String::from_utf8(bytes).unwrap(), whole)
}
