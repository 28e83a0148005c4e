//! What a status page shows of the store.

use crate::Store;
use crate::error::{Result, StoreError};

/// The store at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Skills of all owners.
    pub skills: i64,
    /// Task versions.
    pub tasks: i64,
    /// Evaluations.
    pub evaluations: i64,
    /// Trials that wait.
    pub queued: i64,
    /// Trials that run.
    pub running: i64,
    /// Attempts, ended or not.
    pub attempts: i64,
    /// Events kept.
    pub events: i64,
    /// Bytes of the database file.
    pub database_bytes: u64,
    /// Bytes of its write-ahead log.
    pub log_bytes: u64,
    /// Reading connections in use, this one not counted.
    pub readers_in_use: u32,
    /// Reading connections there may be.
    pub readers: u32,
    /// Whether a write is under way.
    pub writer_in_use: bool,
}

impl Store {
    /// Counts and sizes.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if pages have used up the readers; [`StoreError::Io`].
    pub async fn health(&self) -> Result<Health> {
        let (readers_in_use, readers) = self.inner.pools.readers_in_use();
        let writer_in_use = self.inner.pools.writer_in_use();
        let (skills, tasks, evaluations, queued, running, attempts, events) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM skills), (SELECT count(*) FROM tasks), (SELECT count(*) FROM evaluations), \
             (SELECT count(*) FROM trials WHERE state = 'queued'), \
             (SELECT count(*) FROM trials WHERE attempt_id IS NOT NULL), \
             (SELECT count(*) FROM attempts), (SELECT count(*) FROM events)",
        )
        .fetch_one(self.reader())
        .await?;
        let database = self.dir().database();
        let database_bytes = tokio::fs::metadata(&database).await.map_err(StoreError::io("look at", &database))?.len();
        // The log is not there while nothing was written since the last clean end.
        let log = tokio::fs::metadata(database.with_extension("sqlite-wal")).await;
        Ok(Health {
            skills,
            tasks,
            evaluations,
            queued,
            running,
            attempts,
            events,
            database_bytes,
            log_bytes: log.map_or(0, |log| log.len()),
            readers_in_use,
            readers,
            writer_in_use,
        })
    }
}
