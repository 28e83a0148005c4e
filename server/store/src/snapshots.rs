//! Published snapshots of the leaderboard: a row each, whose document is a blob. They are added and read, never changed or removed; triggers see to
//! it.

use domain::hash::ContentHash;
use domain::id::SnapshotId;
use domain::leaderboard::PublishedSnapshot;
use domain::time::Timestamp;
use sqlx::FromRow;

use crate::Store;
use crate::codec::{to_hash, to_u32};
use crate::error::{Result, StoreError};

#[derive(FromRow)]
struct RawSnapshot {
    id: i64,
    hash: String,
    rows: i64,
    published_at: i64,
}

impl TryFrom<RawSnapshot> for PublishedSnapshot {
    type Error = StoreError;

    fn try_from(raw: RawSnapshot) -> Result<Self> {
        Ok(Self {
            id: SnapshotId(raw.id),
            hash: to_hash("published_snapshots.hash", &raw.hash)?,
            rows: to_u32("published_snapshots.rows", raw.rows)?,
            at: Timestamp(raw.published_at),
        })
    }
}

impl Store {
    /// Notes a document of so many rows, which is in the blob store already, as published. One that was published before keeps its number and
    /// date. Answers whether it was new.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn put_snapshot(&self, hash: ContentHash, rows: u32, at: Timestamp) -> Result<(PublishedSnapshot, bool)> {
        let mut change = self.change().await?;
        let done = sqlx::query(
            "INSERT INTO published_snapshots (hash, rows, published_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING",
        )
        .bind(hash.to_hex())
        .bind(rows)
        .bind(at.0)
        .execute(change.db())
        .await?;
        let is_new = done.rows_affected() > 0;
        let raw: RawSnapshot =
            sqlx::query_as("SELECT id, hash, rows, published_at FROM published_snapshots WHERE hash = $1")
                .bind(hash.to_hex())
                .fetch_one(change.db())
                .await?;
        change.commit().await?;
        Ok((raw.try_into()?, is_new))
    }

    /// All of them, newest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn snapshots(&self) -> Result<Vec<PublishedSnapshot>> {
        let rows: Vec<RawSnapshot> =
            sqlx::query_as("SELECT id, hash, rows, published_at FROM published_snapshots ORDER BY id DESC")
                .fetch_all(self.reader())
                .await?;
        rows.into_iter().map(PublishedSnapshot::try_from).collect()
    }

    /// One of them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn snapshot(&self, id: SnapshotId) -> Result<PublishedSnapshot> {
        let raw: Option<RawSnapshot> =
            sqlx::query_as("SELECT id, hash, rows, published_at FROM published_snapshots WHERE id = $1")
                .bind(id.0)
                .fetch_optional(self.reader())
                .await?;
        raw.ok_or_else(|| StoreError::not_found("published snapshot", id))?.try_into()
    }
}
