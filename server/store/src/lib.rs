//! Everything that is kept: SQLite rows by noun, and blobs as files named by their hash. The only crate that names sqlx.
//!
//! There is one writer connection, and every write is one short transaction that begins IMMEDIATE; nothing here waits for a container or a
//! network while it holds a connection. Time comes as an argument.

mod approvals;
mod attempts;
mod audits;
mod blobs;
mod campaigns;
mod change;
mod claims;
mod codec;
mod counts;
mod data_dir;
mod endings;
mod error;
mod evaluations;
mod events;
mod health;
mod imported;
mod leaderboard;
mod pool;
mod pruning;
mod records;
mod recovery;
mod skills;
mod snapshots;
mod steps;
mod task_sets;
mod tasks;
mod trials;
mod wakes;

use std::sync::Arc;

use domain::trial::RetryWait;

pub use approvals::AskingTask;
pub use attempts::AttemptRow;
pub use audits::AuditedTask;
pub use blobs::{BlobWriter, Blobs};
pub use campaigns::CampaignRow;
pub use claims::{Among, Claim, Claimed};
pub use counts::Counts;
pub use data_dir::DataDir;
pub use error::{Result, StoreError, among_others};
pub use evaluations::{EvaluationRow, TrialCounts};
pub use events::{Recorded, StoredEvent};
pub use health::Health;
pub use recovery::{ClosedAttempt, LiveAttempt};
pub use skills::{PutOutcome, SkillRow, SkillVersionRow, Wanted};
pub use steps::Moved;
pub use task_sets::TaskSetRow;
pub use tasks::{TaskRow, TaskSummary};
pub use trials::TrialRow;

use crate::change::Change;
use crate::leaderboard::Board;
use crate::pool::Pools;
use crate::wakes::Wakes;

/// The open data folder. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    retry_wait: RetryWait,
}

// Dropped in this order: connections before the lock of the folder, the folder of a test last.
struct Inner {
    pools: Pools,
    blobs: Blobs,
    wakes: Arc<Wakes>,
    board: Board,
    dir: DataDir,
    _temporary: Option<tempfile::TempDir>,
}

impl Store {
    /// Opens the database of a data folder, makes it if it is not there, and applies the migrations that are missing.
    ///
    /// # Errors
    /// [`StoreError::NewerDatabase`] if a newer program wrote it; [`StoreError::Migration`], [`StoreError::Io`] or
    /// [`StoreError::DiskFull`] if it cannot be made ready.
    pub async fn open(dir: &DataDir) -> Result<Self> {
        Self::open_with(dir.clone(), None).await
    }

    /// This store, with such a wait for trials that come to trouble through it and its clones; without, they are tried again at once.
    #[must_use]
    pub fn with_retry_wait(self, retry_wait: RetryWait) -> Self {
        Self { retry_wait, ..self }
    }

    /// Looks at the database of a data folder without changing it. One that is not there yet is in order.
    ///
    /// # Errors
    /// [`StoreError::DatabaseDamaged`], [`StoreError::NewerDatabase`], [`StoreError::Database`].
    pub async fn examine(dir: &DataDir) -> Result<()> {
        let file = dir.database();
        if file.exists() { Pools::examine(&file).await } else { Ok(()) }
    }

    /// A store in a fresh folder that goes away with the last clone. Ids of different nouns start 10,000 apart, so that a mix-up shows.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn temp() -> Result<Self> {
        let folder = tempfile::tempdir().map_err(StoreError::io("make a temporary folder", std::env::temp_dir()))?;
        let dir = DataDir::open(folder.path())?;
        let store = Self::open_with(dir, Some(folder)).await?;
        store.inner.pools.spread_ids().await?;
        Ok(store)
    }

    async fn open_with(dir: DataDir, temporary: Option<tempfile::TempDir>) -> Result<Self> {
        let blobs = Blobs::open(&dir.path().join("blobs"))?;
        let pools = Pools::open(&dir.database()).await?;
        let wakes = Arc::new(Wakes::default());
        let inner = Inner { pools, blobs, wakes, board: Board::default(), dir, _temporary: temporary };
        let store = Self { inner: Arc::new(inner), retry_wait: RetryWait::default() };
        store.drop_old_rows().await?;
        Ok(store)
    }

    /// The files that rows name by hash.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// The data folder.
    #[must_use]
    pub fn dir(&self) -> &DataDir {
        &self.inner.dir
    }

    /// Ends all connections, so that the database is one file without a journal. Later calls fail with [`StoreError::Closed`].
    pub async fn close(&self) {
        self.inner.pools.close().await;
    }

    fn reader(&self) -> &sqlx::SqlitePool {
        self.inner.pools.reader()
    }

    async fn change(&self) -> Result<Change> {
        Ok(Change::new(self.inner.pools.begin().await?, Arc::clone(&self.inner.wakes), self.retry_wait))
    }
}
