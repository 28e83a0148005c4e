//! The gateway of one attempt: admits, forwards, tries again, counts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use domain::id::AttemptId;
use domain::usage::TokenUsage;
use futures::{StreamExt, stream};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, Response, response};
use tokio::time::{Instant, sleep, timeout};

use crate::call::Call;
use crate::caps::{CapReached, CapScope, Spent};
use crate::gateway::{ProviderTools, TrialTicket};
use crate::prices::PriceTable;
use crate::protocol::error::{Kind, error_response};
use crate::protocol::{Action, Protocol, Refusal, Route, headers, likely_protocol};
use crate::record::{CallRecord, sum_cost, sum_usage};
use crate::retry::retry_after;
use crate::sightings::{Sightings, said};
use crate::trouble::ProviderTrouble;
use crate::upstream::cassette::Drifted;
use crate::upstream::{ByteStream, CallOf, Upstream};

/// Longest error answer that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Answers the vendor's API for one attempt. Clones share their records.
#[derive(Clone)]
pub struct TrialGateway {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) ticket: TrialTicket,
    pub(crate) opened: Instant,
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) prices: Arc<PriceTable>,
    state: Mutex<State>,
}

/// What changes while the attempt runs.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) records: Vec<CallRecord>,
    /// Time is not kept here: it is that since the opening.
    spent: Spent,
    pub(crate) under_way: u64,
    cap_reached: Option<CapReached>,
    trouble: Option<ProviderTrouble>,
    /// Since when the provider has failed without an answer between.
    failing_since: Option<Instant>,
    sightings: Sightings,
}

impl State {
    pub(crate) fn recovered(&mut self) {
        self.trouble = None;
        self.failing_since = None;
    }

    pub(crate) fn ended(&mut self, record: CallRecord, spent: &Spent) {
        self.under_way = self.under_way.saturating_sub(1);
        self.spent.tokens = self.spent.tokens.saturating_add(spent.tokens);
        self.spent.money += spent.money;
        self.records.push(record);
    }

    pub(crate) fn troubled(&mut self, trouble: ProviderTrouble) {
        self.failing_since.get_or_insert_with(Instant::now);
        self.trouble = Some(trouble);
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that goes to the agent.
struct Good {
    parts: response::Parts,
    first: Option<Bytes>,
    rest: ByteStream,
}

/// A try that failed; with the provider's own answer where there was one.
struct Failed {
    trouble: ProviderTrouble,
    answer: Option<(response::Parts, Bytes)>,
}

/// What a try came to.
enum Try {
    Good(Good),
    /// The request is wrong by itself.
    Rejected(response::Parts, Bytes),
    Failed(Failed),
}

impl TrialGateway {
    pub(crate) fn new(ticket: TrialTicket, upstream: Arc<dyn Upstream>, prices: Arc<PriceTable>) -> Self {
        let state =
            Mutex::new(State { sightings: Sightings::of(&ticket.watch, &ticket.watch_anywhere), ..State::default() });
        Self { shared: Arc::new(Shared { ticket, opened: Instant::now(), upstream, prices, state }) }
    }

    /// Answers one request of the agent. Dropping the future or the body ends the call upstream.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<ByteStream> {
        if request.method() == Method::HEAD {
            return Response::new(stream::empty().boxed());
        }
        let path = request.uri().path();
        let Some(route) = Route::of(request.method(), path) else {
            let asked = format!("{} {path}", request.method());
            return self.refuse(request.headers(), path, &Refusal::NoSuchEndpoint { asked });
        };
        let mut call = Call::begin(Arc::clone(&self.shared), route.protocol, route.action, path);
        match self.admit(&route, request.body(), &mut call) {
            Ok(()) => self.forward(request, &route, call).await,
            Err(refusal) => {
                call.refuse(&refusal);
                refusal.response(route.protocol)
            }
        }
    }

    /// Refuses a request whose body was not looked at, and records that.
    pub(crate) fn refuse(&self, headers: &HeaderMap, path: &str, refusal: &Refusal) -> Response<ByteStream> {
        let protocol =
            Route::of(&Method::POST, path).map_or_else(|| likely_protocol(path, headers), |route| route.protocol);
        Call::begin(Arc::clone(&self.shared), protocol, Action::Generate, path).refuse(refusal);
        refusal.response(protocol)
    }

    /// Every call so far that has ended, in order of their ends.
    #[must_use]
    pub fn records(&self) -> Vec<CallRecord> {
        self.shared.lock().records.clone()
    }

    /// Tokens of all calls that have ended; a class that is unknown in one call is unknown.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        sum_usage(&self.shared.lock().records)
    }

