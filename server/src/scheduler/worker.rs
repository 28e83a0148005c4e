//! Makes one attempt: hands the order to the executor, stores what it reports, keeps the lease.

use std::sync::Arc;
use std::time::Duration;

use domain::attempt::AttemptResult;
use domain::id::{AttemptId, EvaluationId};
use domain::order::{Happening, TrialEvent};
use domain::verdict::{InfraClass, Verdict};
use engine::trial::{Clock, Executor};
use store::{Claim, Moved, Store, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a worker may be silent before its attempt is taken for dead.
pub(super) const LEASE_MS: i64 = 60_000;
/// How often it says that it lives.
const RENEW: Duration = Duration::from_secs(15);
/// How often, and after which pause, a write is tried again while the database is busy.
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
    pub(super) evaluation: EvaluationId,
    /// Whether the trouble may be the engine's, so that nothing more should be started before it answers.
    pub(super) suspect_engine: bool,
}

impl Worker {
    pub(super) async fn run(self, claim: Claim) -> Ended {
        let (attempt, evaluation) = (claim.attempt, claim.trial.evaluation);
        let mut suspect_engine = false;
        let order = match self.store.order(&claim).await {
            Ok(order) => order,
            Err(error) => {
                let message = format!("the trial's task or skill could not be read: {error}");
                let verdict = Verdict::InfraError { class: InfraClass::Container, message };
                let what = Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) };
                self.record(&claim, TrialEvent { attempt, at: (self.clock)(), what }).await;
                return Ended { evaluation, suspect_engine };
            }
        };
        let (events, mut reported) = mpsc::unbounded_channel();
        let executor = Arc::clone(&self.executor);
        let work = executor.run(order, events, self.cancel.clone());
        let record = async {
            let mut renew = tokio::time::interval(RENEW);
            loop {
                tokio::select! {
                    event = reported.recv() => match event {
                        Some(event) => {
                            suspect_engine |= is_engine_trouble(&event);
                            self.record(&claim, event).await;
                        }
                        None => break,
                    },
                    _ = renew.tick() => self.renew(attempt).await,
                }
            }
        };
        tokio::join!(work, record);
        Ended { evaluation, suspect_engine }
    }

    /// Stores an event. A busy database is waited for: what was reported must not be lost.
    async fn record(&self, claim: &Claim, event: TrialEvent) {
        let is_log = matches!(event.what, Happening::Log { .. });
        for _ in 0..TRIES {
            match self.store.record_event(claim.trial.evaluation, claim.trial.id, &event).await {
                Ok(_) => return,
                // The log is a blob as well; a lost line of the live view is no loss.
                Err(_) if is_log => return,
                Err(StoreError::Busy) => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    let error = super::whole(&error);
                    tracing::error!(error, attempt = claim.attempt.0, "an event could not be stored; trying again");
                    tokio::time::sleep(PAUSE * 4).await;
                }
            }
        }
        tracing::error!(
            attempt = claim.attempt.0,
            "an event was lost; the attempt will be closed when its lease is over"
        );
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
