//! Asks the model through the trial's gateway, in the vendor's own form, as any agent would.

use bytes::Bytes;
use futures::StreamExt;
use gateway::TrialGateway;
use gateway::protocol::anthropic::{MESSAGES_PATH, Reply, ReplyReader, error_message};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::agent::AgentEnd;

/// Longest answer taken; a model's own limits lie far below.
const MAX_ANSWER: usize = 32 << 20;

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum NoAnswer {
    /// The run's time is over.
    Deadline,
    /// The run ends for this reason.
    End(AgentEnd),
}

/// A try without an answer.
enum Failed {
    /// The answer broke off.
    Cut,
    /// More than [`MAX_ANSWER`] bytes.
    TooLong,
    /// An error answer, in the vendor's words.
    Status(u16, String),
}

/// One answer. What breaks off within the provider's stated time is asked again.
pub(super) async fn ask(gateway: &TrialGateway, body: &Value, deadline: Instant) -> Result<Reply, NoAnswer> {
    let body = Bytes::from(body.to_string());
    let mut failures = 0;
    loop {
        let failed = match timeout_at(deadline, once(gateway, body.clone())).await {
            Err(_elapsed) => return Err(AgentEnd::of_provider(gateway).map_or(NoAnswer::Deadline, NoAnswer::End)),
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(failed)) => failed,
        };
        failures += 1;
        if let Some(cap) = gateway.cap_reached() {
            return Err(NoAnswer::End(AgentEnd::BudgetExceeded { cap: cap.to_string() }));
        }
        let Some(end) = AgentEnd::of_provider(gateway) else {
            return Err(NoAnswer::End(AgentEnd::Crashed { message: failed.words() }));
        };
        match gateway.pause_before_asking_again(failures) {
            Some(pause) if pause < deadline.saturating_duration_since(Instant::now()) => sleep(pause).await,
            _ => return Err(NoAnswer::End(end)),
        }
    }
}

impl Failed {
    fn words(&self) -> String {
        match self {
            Self::Cut => "the model's answer broke off".to_owned(),
            Self::TooLong => format!("the model's answer is longer than {MAX_ANSWER} bytes"),
            Self::Status(status, message) => format!("the model rejects the request ({status}): {message}"),
        }
    }
}

async fn once(gateway: &TrialGateway, body: Bytes) -> Result<Reply, Failed> {
    let mut request = Request::new(body);
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = http::Uri::from_static(MESSAGES_PATH);
    request.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    let response = gateway.handle(request).await;
    let status = response.status();
    let streamed = is_stream(&response);
    let mut pieces = response.into_body();
    let mut reader = ReplyReader::new();
    let mut whole = Vec::new();
    let mut taken = 0_usize;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Failed::Cut)?;
        taken = taken.saturating_add(piece.len());
        if taken > MAX_ANSWER {
            return Err(Failed::TooLong);
        }
        if streamed { reader.push(&piece) } else { whole.extend_from_slice(&piece) }
    }
    if !status.is_success() {
        return Err(Failed::Status(status.as_u16(), error_message(&whole)));
    }
    if !streamed {
        return Reply::from_json(&whole).map_err(|_| Failed::Cut);
    }
    match reader.finish() {
        (reply, true) if reply.error.is_none() => Ok(reply),
        _ => Err(Failed::Cut),
    }
}

fn is_stream<B>(response: &Response<B>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream")
}
