//! The rows and members as they are stored.

use domain::id::EvaluationId;
use domain::leaderboard::RowRecord;
use sqlx::SqliteConnection;

use crate::Store;
use crate::codec::{from_json, to_json, to_u32};
use crate::error::Result;

/// To be raised whenever pooling gives something else for the same trials, or leaves out other evaluations: what was done by another number is
/// done anew at the next start.
const FORM: i64 = 5;
/// That of what could not be read, so that the next start looks at it again.
const NO_FORM: i64 = 0;

/// One that cannot be read is logged and left out, so that it does not hide all others.
pub(super) fn read(text: &str) -> Option<RowRecord> {
    let read = from_json("leaderboard_rows.record", text);
    read.map_err(|error| tracing::error!(%error, "a row of the leaderboard cannot be read")).ok()
}

/// A finished evaluation that is in no row yet.
#[derive(sqlx::FromRow)]
pub(super) struct Waiting {
    pub(super) id: i64,
    pub(super) plan: String,
    pub(super) is_imported: bool,
}

impl Store {
    /// Drops what another form of the arithmetic made, so that its evaluations wait again: those in rows, and those in none.
    pub(crate) async fn drop_old_rows(&self) -> Result<()> {
        let mut change = self.change().await?;
        sqlx::query(
            "DELETE FROM leaderboard_members WHERE form <> $1 \
             OR pool_key IN (SELECT pool_key FROM leaderboard_rows WHERE form <> $1)",
        )
        .bind(FORM)
        .execute(change.db())
        .await?;
        sqlx::query("DELETE FROM leaderboard_rows WHERE form <> $1").bind(FORM).execute(change.db()).await?;
        change.commit().await
    }

    pub(super) async fn row_texts(&self) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar("SELECT record FROM leaderboard_rows ORDER BY pool_key").fetch_all(self.reader()).await?)
    }

    /// How many finished evaluations are in no row yet.
    pub(super) async fn waiting(&self) -> Result<u32> {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM evaluations e WHERE e.finished_at IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM leaderboard_members m WHERE m.evaluation_id = e.id)",
        )
        .fetch_one(self.reader())
        .await?;
        to_u32("evaluations.waiting", waiting)
    }

    /// The first `limit` of them.
    pub(super) async fn first_waiting(&self, limit: u32) -> Result<Vec<Waiting>> {
        let rows = sqlx::query_as(
            "SELECT e.id, e.plan, \
             EXISTS (SELECT 1 FROM imported_evaluations i WHERE i.evaluation_id = e.id) AS is_imported \
             FROM evaluations e WHERE e.finished_at IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM leaderboard_members m WHERE m.evaluation_id = e.id) ORDER BY e.id LIMIT $1",
        )
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        Ok(rows)
    }

    pub(super) async fn members_of(&self, key: &str) -> Result<Vec<EvaluationId>> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT evaluation_id FROM leaderboard_members WHERE pool_key = $1 ORDER BY evaluation_id",
        )
        .bind(key)
        .fetch_all(self.reader())
        .await?;
        Ok(ids.into_iter().map(EvaluationId).collect())
    }

    /// Notes that these evaluations are in no row.
    pub(super) async fn leave_out(&self, evaluations: &[EvaluationId]) -> Result<()> {
        self.note(evaluations, FORM).await
    }

    /// The same until the next start, since they could not be read: another program may.
    pub(super) async fn leave_out_unread(&self, evaluations: &[EvaluationId]) -> Result<()> {
        self.note(evaluations, NO_FORM).await
    }

    async fn note(&self, evaluations: &[EvaluationId], form: i64) -> Result<()> {
        if evaluations.is_empty() {
            return Ok(());
        }
        let mut change = self.change().await?;
        for id in evaluations {
            put_member(change.db(), *id, None, form).await?;
        }
        change.commit().await
    }

    /// Removes a row that has nobody left in it.
    pub(super) async fn drop_row(&self, key: &str) -> Result<()> {
        let mut change = self.change().await?;
        sqlx::query("DELETE FROM leaderboard_rows WHERE pool_key = $1").bind(key).execute(change.db()).await?;
        change.commit().await
    }

    /// Stores a row and whose it is, together. `false` = one of its evaluations was removed meanwhile, and nothing was stored.
    pub(super) async fn put_row(&self, key: &str, members: &[EvaluationId], record: &RowRecord) -> Result<bool> {
        let mut change = self.change().await?;
        for id in members {
            if !put_member(change.db(), *id, Some(key), FORM).await? {
                return Ok(false);
            }
        }
        sqlx::query(
            "INSERT INTO leaderboard_rows (pool_key, form, record) VALUES ($1, $2, $3) \
             ON CONFLICT (pool_key) DO UPDATE SET form = excluded.form, record = excluded.record",
        )
        .bind(key)
        .bind(FORM)
        .bind(to_json("leaderboard row", record)?)
        .execute(change.db())
        .await?;
        change.commit().await?;
        Ok(true)
    }
}

async fn put_member(db: &mut SqliteConnection, id: EvaluationId, key: Option<&str>, form: i64) -> Result<bool> {
    let done = sqlx::query(
        "INSERT INTO leaderboard_members (evaluation_id, pool_key, form) \
         SELECT e.id, $2, $3 FROM evaluations e WHERE e.id = $1 \
         ON CONFLICT (evaluation_id) DO UPDATE SET pool_key = excluded.pool_key, form = excluded.form",
    )
    .bind(id.0)
    .bind(key)
    .bind(form)
    .execute(db)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Takes apart the row that holds an evaluation which is about to go, so that its other evaluations are pooled anew.
pub(crate) async fn forget(db: &mut SqliteConnection, evaluation: EvaluationId) -> Result<()> {
    let key: Option<Option<String>> =
        sqlx::query_scalar("SELECT pool_key FROM leaderboard_members WHERE evaluation_id = $1")
            .bind(evaluation.0)
            .fetch_optional(&mut *db)
            .await?;
    let Some(key) = key.flatten() else { return Ok(()) };
    for sql in
        ["DELETE FROM leaderboard_rows WHERE pool_key = $1", "DELETE FROM leaderboard_members WHERE pool_key = $1"]
    {
        sqlx::query(sql).bind(&key).execute(&mut *db).await?;
    }
    Ok(())
}

/// The same with every row over a task set of that name, whose number of tasks is about to change: a row says it.
pub(crate) async fn forget_set(db: &mut SqliteConnection, name: &str) -> Result<()> {
    sqlx::query(
        "DELETE FROM leaderboard_members WHERE pool_key IN \
         (SELECT pool_key FROM leaderboard_rows WHERE record ->> '$.task_set.name' = $1)",
    )
    .bind(name)
    .execute(&mut *db)
    .await?;
    sqlx::query("DELETE FROM leaderboard_rows WHERE record ->> '$.task_set.name' = $1").bind(name).execute(db).await?;
    Ok(())
}
