//! One call of an agent while it lasts: it is recorded exactly once, however it ends.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::usage::TokenUsage;
use futures::{Stream, StreamExt};
use http::StatusCode;
use tokio::time::{Instant, timeout};

use crate::caps::{Spent, known_tokens};
use crate::protocol::error::error_message;
use crate::protocol::{Action, Protocol, Refusal};
use crate::record::{CallOutcome, CallRecord};
use crate::standing::Asked;
use crate::trial::Shared;
use crate::trouble::ProviderTrouble;
use crate::upstream::{ByteStream, UpstreamError};
use crate::usage::{UsageReader, WireReading};

/// Longest path and model name kept, in characters.
const MAX_ENDPOINT: usize = 200;
/// Longest words kept of how it ended, in characters.
const MAX_WORDS: usize = 1000;

/// A call that has begun. Dropping it unfinished (the agent went away) records it as cancelled.
pub(crate) struct Call {
    shared: Arc<Shared>,
    started: Instant,
    protocol: Protocol,
    action: Action,
    record: Option<CallRecord>,
    reader: Option<UsageReader>,
    pending: Option<ProviderTrouble>,
    is_counted: bool,
    /// Whether a try of it may have spent tokens that nobody tells; no later try makes them known.
    untold: bool,
}

impl Call {
    pub(crate) fn begin(shared: Arc<Shared>, protocol: Protocol, action: Action, endpoint: &str) -> Self {
        let started = Instant::now();
        let record = CallRecord {
            protocol,
            endpoint: clipped(endpoint, MAX_ENDPOINT),
            model: None,
            answered_by: None,
            outcome: CallOutcome::Cancelled,
            status: None,
            usage: TokenUsage::ZERO,
            cost: None,
            started_after_ms: millis(started - shared.opened),
            latency_to_first_byte_ms: None,
            total_ms: 0,
            retries: 0,
            replayed: shared.upstream.is_replayed(),
            drifted: false,
            declined: false,
        };
        shared.begun();
        Self {
            shared,
            started,
            protocol,
            action,
            record: Some(record),
            reader: None,
            pending: None,
            is_counted: false,
            untold: false,
        }
    }

    /// The caps have let it through, and count it.
    pub(crate) const fn counted(&mut self) {
        self.is_counted = true;
    }

    pub(crate) fn model(&mut self, model: &str) {
        self.change(|record| record.model = Some(clipped(model, MAX_ENDPOINT)));
    }

    pub(crate) fn refuse(mut self, refusal: &Refusal) {
        let kind = refusal.vendor_kind(self.protocol);
        self.change(|record| record.status = Some(kind.status.as_u16()));
        self.close(CallOutcome::Refused { reason: clipped(&refusal.message(), MAX_WORDS) }, &told(TokenUsage::ZERO));
    }

    /// A try is under way: from now on the provider may spend tokens that nobody tells us.
    pub(crate) fn trying(&mut self) {
        let unknown = self.spendable(TokenUsage::UNKNOWN);
        self.change(|record| record.usage = unknown);
    }

    /// Counting tokens is free, whatever becomes of it.
    const fn spendable(&self, usage: TokenUsage) -> TokenUsage {
        match self.action {
            Action::Generate => usage,
            Action::CountTokens => TokenUsage::ZERO,
        }
    }

    /// What an earlier try may have spent is in no class of the last one.
    const fn unless_untold(&self, usage: TokenUsage) -> TokenUsage {
        self.spendable(if self.untold { TokenUsage::UNKNOWN } else { usage })
    }

    pub(crate) fn retrying(&mut self, trouble: ProviderTrouble) {
        self.untold |= trouble.may_have_spent();
        let usage = self.unless_untold(TokenUsage::ZERO);
        self.change(|record| {
            record.retries = record.retries.saturating_add(1);
            record.usage = usage;
        });
        self.pending = Some(trouble);
    }

    pub(crate) fn retries(&self) -> u32 {
        self.record.as_ref().map_or(0, |record| record.retries)
    }

    /// The retries are used up.
    pub(crate) fn give_up(mut self, trouble: ProviderTrouble, status: StatusCode) {
        self.change(|record| record.status = Some(status.as_u16()));
        self.untold |= trouble.may_have_spent();
        self.pending = None;
        self.trouble(trouble, &told(TokenUsage::ZERO));
    }

    /// The provider answers; `content_type` decides how the answer is read for its usage.
    pub(crate) fn answering(&mut self, status: StatusCode, content_type: &str) {
        let started = self.started;
        self.change(|record| {
            record.status = Some(status.as_u16());
            record.latency_to_first_byte_ms = Some(millis(started.elapsed()));
        });
        self.pending = None;
        self.reader = Some(UsageReader::new(self.protocol, content_type));
    }

    /// The answer was recorded for a request in which tools had answered otherwise.
    pub(crate) fn drifted(&mut self) {
        self.change(|record| record.drifted = true);
    }

    /// A provider's answer that no one has to read on: the request was wrong.
    pub(crate) fn rejected(mut self, status: StatusCode, body: &[u8]) {
        self.answering(status, "");
        self.reader = None;
        self.recovered();
        self.close(CallOutcome::Rejected { message: error_message(body) }, &told(TokenUsage::ZERO));
    }

