//! The live events of an evaluation as an event stream. An event's row id is its id in the stream, so that a browser which reconnects
//! misses nothing.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::id::{EvaluationId, EventId};
use domain::listing::LiveEvent;
use futures::stream::{self, Stream, StreamExt};
use ops::Ops;
use tokio::sync::watch;

use super::place::Place;
use super::refusal::Refused;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// A line of comment this often keeps proxies from closing a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where a page wants to go on: the last event that it was rendered with. A browser that reconnects says more with `Last-Event-ID`.
#[derive(Debug, serde::Deserialize)]
pub struct Wanted {
    after: Option<EventId>,
}

/// Streams what happens after `Last-Event-ID`, or after `?after=`, or from now on.
pub async fn events(
    State(ops): State<Ops>,
    Place(id): Place<EvaluationId>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    // Subscribed before the look, so that nothing falls between.
    let wakes = ops.subscribe(id);
    let done = ops.is_finished(id).await?;
    let last = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()?.parse().ok());
    let after = match last.or(wanted.after) {
        Some(after) => after,
        None => ops.newest_event(id).await?,
    };
    let follow = Follow { ops, id, after, wakes, done, said_done: false };
    let mut response = Sse::new(stream(follow)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response.headers_mut().insert(NO_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

struct Follow {
    ops: Ops,
    id: EvaluationId,
    after: EventId,
    wakes: watch::Receiver<EventId>,
    done: bool,
    said_done: bool,
}

fn stream(follow: Follow) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(follow, |mut follow| async move { follow.next().await.map(|events| (events, follow)) })
        .flat_map(|events| stream::iter(events.into_iter().map(Ok)))
}

impl Follow {
    /// The next events; `None` ends the stream.
    async fn next(&mut self) -> Option<Vec<Event>> {
        loop {
            if self.said_done {
                return None;
            }
            self.wakes.borrow_and_update();
            let page = self.ops.live_events(self.id, self.after).await.ok()?;
            if let Some(last) = page.last {
                self.after = last;
                if page.events.is_empty() {
                    continue;
                }
                return Some(page.events.iter().filter_map(event).collect());
            }
            if self.done {
                self.said_done = true;
                return Some(vec![Event::default().event("done").data("{}")]);
            }
            // The last events may have come since the look above, so an end that is news is followed by another look.
            self.done = self.ops.is_finished(self.id).await.ok()?;
            if !self.done {
                self.wakes.changed().await.ok()?;
            }
        }
    }
}

fn event(live: &LiveEvent) -> Option<Event> {
    Event::default().event("trial").id(live.id.to_string()).json_data(live).ok()
}