    /// List price of all calls that have ended; `None` = unknown.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        sum_cost(&self.shared.lock().records)
    }

    /// Which price table that is by: currency and date.
    #[must_use]
    pub fn price_version(&self) -> String {
        self.shared.prices.version()
    }

    /// The cap that made the gateway refuse a call.
    #[must_use]
    pub fn cap_reached(&self) -> Option<CapReached> {
        self.shared.lock().cap_reached
    }

    /// The provider's trouble that no later answer has mended. While there is any, the attempt is an infrastructure error.
    #[must_use]
    pub fn trouble(&self) -> Option<ProviderTrouble> {
        self.shared.lock().trouble.clone()
    }

    /// For an agent of our own whose answer was cut after it had begun: the pause before it asks again, after so many failures of the same
    /// call. `None` = the stated time is over, or another try cannot help.
    #[must_use]
    pub fn pause_before_asking_again(&self, failures: u32) -> Option<Duration> {
        let state = self.shared.lock();
        let since = state.failing_since.filter(|_| state.trouble.as_ref().is_some_and(ProviderTrouble::is_passing))?;
        self.shared.ticket.retry.pause(since.elapsed(), failures, None)
    }

    /// Which of the ticket's `watch` texts the agent program has put before the model, by instructions, tools or messages of its own.
    #[must_use]
    pub fn sighted(&self) -> Vec<String> {
        self.shared.lock().sightings.seen(false)
    }

    /// Whether the ticket has `watch_anywhere` texts at all.
    #[must_use]
    pub fn watches_anywhere(&self) -> bool {
        !self.shared.ticket.watch_anywhere.is_empty()
    }

    /// Which of the ticket's `watch_anywhere` texts came before the model, in whatever way.
    #[must_use]
    pub fn sighted_anywhere(&self) -> Vec<String> {
        self.shared.lock().sightings.seen(true)
    }

    /// Calls that have begun and not ended.
    #[must_use]
    pub fn calls_under_way(&self) -> u64 {
        self.shared.lock().under_way
    }

    /// Whether the answers come from a file.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.shared.upstream.is_scripted()
    }

    /// Whether the answers were recorded earlier.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.shared.upstream.is_replayed()
    }

    /// The attempt it is for.
    #[must_use]
    pub fn attempt(&self) -> AttemptId {
        self.shared.ticket.attempt
    }

    /// The evaluation's model.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.shared.ticket.model
    }

    fn look(&self, body: &[u8]) {
        let open = self.shared.lock().sightings.open(body);
        let seen = said(body, open);
        self.shared.lock().sightings.saw(&seen);
    }

    fn admit(&self, route: &Route, body: &[u8], call: &mut Call) -> Result<(), Refusal> {
        let (ticket, upstream) = (&self.shared.ticket, &self.shared.upstream);
        if !upstream.speaks().contains(&route.protocol) {
            let (upstream, speaks) = (upstream.name().to_owned(), upstream.speaks().to_vec());
            return Err(Refusal::NotSpoken { asked: route.protocol, upstream, speaks });
        }
        let head = route.head(body).map_err(|reason| Refusal::Unreadable { reason })?;
        call.model(&head.model);
        let mut asked = std::iter::once(&head.model).chain(&head.fallbacks);
        if let Some(asked) = asked.find(|asked| !ticket.models().any(|allowed| allowed == *asked)) {
            return Err(Refusal::OtherModel { asked: asked.clone(), allowed: ticket.models().cloned().collect() });
        }
        if ticket.provider_tools == ProviderTools::Refused && !head.hosted.is_empty() {
            return Err(Refusal::ProviderTool { tools: head.hosted });
        }
        match route.action {
            Action::Generate => {
                // Also what a spent budget keeps from the model shows what the agent would have told it.
                self.look(body);
                self.count_call()
            }
            Action::CountTokens => Ok(()),
        }
    }

    fn count_call(&self) -> Result<(), Refusal> {
        let ticket = &self.shared.ticket;
        let mut state = self.shared.lock();
        let spent = Spent { time: self.shared.opened.elapsed(), ..state.spent };
        let own = ticket.caps.check(&spent).map(|limit| CapReached { scope: CapScope::Trial, limit });
        let shared = ticket.budget.as_ref().and_then(|budget| budget.caps().check(&budget.spent()));
        if let Some(cap) = own.or(shared.map(|limit| CapReached { scope: CapScope::Evaluation, limit })) {
            state.cap_reached = Some(cap);
            return Err(Refusal::Cap { cap: cap.to_string() });
        }
        state.spent.calls = state.spent.calls.saturating_add(1);
        if let Some(budget) = &ticket.budget {
            budget.add(&Spent { calls: 1, ..Spent::default() });
        }
        Ok(())
    }

    async fn forward(&self, request: Request<Bytes>, route: &Route, mut call: Call) -> Response<ByteStream> {
        let (mut parts, body) = request.into_parts();
        parts.headers = headers::towards_upstream(parts.headers);
        parts.uri = headers::without_key(parts.uri);
        let ticket = &self.shared.ticket;
        let lane = ticket.lane.clone();
        parts.extensions.insert(CallOf { lane, attempt: ticket.attempt, protocol: route.protocol });
        let request = Request::from_parts(parts, body);
        loop {
            call.trying();
            let failed = match self.once(request.clone(), route.protocol).await {
                Try::Good(good) => return self.pass_on(good, call),
                Try::Rejected(parts, body) => {
                    call.rejected(parts.status, &body);
                    return whole(parts, body);
                }
                Try::Failed(failed) => failed,
            };
            match self.pause_after(&failed, call.retries()) {
                Some(pause) => {
                    call.retrying(failed.trouble);
                    sleep(pause).await;
                }
                None => return give_up(failed, route.protocol, call),
            }
        }
    }

    /// One try, up to the first byte of its answer.
    async fn once(&self, request: Request<Bytes>, protocol: Protocol) -> Try {
        let limit = self.shared.ticket.retry.first_byte;
        match timeout(limit, try_once(self.shared.upstream.as_ref(), request, protocol)).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Try::Failed(Failed { trouble: ProviderTrouble::TimedOut { after: limit }, answer: None }),
        }
    }

    fn pause_after(&self, failed: &Failed, retries: u32) -> Option<Duration> {
        let since = *self.shared.lock().failing_since.get_or_insert_with(Instant::now);
        if !failed.trouble.is_passing() {
            return None;
        }
        let asked = failed.answer.as_ref().and_then(|(parts, _)| retry_after(&parts.headers));
        self.shared.ticket.retry.pause(since.elapsed(), retries.saturating_add(1), asked)
    }

    fn pass_on(&self, good: Good, mut call: Call) -> Response<ByteStream> {
        call.answering(good.parts.status, content_type(&good.parts.headers));
        if good.parts.extensions.get::<Drifted>().is_some() {
            call.drifted();
        }
        let body = call.pass_on(good.first, good.rest, self.shared.ticket.retry.idle);
        let mut parts = good.parts;
        parts.headers = headers::towards_agent(parts.headers);
        Response::from_parts(parts, body)
    }
}

async fn try_once(upstream: &dyn Upstream, request: Request<Bytes>, protocol: Protocol) -> Try {
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
fn give_up(failed: Failed, protocol: Protocol, call: Call) -> Response<ByteStream> {
    let mut response = match failed.answer {
        Some((parts, body)) => whole(parts, body),
        None => error_response(protocol, Kind::unavailable(protocol), &failed.trouble.to_string(), false),
    };
    // The retries are used up here; an agent that starts its own would only lose minutes.
    response.headers_mut().insert("x-should-retry", http::HeaderValue::from_static("false"));
    call.give_up(failed.trouble, response.status());
    response
}

fn whole(mut parts: response::Parts, body: Bytes) -> Response<ByteStream> {
    parts.headers = headers::towards_agent(parts.headers);
    Response::from_parts(parts, stream::once(async move { Ok(body) }).boxed())
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
