//! The leaderboard: rows pooled from finished evaluations, brought up to date where they are asked for, and held in memory as one snapshot that
//! every view is cut from. Stored rows are a cache of what pooling gives; nothing else reads them.

mod pool;
mod rows;

use std::sync::{Arc, PoisonError, RwLock};

use domain::leaderboard::{RowRecord, Snapshot};
pub(crate) use rows::{forget, forget_set};
use tokio::sync::{Mutex, watch};

use crate::Store;
use crate::error::{Result, StoreError};

/// What is held in memory.
#[derive(Default)]
pub(crate) struct Board {
    held: RwLock<Option<Held>>,
    /// Whoever holds it brings the rows up to date; others wait and find it done.
    work: Mutex<()>,
}

#[derive(Clone)]
struct Held {
    /// How often an evaluation had been finished or removed when it was begun.
    changes: u64,
    snapshot: Arc<Snapshot>,
}

impl Store {
    /// All rows, with every finished evaluation in them. Fast where nothing was finished since the last call; else the new ones are pooled first,
    /// which takes as long as reading their trials. A caller who goes away leaves what was done so far.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`], [`StoreError::Unreadable`].
    pub async fn leaderboard(&self) -> Result<Arc<Snapshot>> {
        if let Some(held) = self.fresh() {
            return Ok(held);
        }
        let _working = self.inner.board.work.lock().await;
        if let Some(held) = self.fresh() {
            return Ok(held);
        }
        let changes = *self.inner.wakes.finished().borrow();
        self.pool_finished().await?;
        self.hold(changes).await
    }

    /// All rows as they were last made, and how many finished evaluations are in none yet.
    ///
    /// # Errors
    /// As [`Store::leaderboard`].
    pub async fn leaderboard_so_far(&self) -> Result<(Arc<Snapshot>, u32)> {
        let waiting = self.waiting().await?;
        let held = self.held();
        let snapshot = match held {
            Some(held) => held.snapshot,
            // Not marked as fresh: the next caller brings in what waits.
            None => self.read_snapshot().await?,
        };
        Ok((snapshot, waiting))
    }

    /// Wakes whenever an evaluation was finished, imported or removed. The value has no meaning.
    #[must_use]
    pub fn subscribe_finished(&self) -> watch::Receiver<u64> {
        self.inner.wakes.finished()
    }

    fn held(&self) -> Option<Held> {
        self.inner.board.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fresh(&self) -> Option<Arc<Snapshot>> {
        let changes = *self.inner.wakes.finished().borrow();
        self.held().filter(|held| held.changes == changes).map(|held| held.snapshot)
    }

    async fn hold(&self, changes: u64) -> Result<Arc<Snapshot>> {
        let snapshot = self.read_snapshot().await?;
        let held = Held { changes, snapshot: Arc::clone(&snapshot) };
        *self.inner.board.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held);
        Ok(snapshot)
    }

    /// Thousands of rows are read and judged away from the threads that answer.
    async fn read_snapshot(&self) -> Result<Arc<Snapshot>> {
        let texts = self.row_texts().await?;
        let made = tokio::task::spawn_blocking(move || {
            let rows: Vec<RowRecord> = texts.iter().filter_map(|text| rows::read(text)).collect();
            Arc::new(Snapshot::of(rows, String::new()))
        });
        made.await.map_err(|_| StoreError::Closed)
    }
}
