//! Makes one attempt: hands the order to the executor, stores what it reports, keeps the lease.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use domain::attempt::AttemptResult;
use domain::id::AttemptId;
use domain::order::{Happening, TrialEvent};
use domain::verdict::{InfraClass, Verdict};
use engine::trial::{Clock, EVENTS_AHEAD, Executor};
use store::{Claim, Moved, Store, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a worker may be silent before its attempt is taken for dead.
pub(super) const LEASE_MS: i64 = 60_000;
/// How often it says that it lives.
const RENEW: Duration = Duration::from_secs(15);
/// How often, and after which pause, the store is asked again while something passing is in its way.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// One attempt's worker.
pub(super) struct Worker {
    pub(super) store: Store,
    pub(super) executor: Arc<Executor>,
    pub(super) clock: Clock,
    pub(super) cancel: CancellationToken,
}

/// What is left of a worker.
pub(super) struct Ended {
    /// Whether the trouble may be the engine's, so that nothing more should be started before it answers.
    pub(super) suspect_engine: bool,
}

impl Worker {
    pub(super) async fn run(self, claim: Claim) -> Ended {
        // Beside the work, not within it: a write that is tried again for long must not cost the lease.
        let suspect_engine = tokio::select! {
            suspect_engine = self.make(&claim) => suspect_engine,
            never = self.keep_lease(claim.attempt) => match never {},
        };
        Ended { suspect_engine }
    }

    /// Answers whether the trouble may be the engine's.
    async fn make(&self, claim: &Claim) -> bool {
        let attempt = claim.attempt;
        let order = match insist("the order could not be read", PAUSE, || self.store.order(claim)).await {
            Ok(order) => order,
            Err(error) if may_pass(&error) => {
                let error = super::whole(&error);
                tracing::error!(error, attempt = attempt.0, "not begun; it will be closed when its lease is over");
                return false;
            }
            Err(error) => {
                let message = format!("the trial's task or skill could not be read: {error}");
                let verdict = Verdict::InfraError { class: InfraClass::Container, message };
                let what = Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) };
                self.record(claim, TrialEvent { attempt, at: (self.clock)(), what }).await;
                return false;
            }
        };
        let (events, mut reported) = mpsc::channel(EVENTS_AHEAD);
        let executor = Arc::clone(&self.executor);
        let work = executor.run(order, events, self.cancel.clone());
        let record = async {
            let mut suspect_engine = false;
            while let Some(event) = reported.recv().await {
                suspect_engine |= is_engine_trouble(&event);
                self.record(claim, event).await;
            }
            suspect_engine
        };
        let (_, suspect_engine) = tokio::join!(work, record);
        suspect_engine
    }

    /// Stores an event. A busy database is waited for: what was reported must not be lost.
    async fn record(&self, claim: &Claim, event: TrialEvent) {
        let ask = || self.store.record_event(claim.trial.evaluation, claim.trial.id, &event);
        let kept = match &event.what {
            // The log is a blob as well; a lost line of the live view is no loss.
            Happening::Log { .. } => ask().await.or(Ok(Moved::No)),
            _ => insist("an event could not be stored", PAUSE, ask).await,
        };
        if let Err(error) = kept {
            let error = super::whole(&error);
            let attempt = claim.attempt.0;
            tracing::error!(error, attempt, "an event was lost; the attempt will be closed when its lease is over");
        }
    }

    async fn keep_lease(&self, attempt: AttemptId) -> Infallible {
        let mut renew = tokio::time::interval(RENEW);
        loop {
            renew.tick().await;
            self.renew(attempt).await;
        }
    }

    async fn renew(&self, attempt: AttemptId) {
        let until = (self.clock)().plus_ms(LEASE_MS);
        match self.store.renew_lease(attempt, until).await {
            Ok(Moved::Yes(_)) => {}
            Ok(Moved::No) => self.cancel.cancel(),
            Err(error) => tracing::warn!(%error, attempt = attempt.0, "the lease could not be renewed yet"),
        }
    }
}

fn is_engine_trouble(event: &TrialEvent) -> bool {
    let Happening::Ended { result } = &event.what else { return false };
    matches!(&result.verdict, Verdict::InfraError { class: InfraClass::Engine, .. })
}

/// Asks the store again, after a `pause` in which the log says the `trouble`, while what is in its way may pass.
async fn insist<T, F: Future<Output = Result<T, StoreError>>>(
    trouble: &str,
    pause: Duration,
    mut ask: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let mut tries = 1;
    loop {
        match ask().await {
            Err(StoreError::Busy) if tries < TRIES => tokio::time::sleep(pause).await,
            Err(error) if may_pass(&error) && tries < TRIES => {
                tracing::error!(error = super::whole(&error), "{trouble}; trying again");
                tokio::time::sleep(pause * 4).await;
            }
            outcome => return outcome,
        }
        tries += 1;
    }
}

/// Whether the same request may succeed a little later.
const fn may_pass(error: &StoreError) -> bool {
    match error {
        StoreError::Busy | StoreError::DiskFull { .. } | StoreError::Database(_) => true,
        StoreError::Closed
        | StoreError::Io { .. }
        | StoreError::InUse { .. }
        | StoreError::NewerDatabase { .. }
        | StoreError::DatabaseDamaged { .. }
        | StoreError::Migration(_)
        | StoreError::NotFound { .. }
        | StoreError::Invalid { .. }
        | StoreError::BlobDamaged { .. }
        | StoreError::TooLarge { .. }
        | StoreError::Unreadable { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_may_pass_is_waited_for_and_what_cannot_is_not() {
        let full = || StoreError::DiskFull { place: "/data".to_owned() };
        let invalid = || StoreError::Invalid { what: "a reward".to_owned(), reason: "no number".to_owned() };
        let never = u32::MAX;
        for (name, error, passes_after, want) in [
            ("in order", (|| StoreError::Busy) as fn() -> StoreError, 0, (1, true)),
            ("busy for a moment", || StoreError::Busy, 3, (4, true)),
            ("a full disk that is freed", full, 2, (3, true)),
            ("busy for ever", || StoreError::Busy, never, (TRIES, false)),
            ("wrong", invalid, never, (1, false)),
            ("closed", || StoreError::Closed, never, (1, false)),
        ] {
            let mut asked = 0;
            let outcome = insist("it could not be done", Duration::ZERO, || {
                asked += 1;
                std::future::ready(if asked > passes_after { Ok(()) } else { Err(error()) })
            });
            let is_done = outcome.await.is_ok();
            assert_eq!((asked, is_done), want, "{name}");
        }
    }
}
