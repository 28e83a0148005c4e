//! Reads what is left of a refused request: a connection that is closed while its browser still sends shows no answer, only a broken page.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures::{Stream, StreamExt as _, stream};

/// What is read at most, and for how long: a browser that sends more is cut off.
const MOST_BYTES: usize = 1 << 30;
const LONGEST: Duration = Duration::from_secs(120);

/// Lets a handler refuse a request before it has read all of it.
pub async fn read_refused(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let body = Shared(Arc::new(Mutex::new(body.into_data_stream())));
    let response = next.run(Request::from_parts(parts, Body::from_stream(body.stream()))).await;
    if response.status().is_client_error() {
        // Too long is too long; the answer is sent all the same.
        let _ = tokio::time::timeout(LONGEST, body.read(MOST_BYTES)).await;
    }
    response
}

/// A body that its handler and we read, one after the other.
#[derive(Clone)]
struct Shared(Arc<Mutex<BodyDataStream>>);

impl Shared {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, axum::Error>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).poll_next_unpin(cx)
    }

    fn stream(&self) -> impl Stream<Item = Result<Bytes, axum::Error>> + use<> {
        let body = self.clone();
        stream::poll_fn(move |cx| body.poll(cx))
    }

    async fn read(&self, most: usize) {
        let mut left = most;
        let mut rest = self.stream();
        while let Some(Ok(bytes)) = rest.next().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                return;
            }
        }
    }
}
