//! Connections: one writer, a few readers. WAL, foreign keys and a busy time-out on each.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};

use crate::error::{Result, StoreError};

const READERS: u32 = 4;
/// Writers wait in one queue, so this is far above what a burst of short transactions needs.
const WRITE_WAIT: Duration = Duration::from_secs(30);
/// A page that is drawn while many others are has its connection late; that is no fault of the database.
const READ_WAIT: Duration = Duration::from_secs(10);
/// For other programs that look into the file, such as a backup; ours wait for a connection instead.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// The journal is cut back to this after a checkpoint, in bytes.
const JOURNAL_LIMIT: &str = "67108864";

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

pub(crate) struct Pools {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl Pools {
    pub(crate) async fn open(file: &Path) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(BUSY_WAIT)
            .pragma("journal_size_limit", JOURNAL_LIMIT);
        let writer = pool(1, WRITE_WAIT)
            .before_acquire(|writer, _| Box::pin(is_between_writes(writer)))
            .connect_with(options.clone())
            .await?;
        MIGRATIONS.run(&writer).await?;
        let reader = pool(READERS, READ_WAIT).connect_with(options.pragma("query_only", "ON")).await?;
        Ok(Self { writer, reader })
    }

    /// Looks at a database without changing it: whether SQLite finds it whole, and whether this program knows its form.
    pub(crate) async fn examine(file: &Path) -> Result<()> {
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(BUSY_WAIT).pragma("query_only", "ON");
        let mut database = SqliteConnection::connect_with(&options).await?;
        let first: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut database).await?;
        if first != "ok" {
            return Err(StoreError::DatabaseDamaged { first });
        }
        let applied: Vec<i64> =
            sqlx::query_scalar("SELECT version FROM _sqlx_migrations").fetch_all(&mut database).await?;
        database.close().await?;
        match applied.into_iter().find(|version| !MIGRATIONS.version_exists(*version)) {
            Some(version) => Err(StoreError::NewerDatabase { version }),
            None => Ok(()),
        }
    }

    /// Begins a write. IMMEDIATE, since a deferred transaction that reads first and writes later is refused at once, whatever the time-out.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }

    pub(crate) const fn reader(&self) -> &SqlitePool {
        &self.reader
    }

    /// Readers in use, and how many there may be.
    pub(crate) fn readers_in_use(&self) -> (u32, u32) {
        let idle = u32::try_from(self.reader.num_idle()).unwrap_or(u32::MAX);
        (self.reader.size().saturating_sub(idle), READERS)
    }

    pub(crate) async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    /// Starts the ids of the tables 10,000 apart.
    pub(crate) async fn spread_ids(&self) -> Result<()> {
        sqlx::query(
            "INSERT INTO sqlite_sequence (name, seq) \
             SELECT name, 10000 * row_number() OVER (ORDER BY name) FROM sqlite_schema \
             WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
        )
        .execute(&self.writer)
        .await?;
        Ok(())
    }
}

/// A full disk makes SQLite end a transaction by itself, which sqlx does not notice: it would refuse every later write on that connection. One
/// that seems to be within a transaction is therefore closed, and another made.
async fn is_between_writes(writer: &mut SqliteConnection) -> sqlx::Result<bool> {
    // A transaction that was dropped is rolled back before this is answered.
    writer.ping().await?;
    Ok(!writer.is_in_transaction())
}

fn pool(size: u32, wait: Duration) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(size)
        .min_connections(1)
        .acquire_timeout(wait)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn writes_go_on_once_a_full_disk_has_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let pools = Pools::open(&folder.path().join("x.sqlite")).await.unwrap();
        let write = async |bytes: u32| -> Result<()> {
            let mut tx = pools.begin().await?;
            sqlx::query("INSERT INTO campaigns (title, created_at) VALUES (hex(zeroblob($1)), 0)")
                .bind(bytes)
                .execute(&mut *tx)
                .await?;
            Ok(tx.commit().await?)
        };
        // The database may not grow on this connection: what a full disk says, without one.
        sqlx::query("PRAGMA max_page_count = 1").execute(&pools.writer).await.unwrap();
        let refused = write(1_000_000).await.unwrap_err();
        assert!(matches!(refused, StoreError::DiskFull { .. }), "{refused}");
        write(1_000_000).await.unwrap();
        let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM campaigns").fetch_one(pools.reader()).await.unwrap();
        assert_eq!(kept, 1);
    }
}
