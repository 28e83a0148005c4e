//! Who waits for a commit: live pages for an evaluation's events, the scheduler for work, the leaderboard for ends. Level-triggered, so that nobody misses one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::id::{EvaluationId, EventId};
use tokio::sync::watch;

use crate::Store;

pub(crate) struct Wakes {
    evaluations: Mutex<HashMap<EvaluationId, watch::Sender<EventId>>>,
    queue: watch::Sender<u64>,
    finished: watch::Sender<u64>,
}

impl Default for Wakes {
    fn default() -> Self {
        Self { evaluations: Mutex::default(), queue: watch::Sender::new(0), finished: watch::Sender::new(0) }
    }
}

impl Wakes {
    pub(crate) fn events(&self, evaluation: EvaluationId, last: EventId) {
        let mut waiting = self.evaluations.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, sender| sender.receiver_count() > 0);
        if let Some(sender) = waiting.get(&evaluation) {
            sender.send_modify(|seen| *seen = last.max(*seen));
        }
    }

    pub(crate) fn queue(&self) {
        self.queue.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    pub(crate) fn finish(&self) {
        self.finished.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    pub(crate) fn finished(&self) -> watch::Receiver<u64> {
        self.finished.subscribe()
    }

    fn subscribe(&self, evaluation: EvaluationId) -> watch::Receiver<EventId> {
        let mut waiting = self.evaluations.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.entry(evaluation).or_insert_with(|| watch::Sender::new(EventId(0))).subscribe()
    }
}

impl Store {
    /// Wakes whenever an event of the evaluation was committed; the value is an id that its newest event does
    /// not exceed (0 = none since the first subscriber came).
    /// Subscribe first, then read [`Store::events_after`], then await `changed()`, and nothing is missed.
    #[must_use]
    pub fn subscribe(&self, evaluation: EvaluationId) -> watch::Receiver<EventId> {
        self.inner.wakes.subscribe(evaluation)
    }

    /// Wakes whenever there may be something for the scheduler: a trial was queued, freed a place or was cancelled. The value has no meaning.
    #[must_use]
    pub fn subscribe_queue(&self) -> watch::Receiver<u64> {
        self.inner.wakes.queue.subscribe()
    }
}
