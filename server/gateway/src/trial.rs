//! The gateway of one attempt: admits, forwards, tries again, counts.

mod spent;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use domain::id::AttemptId;
use domain::skill_audit::SkillText;
use futures::{StreamExt, stream};
use http::{HeaderMap, Method, Request, Response};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::call::Call;
use crate::caps::{CapReached, CapScope, Caps, Spent};
use crate::gateway::{ProviderTools, TrialTicket};
use crate::ledger::Ledger;
use crate::passages::Passages;
use crate::prices::PriceTable;
use crate::protocol::{Action, Protocol, Refusal, Route, headers, likely_protocol};
use crate::record::{CallOutcome, CallRecord};
use crate::retry::retry_after;
use crate::sightings::{Sightings, said};
use crate::standing::{Asked, Standing};
use crate::tries::{Failed, Good, Try, content_type, give_up, try_once, whole};
use crate::trouble::ProviderTrouble;
use crate::upstream::cassette::Drifted;
use crate::upstream::{ByteStream, CallOf, Upstream};

/// Longest wait for the end of the calls of an agent that has ended.
const SETTLING: Duration = Duration::from_secs(3);
/// Model calls of one attempt whose plan has no cap on them, and questions for a number of tokens: far above what any agent makes.
pub const MOST_CALLS: u64 = 10_000;

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
    passages: Passages,
    spent: watch::Sender<Spent>,
    /// Calls that have begun and not ended.
    under_way: watch::Sender<u64>,
    state: Mutex<State>,
}

/// What changes while the attempt runs.
#[derive(Default)]
pub(crate) struct State {
    ledger: Ledger,
    /// Time is not kept here: it is that since the opening.
    spent: Spent,
    /// Of the calls under way those that the caps have let through to the provider.
    let_through: u64,
    /// Questions for a number of tokens that were passed on.
    counts: u64,
    cap_reached: Option<CapReached>,
    pub(crate) standing: Standing,
    sightings: Sightings,
    skill_text: SkillText,
}

impl State {
    fn ended(&mut self, record: CallRecord, spent: &Spent, is_counted: bool) {
        if is_counted {
            self.let_through = self.let_through.saturating_sub(1);
            let is_known = u64::from(record.usage.total().is_some());
            self.spent.uncounted = self.spent.uncounted.saturating_sub(is_known);
        }
        self.spent.tokens = self.spent.tokens.saturating_add(spent.tokens);
        self.spent.money += spent.money;
        self.ledger.add(record);
    }
}

impl Shared {
    pub(crate) fn begun(&self) {
        let _state = self.lock();
        self.under_way.send_modify(|calls| *calls = calls.saturating_add(1));
    }

