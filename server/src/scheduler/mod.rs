//! Takes queued trials and has them made, up to the limits, until it is told to stop. One loop: what happens after a crash is what happens
//! every few seconds anyway.

mod early_end;
mod obstacle;
mod room;
mod stranded;
#[cfg(test)]
mod tests;
mod worker;
mod workers;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::attempt::AttemptResult;
use domain::id::{AttemptId, EvaluationId};
use domain::order::{Happening, TrialEvent};
use domain::time::Timestamp;
use domain::verdict::{InfraClass, Verdict};
use engine::trial::{Clock, Executor};
use ops::Ops;
use store::{Among, Claim, Claimed, Store, StoreError};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

pub use obstacle::Obstacles;
pub use room::last_used;
pub use stranded::Available;

use self::early_end::EarlyEnds;
use self::room::{Removed, Room};
use self::stranded::Stranded;
use self::worker::{LEASE_MS, Worker};
use self::workers::{Left, Making, Workers};

/// How often it looks around without being woken.
const TICK: Duration = Duration::from_secs(5);
/// Every so many ticks, what nobody owns is removed from the engine.
const REAP_EVERY: u32 = 12;
/// Every so many ticks, images that were not used for long are removed.
const TIDY_EVERY: u32 = 720;

/// What the scheduler is doing, for the status page and the progress line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// Attempts under way.
    pub running: usize,
    /// Why no further trial is started, where something is in the way.
    pub paused: Option<String>,
    /// Evaluations that cannot go on here, each with what it waits for.
    pub waiting: Vec<String>,
}

/// How much it may run and keep.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Trials at the same time.
    pub trials: u32,
    /// Days after which an image that was not used goes; `None` = never.
    pub image_days: Option<u32>,
    /// Days after which a fetched commit that was not used goes; `None` = never.
    pub repository_days: Option<u32>,
}

/// The loop and what it needs.
pub struct Scheduler {
    store: Store,
    executor: Arc<Executor>,
    clock: Clock,
    instance: String,
    limit: u32,
    obstacles: Obstacles,
    room: Room,
    available: Available,
    stranded: Vec<Stranded>,
    /// Whether it is known which are; before, nothing is claimed.
    knows_stranded: bool,
    early_ends: EarlyEnds,
    status: watch::Sender<QueueStatus>,
    workers: Workers<worker::Ended>,
}

impl Scheduler {
    /// A scheduler of these parts.
    #[must_use]
    pub fn new(
        ops: Ops,
        executor: Arc<Executor>,
        clock: Clock,
        instance: String,
        limits: Limits,
        obstacles: Obstacles,
        available: Available,
    ) -> Self {
        Self {
            store: ops.store().clone(),
            early_ends: EarlyEnds::new(ops),
            executor,
            clock,
            instance,
            limit: limits.trials,
            obstacles,
            room: Room::new(limits),
            available,
            stranded: Vec::new(),
            knows_stranded: false,
            status: watch::Sender::default(),
            workers: Workers::new(),
        }
    }