    /// Passes the answer on as it comes. `idle` = longest silence.
    pub(crate) fn pass_on(self, first: Option<Bytes>, rest: ByteStream, idle: Duration) -> ByteStream {
        Passing { first, rest, call: Some(self), idle }.into_stream().boxed()
    }

    fn ended(mut self) {
        let reading = self.reading(true);
        match reading.error.clone() {
            Some((kind, message)) => self.trouble(ProviderTrouble::from_stream(&kind, message), &reading),
            None if reading.complete || self.action == Action::CountTokens => {
                self.recovered();
                self.close(CallOutcome::Answered, &reading);
            }
            None => {
                let reason = "the provider ended it before its end".to_owned();
                self.trouble(ProviderTrouble::Cut { reason }, &reading);
            }
        }
    }

    fn cut(mut self, error: UpstreamError) {
        let reading = self.reading(false);
        self.trouble(error.into(), &reading);
    }

    fn trouble(&mut self, trouble: ProviderTrouble, reading: &WireReading) {
        let message = clipped(&trouble.to_string(), MAX_WORDS);
        self.shared.lock().standing.troubled(self.asked(), trouble);
        self.close(CallOutcome::Trouble { message }, reading);
    }

    /// What the provider's failures and answers are about.
    pub(crate) fn asked(&self) -> Asked<'_> {
        let model = self.record.as_ref().and_then(|record| record.model.as_deref());
        Asked { model: model.unwrap_or_default(), action: self.action }
    }

    fn recovered(&self) {
        self.shared.lock().standing.answered(self.asked(), &self.shared.ticket.model);
    }

    fn reading(&self, ended: bool) -> WireReading {
        self.reader.as_ref().map(|reader| reader.reading(ended)).unwrap_or_default()
    }

    fn change(&mut self, change: impl FnOnce(&mut CallRecord)) {
        if let Some(record) = &mut self.record {
            change(record);
        }
    }

    fn close(&mut self, outcome: CallOutcome, reading: &WireReading) {
        let total_ms = millis(self.started.elapsed());
        let known = self.spendable(reading.usage);
        let usage = self.unless_untold(reading.usage);
        let Some(record) = self.record.take() else { return };
        let cost = self.cost(record.model.as_deref(), &usage, reading.off_list.is_some());
        let answered_by = reading.model.as_ref().map(|model| clipped(model, MAX_ENDPOINT));
        let record = CallRecord { outcome, usage, cost, total_ms, answered_by, declined: reading.declined, ..record };
        // No word of the agent's or the provider's: they may hold a secret, and the log is not looked through for any.
        let CallRecord { protocol, status, retries, .. } = &record;
        tracing::debug!(attempt = %self.shared.ticket.attempt, ?protocol, status, retries, total_ms, "model call ended");
        let least = record.model.as_deref().map_or(0.0, |model| self.shared.prices.least_cost(model, &known));
        let spent =
            Spent { tokens: known_tokens(&known), money: least, time: self.started.elapsed(), ..Spent::default() };
        if let Some(budget) = &self.shared.ticket.budget {
            budget.add(&spent);
        }
        self.shared.ended(record, &spent, self.is_counted);
    }

    fn cost(&self, model: Option<&str>, usage: &TokenUsage, off_list: bool) -> Option<f64> {
        match model {
            _ if *usage == TokenUsage::ZERO => Some(0.0),
            Some(model) if !off_list => self.shared.prices.cost(model, usage),
            _ => None,
        }
    }
}

/// Tokens that are known, or known to be unknown, without an answer.
fn told(usage: TokenUsage) -> WireReading {
    WireReading { usage, ..WireReading::default() }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(record) = &self.record else { return };
        let told = told(record.usage);
        if let Some(trouble) = self.pending.take() {
            // It went away while the provider was failing: that is the provider's doing.
            return self.trouble(trouble, &told);
        }
        let reading = self.reader.as_ref().map_or(told, |reader| reader.reading(false));
        if reading.complete {
            self.recovered();
        }
        let outcome = if reading.complete { CallOutcome::Answered } else { CallOutcome::Cancelled };
        self.close(outcome, &reading);
    }
}

/// An answer on its way to the agent.
struct Passing {
    first: Option<Bytes>,
    rest: ByteStream,
    call: Option<Call>,
    idle: Duration,
}

impl Passing {
    fn into_stream(self) -> impl Stream<Item = Result<Bytes, UpstreamError>> + Send {
        futures::stream::unfold(self, |mut passing| async move {
            let next = passing.next().await?;
            Some((next, passing))
        })
    }

    async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        self.call.as_ref()?;
        let next = match self.first.take() {
            Some(bytes) => Some(Ok(bytes)),
            None => match timeout(self.idle, self.rest.next()).await {
                Ok(next) => next,
                Err(_elapsed) => Some(Err(UpstreamError::TimedOut { after: self.idle })),
            },
        };
        match next {
            Some(Ok(bytes)) => {
                if let Some(reader) = self.call.as_mut().and_then(|call| call.reader.as_mut()) {
                    reader.push(&bytes);
                }
                Some(Ok(bytes))
            }
            Some(Err(error)) => {
                if let Some(call) = self.call.take() {
                    call.cut(error.clone());
                }
                Some(Err(error))
            }
            None => {
                if let Some(call) = self.call.take() {
                    call.ended();
                }
                None
            }
        }
    }
}

fn clipped(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
