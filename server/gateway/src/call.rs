//! One call of an agent while it lasts: it is recorded exactly once, however it ends.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::usage::TokenUsage;
use futures::{Stream, StreamExt};
use http::StatusCode;
use tokio::time::{Instant, timeout};

use crate::protocol::anthropic::{Refusal, error_message};
use crate::record::{CallOutcome, CallRecord};
use crate::trial::Shared;
use crate::trouble::ProviderTrouble;
use crate::upstream::{ByteStream, UpstreamError};
use crate::usage::{UsageReader, WireReading};

/// A call that has begun. Dropping it unfinished (the agent went away) records it as cancelled.
pub(crate) struct Call {
    shared: Arc<Shared>,
    started: Instant,
    record: Option<CallRecord>,
    reader: Option<UsageReader>,
    pending: Option<ProviderTrouble>,
}

impl Call {
    pub(crate) fn begin(shared: Arc<Shared>) -> Self {
        let started = Instant::now();
        let record = CallRecord {
            model: None,
            outcome: CallOutcome::Cancelled,
            status: None,
            usage: TokenUsage::ZERO,
            started_after_ms: millis(started - shared.opened),
            latency_to_first_byte_ms: None,
            total_ms: 0,
            retries: 0,
        };
        Self { shared, started, record: Some(record), reader: None, pending: None }
    }

    pub(crate) fn model(&mut self, model: &str) {
        self.change(|record| record.model = Some(model.to_owned()));
    }

    pub(crate) fn refuse(mut self, refusal: &Refusal) {
        self.change(|record| record.status = Some(refusal.vendor_kind().0.as_u16()));
        self.close(CallOutcome::Refused { reason: refusal.message() }, TokenUsage::ZERO);
    }

    /// A try is under way: from now on the provider may spend tokens that nobody tells us.
    pub(crate) fn trying(&mut self) {
        self.change(|record| record.usage = TokenUsage::UNKNOWN);
    }

    pub(crate) fn retrying(&mut self, trouble: ProviderTrouble) {
        self.change(|record| {
            record.retries = record.retries.saturating_add(1);
            record.usage = if trouble.may_have_spent() { TokenUsage::UNKNOWN } else { TokenUsage::ZERO };
        });
        self.pending = Some(trouble);
    }

    pub(crate) fn retries(&self) -> u32 {
        self.record.as_ref().map_or(0, |record| record.retries)
    }

    /// The retries are used up.
    pub(crate) fn give_up(mut self, trouble: ProviderTrouble, status: StatusCode) {
        self.change(|record| record.status = Some(status.as_u16()));
        let usage = if trouble.may_have_spent() { TokenUsage::UNKNOWN } else { TokenUsage::ZERO };
        self.pending = None;
        self.trouble(trouble, usage);
    }

    /// The provider answers; `content_type` decides how the answer is read for its usage.
    pub(crate) fn answering(&mut self, status: StatusCode, content_type: &str) {
        let started = self.started;
        self.change(|record| {
            record.status = Some(status.as_u16());
            record.latency_to_first_byte_ms = Some(millis(started.elapsed()));
        });
        self.pending = None;
        self.reader = Some(UsageReader::new(content_type));
    }

    /// A provider's answer that no one has to read on: the request was wrong.
    pub(crate) fn rejected(mut self, status: StatusCode, body: &[u8]) {
        self.answering(status, "");
        self.reader = None;
        self.shared.lock().recovered();
        self.close(CallOutcome::Rejected { message: error_message(body) }, TokenUsage::ZERO);
    }

    /// Passes the answer on as it comes. `idle` = longest silence.
    pub(crate) fn pass_on(self, first: Option<Bytes>, rest: ByteStream, idle: Duration) -> ByteStream {
        Passing { first, rest, call: Some(self), idle }.into_stream().boxed()
    }

    fn ended(mut self) {
        let reading = self.reading(true);
        match (reading.error, reading.complete) {
            (Some((kind, message)), _) => {
                let trouble = match kind.as_str() {
                    "overloaded_error" => ProviderTrouble::Overloaded { status: 529, message },
                    _ => ProviderTrouble::Failed { status: 500, message },
                };
                self.trouble(trouble, reading.usage);
            }
            (None, true) => {
                self.shared.lock().recovered();
                self.close(CallOutcome::Answered, reading.usage);
            }
            (None, false) => {
                let reason = "the provider ended it before its end".to_owned();
                self.trouble(ProviderTrouble::Cut { reason }, reading.usage);
            }
        }
    }

    fn cut(mut self, error: UpstreamError) {
        let usage = self.reading(false).usage;
        self.trouble(error.into(), usage);
    }

    fn trouble(&mut self, trouble: ProviderTrouble, usage: TokenUsage) {
        let message = trouble.to_string();
        self.shared.lock().troubled(trouble);
        self.close(CallOutcome::Trouble { message }, usage);
    }

    fn reading(&self, ended: bool) -> WireReading {
        self.reader.as_ref().map(|reader| reader.reading(ended)).unwrap_or_default()
    }

    fn change(&mut self, change: impl FnOnce(&mut CallRecord)) {
        if let Some(record) = &mut self.record {
            change(record);
        }
    }

    fn close(&mut self, outcome: CallOutcome, usage: TokenUsage) {
        let total_ms = millis(self.started.elapsed());
        if let Some(record) = self.record.take() {
            let record = CallRecord { outcome, usage, total_ms, ..record };
            tracing::debug!(attempt = %self.shared.ticket.attempt, ?record, "model call ended");
            self.shared.lock().records.push(record);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(record) = &self.record else { return };
        if let Some(trouble) = self.pending.take() {
            // It went away while the provider was failing: that is the provider's doing.
            let usage = record.usage;
            return self.trouble(trouble, usage);
        }
        let (outcome, usage) = match &self.reader {
            Some(reader) => {
                let reading = reader.reading(false);
                let outcome = if reading.complete { CallOutcome::Answered } else { CallOutcome::Cancelled };
                (outcome, reading.usage)
            }
            None => (CallOutcome::Cancelled, record.usage),
        };
        if outcome == CallOutcome::Answered {
            self.shared.lock().recovered();
        }
        self.close(outcome, usage);
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

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