    /// The same for one evaluation or audit alone: others wait.
    #[must_use]
    pub fn alone(mut self, only: EvaluationId) -> Self {
        self.available.only = Some(only);
        self
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<QueueStatus> {
        self.status.subscribe()
    }

    /// Runs until `stop`. Attempts under way are then given up: they are closed as interrupted and will be made again by whoever opens the
    /// data folder next. No container is left.
    pub async fn run(mut self, stop: CancellationToken) {
        // Nobody else can own the data folder, so whatever it says is running is not.
        self.heard("close what an earlier run left", self.store.close_all_running(self.now()).await.map(drop));
        self.reap().await;
        let mut queue = self.store.subscribe_queue();
        let mut ticks = 0_u32;
        let mut tick = tokio::time::interval_at(Instant::now() + TICK, TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while !stop.is_cancelled() {
            let due = self.round().await;
            tokio::select! {
                () = stop.cancelled() => {}
                // Before the worker is seen to have left: its place is free already.
                Ok(()) = queue.changed() => self.early_ends.trial_ended(),
                Some(left) = self.workers.next() => self.left(left).await,
                () = come(due) => {}
                _ = tick.tick() => {
                    ticks = ticks.wrapping_add(1);
                    if ticks.is_multiple_of(REAP_EVERY) {
                        self.reap().await;
                        self.make_room(ticks.is_multiple_of(TIDY_EVERY)).await;
                    }
                }
            }
        }
        self.shut_down().await;
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// One look around: stop what was cancelled, close what has died, start what can start. Answers how long the next trial has to wait that
    /// waits after trouble.
    async fn round(&mut self) -> Option<Duration> {
        self.stop_cancelled().await;
        // One process owns the data folder: of the workers here it is known that they live, whatever the clock says.
        let closed = self.store.close_expired(self.now(), &self.workers.attempts()).await;
        self.heard("close attempts whose lease is over", closed.map(drop));
        self.early_ends.look(self.now()).await;
        let mut paused = self.obstacles.look().await;
        while paused.is_none() {
            match self.claim().await {
                Ok(Claimed::Trial(claim)) => self.start(*claim),
                Ok(Claimed::Unreadable { evaluation, error }) => self.strand(Stranded::unreadable(evaluation, &error)),
                Ok(Claimed::Nothing) => break,
                Err(error) => {
                    paused = Some(whole(&error));
                    self.heard("claim a trial", Err(error));
                }
            }
        }
        let waiting = self.stranded.iter().map(|stranded| stranded.reason.clone()).collect();
        let status = QueueStatus { running: self.workers.len(), paused, waiting };
        self.status.send_if_modified(|old| {
            let changed = *old != status;
            if changed {
                if let Some(reason) = &status.paused {
                    tracing::warn!(%reason, "the queue is paused");
                }
                *old = status;
            }
            changed
        });
        let now = self.now();
        match self.store.next_due(now).await {
            Ok(due) => due.map(|due| Duration::from_millis(due.ms_since(now))),
            Err(error) => {
                self.heard("look who is due next", Err(error));
                None
            }
        }
    }

    /// Nothing before it is known what may not go on here: it would be made with another agent, or spend what nobody meant to spend now.
    async fn claim(&mut self) -> Result<Claimed, StoreError> {
        if !self.knows_stranded {
            self.find_stranded().await?;
            self.knows_stranded = true;
        }
        let now = self.now();
        let but: Vec<EvaluationId> = self.stranded.iter().map(|stranded| stranded.evaluation).collect();
        let among = Among { only: self.available.only, but: &but };
        self.store.claim_among(now, now.plus_ms(LEASE_MS), self.limit, among).await
    }

    /// Answered once: what is planned from now on is planned with what is here.
    async fn find_stranded(&mut self) -> Result<(), StoreError> {
        let open = self.store.open_evaluations().await?;
        self.early_ends.found(&open);
        self.available.stranded(&open).into_iter().for_each(|stranded| self.strand(stranded));
        Ok(())
    }

    fn strand(&mut self, stranded: Stranded) {
        tracing::warn!("{}", stranded.reason);
        self.stranded.push(stranded);
    }

    fn start(&mut self, claim: Claim) {
        self.early_ends.began(claim.trial.evaluation, &claim.plan, self.now());
        let cancel = CancellationToken::new();
        let making = Making::of(&claim);
        let worker = Worker {
            store: self.store.clone(),
            executor: Arc::clone(&self.executor),
            clock: Arc::clone(&self.clock),
            cancel: cancel.clone(),
        };
        self.workers.start(making, cancel, worker.run(claim));
    }

    async fn left(&mut self, left: Left<worker::Ended>) {
        self.early_ends.trial_ended();
        match left {
            Left::Ended(ended) => {
                if ended.suspect_engine {
                    self.obstacles.suspect_engine();
                }
            }
            Left::Failed { making, reason } => {
                tracing::error!(
                    attempt = making.attempt.0,
                    reason,
                    "a worker failed, which is a fault of this program"
                );
                let message = "the attempt's worker failed, which is a fault of Skilldelta and not of this trial; the log of the server says why".to_owned();
                let verdict = Verdict::InfraError { class: InfraClass::Worker, message };
                let what = Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) };
                let event = TrialEvent { attempt: making.attempt, at: self.now(), what };
                let closed = self.store.record_event(making.evaluation, making.trial, &event).await;
                // Where that fails, it is closed when its lease is over.
                self.heard("close the attempt of a worker that failed", closed.map(drop));
            }
        }
    }

    async fn stop_cancelled(&self) {
        if self.workers.is_empty() {
            return;
        }
        match self.store.live_attempts().await {
            Ok(live) => {
                let live: HashSet<AttemptId> = live.into_iter().map(|attempt| attempt.attempt).collect();
                self.workers.cancel_but(&live);
            }
            Err(error) => self.heard("look for cancelled attempts", Err(error)),
        }
    }

    async fn reap(&self) {
        let live = self.workers.attempts();
        match self.executor.engine().reap(&self.instance, &live).await {
            Ok(reaped) if reaped.is_empty() => {}
            Ok(reaped) => {
                tracing::info!(containers = reaped.containers.len(), "removed what an earlier run left behind")
            }
            Err(error) => tracing::warn!(%error, "what an earlier run left behind could not be removed yet"),
        }
    }

    /// Only while nothing runs: a trial that is being prepared has an image and no container yet.
    async fn make_room(&self, tidy: bool) {
        if !self.workers.is_empty() {
            return;
        }
        let (images, repositories) = (self.executor.images(), self.executor.repositories());
        let mut removed = Removed::default();
        if tidy {
            removed += self.room.tidy(&self.store, images, repositories, self.now()).await;
        }
        if self.obstacles.disk().is_some() {
            removed += self.room.free(&self.store, images, repositories, &self.obstacles, self.now()).await;
        }
        if removed != Removed::default() {
            let Removed { images, commits, events } = removed;
            tracing::info!(images, commits, events, "removed what is not needed any more");
        }
    }

    async fn shut_down(mut self) {
        self.workers.shut_down().await;
        self.executor.engine().settle().await;
        self.reap().await;
        self.heard("close the attempts that were given up", self.store.close_all_running(self.now()).await.map(drop));
    }

    fn heard(&self, what: &str, outcome: Result<(), StoreError>) {
        if let Err(error) = outcome {
            tracing::error!(error = whole(&error), what, "the store could not do it; it will be tried again");
        }
    }
}

/// Waits so long; for ever where nothing is due.
async fn come(due: Option<Duration>) {
    match due {
        Some(due) => tokio::time::sleep(due).await,
        None => std::future::pending().await,
    }
}

/// An error with its causes.
fn whole(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