    /// `is_counted` = it was let through as a call that spends.
    pub(crate) fn ended(&self, record: CallRecord, spent: &Spent, is_counted: bool) {
        let mut state = self.lock();
        state.ended(record, spent, is_counted);
        // While the state is held, so that nobody is told an older sum after a newer one. What spends nothing is told to nobody.
        if is_counted {
            self.spent.send_replace(state.spent);
        }
        self.under_way.send_modify(|calls| *calls = calls.saturating_sub(1));
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrialGateway {
    pub(crate) fn new(ticket: TrialTicket, upstream: Arc<dyn Upstream>, prices: Arc<PriceTable>) -> Self {
        let sightings = Sightings::of(&ticket.watch, &ticket.watch_anywhere);
        let passages = Passages::of(&ticket.measure, &ticket.watch);
        let state = Mutex::new(State { sightings, ..State::default() });
        Self {
            shared: Arc::new(Shared {
                ticket,
                opened: Instant::now(),
                upstream,
                prices,
                passages,
                spent: watch::Sender::default(),
                under_way: watch::Sender::default(),
                state,
            }),
        }
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

    /// The calls so far that have ended, in order of their ends; of very many the first ones, as [`crate::ledger`] says.
    #[must_use]
    pub fn records(&self) -> Vec<CallRecord> {
        self.shared.lock().ledger.records().to_vec()
    }

    /// Calls that have ended and are not among [`TrialGateway::records`].
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.shared.lock().ledger.left_out()
    }

    /// How the last call ended that has ended.
    #[must_use]
    pub fn last_outcome(&self) -> Option<CallOutcome> {
        self.shared.lock().ledger.last().cloned()
    }

    /// The provider's trouble that no later answer has mended. While there is any, the attempt is an infrastructure error.
    #[must_use]
    pub fn trouble(&self) -> Option<ProviderTrouble> {
        self.shared.lock().standing.trouble(self.model()).cloned()
    }

    /// Whether the provider denied the evaluation's model to all of this attempt, so that another one is sure to hear the same. A key that has
    /// served it before may serve the next.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        let state = self.shared.lock();
        let main = Asked { model: self.model(), action: Action::Generate };
        let served = |record: &CallRecord| {
            record.outcome == CallOutcome::Answered && record.model.as_deref() == Some(self.model())
        };
        matches!(state.standing.of(main), Some((_, ProviderTrouble::Denied { .. })))
            && !state.ledger.records().iter().any(served)
    }

    /// Whether the last call that was answered was answered with a refusal by the model.
    #[must_use]
    pub fn declined(&self) -> bool {
        self.shared.lock().ledger.declined()
    }

    /// For an agent of our own whose answer was cut after it had begun: the pause before it asks again, after so many failures of the same
    /// call. `None` = the stated time is over, or another try cannot help.
    #[must_use]
    pub fn pause_before_asking_again(&self, failures: u32) -> Option<Duration> {
        let state = self.shared.lock();
        let (since, trouble) = state.standing.of(Asked { model: self.model(), action: Action::Generate })?;
        trouble.is_passing().then(|| self.shared.ticket.retry.pause(since.elapsed(), failures, None))?
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

    /// How much of the ticket's `measure` texts and `watch` descriptions came before the model; `None` where none of it was seen.
    #[must_use]
    pub fn skill_text(&self) -> Option<SkillText> {
        let text = self.shared.lock().skill_text;
        (text.characters > 0).then_some(text)
    }

    /// Calls that have begun and not ended.
    #[must_use]
    pub fn calls_under_way(&self) -> u64 {
        *self.shared.under_way.borrow()
    }

    /// Waits until no call is under way, but not for ever. The gateway learns that its agent is gone a little later than whoever ended it.
    pub async fn settled(&self) {
        let mut told = self.shared.under_way.subscribe();
        let ended = told.wait_for(|calls| *calls == 0);
        if timeout(SETTLING, ended).await.is_err() {
            tracing::warn!(attempt = self.attempt().0, "calls of an agent that has ended are still under way");
        }
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
        if open.is_empty() && self.shared.passages.is_empty() {
            return;
        }
        let Ok(request) = serde_json::from_slice::<Value>(body) else { return };
        let (seen, characters) = (said(&request, open), self.shared.passages.in_request(&request));
        let mut state = self.shared.lock();
        state.sightings.saw(&seen);
        state.skill_text = state.skill_text.and(characters);
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
                self.count_call().map(|()| call.counted())
            }
            Action::CountTokens => self.count_question(),
        }
    }

    fn count_call(&self) -> Result<(), Refusal> {
        let ticket = &self.shared.ticket;
        let mut state = self.shared.lock();
        let spent = Spent { time: self.shared.opened.elapsed(), ..state.spent };
        let calls = ticket.caps.calls.or(Some(MOST_CALLS));
        let own = Caps { calls, ..ticket.caps }.check(&spent).map(|limit| CapReached { scope: CapScope::Trial, limit });
        // Only a call that its own caps let through is one of the evaluation's.
        let shared = || {
            let limit = ticket.budget.as_ref()?.begin().err()?;
            Some(CapReached { scope: CapScope::Evaluation, limit })
        };
        if let Some(cap) = own.or_else(shared) {
            state.cap_reached = Some(cap);
            return Err(Refusal::Cap { cap: cap.to_string() });
        }
        state.let_through += 1;
        state.spent.calls = state.spent.calls.saturating_add(1);
        state.spent.uncounted = state.spent.uncounted.saturating_add(1);
        self.shared.spent.send_replace(state.spent);
        Ok(())
    }

    /// What is free is bounded too: it takes the provider's time and the server's memory.
    fn count_question(&self) -> Result<(), Refusal> {
        let mut state = self.shared.lock();
        if state.counts >= MOST_CALLS {
            return Err(Refusal::Cap { cap: format!("{MOST_CALLS} questions for a number of tokens") });
        }
        state.counts += 1;
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
            match self.pause_after(&failed, &call) {
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

    fn pause_after(&self, failed: &Failed, call: &Call) -> Option<Duration> {
        let since = self.shared.lock().standing.failed(call.asked());
        if !failed.trouble.is_passing() {
            return None;
        }
        let asked = failed.answer.as_ref().and_then(|(parts, _)| retry_after(&parts.headers));
        self.shared.ticket.retry.pause(since.elapsed(), call.retries().saturating_add(1), asked)
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
