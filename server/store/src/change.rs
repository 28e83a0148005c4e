//! One write: a transaction, and whom to wake once it is committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::{EvaluationId, EventId};
use domain::trial::RetryWait;
use sqlx::{Sqlite, SqliteConnection, Transaction};

use crate::error::Result;
use crate::wakes::Wakes;

/// Rolled back if dropped before [`Change::commit`].
pub(crate) struct Change {
    tx: Transaction<'static, Sqlite>,
    wakes: Arc<Wakes>,
    retry_wait: RetryWait,
    events: BTreeMap<EvaluationId, EventId>,
    queue: bool,
    finished: bool,
}

impl Change {
    pub(crate) fn new(tx: Transaction<'static, Sqlite>, wakes: Arc<Wakes>, retry_wait: RetryWait) -> Self {
        Self { tx, wakes, retry_wait, events: BTreeMap::new(), queue: false, finished: false }
    }

    pub(crate) fn db(&mut self) -> &mut SqliteConnection {
        &mut self.tx
    }

    /// How long trials wait that come to trouble in it.
    pub(crate) const fn retry_wait(&self) -> RetryWait {
        self.retry_wait
    }

    /// Has the evaluation's readers woken after the commit.
    pub(crate) fn wake_events(&mut self, evaluation: EvaluationId, event: EventId) {
        self.events.insert(evaluation, event);
    }

    /// Has the scheduler woken after the commit.
    pub(crate) fn wake_queue(&mut self) {
        self.queue = true;
    }

    /// Has the leaderboard brought up to date after the commit.
    pub(crate) fn wake_finished(&mut self) {
        self.finished = true;
    }

    pub(crate) async fn commit(self) -> Result<()> {
        self.tx.commit().await?;
        for (evaluation, event) in self.events {
            self.wakes.events(evaluation, event);
        }
        if self.queue {
            self.wakes.queue();
        }
        if self.finished {
            self.wakes.finish();
        }
        Ok(())
    }
}
