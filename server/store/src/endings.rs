//! How an evaluation ends before all of it was run: somebody cancels it, or it is stopped for a reason of its own.

use domain::condition::Condition;
use domain::id::{AttemptId, EvaluationId};
use domain::stop::Stopped;
use domain::time::Timestamp;
use domain::trial::{TrialInput, TrialState};
use domain::verdict::Verdict;
use sqlx::SqliteExecutor;

use crate::Store;
use crate::codec::{from_json, to_condition, to_json};
use crate::error::{Result, StoreError};
use crate::steps;
use crate::trials::{self, TrialRow};

impl Store {
    /// Stops an evaluation: every trial that is not finished becomes `cancelled` at once. Answers the attempts that were under way, whose
    /// containers are to be destroyed; `None` where it had come to its own end, which changes nothing. Asking again does nothing more.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn request_cancel(&self, id: EvaluationId, at: Timestamp) -> Result<Option<Vec<AttemptId>>> {
        let mut change = self.change().await?;
        let done = sqlx::query(
            "UPDATE evaluations SET cancel_requested_at = coalesce(cancel_requested_at, $2) \
             WHERE id = $1 AND (finished_at IS NULL OR cancel_requested_at IS NOT NULL)",
        )
        .bind(id.0)
        .bind(at.0)
        .execute(change.db())
        .await?;
        if done.rows_affected() == 0 {
            return is_finished(change.db(), id).await.map(|_| None);
        }
        let rows = trials::unfinished(change.db(), id).await?;
        let moved = steps::step_all(&mut change, &rows, at, |_| TrialInput::CancelRequested { at }).await?;
        change.wake_queue();
        change.commit().await?;
        let running = |row: &TrialRow| match row.state {
            TrialState::Running { attempt, .. } => Some(attempt),
            TrialState::Queued { .. } | TrialState::Finished { .. } => None,
        };
        Ok(Some(moved.keys().filter_map(|place| running(rows.get(*place)?)).collect()))
    }

    /// Ends an evaluation early: what waits becomes `cancelled`, what runs is let finish. The first reason stays; asking again cancels what has
    /// come back to the queue meanwhile. Answers how many trials were cancelled; where none waits, none is, and the evaluation is none that was
    /// ended early: all of its trials come to their end.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn stop_early(&self, id: EvaluationId, stopped: &Stopped, at: Timestamp) -> Result<usize> {
        let mut change = self.change().await?;
        if is_finished(change.db(), id).await? {
            return Ok(0);
        }
        let mut rows = trials::unfinished(change.db(), id).await?;
        rows.retain(|row| matches!(row.state, TrialState::Queued { .. }));
        if rows.is_empty() {
            return Ok(0);
        }
        sqlx::query("UPDATE evaluations SET stopped = coalesce(stopped, $2) WHERE id = $1")
            .bind(id.0)
            .bind(to_json("stopped", stopped)?)
            .execute(change.db())
            .await?;
        let moved = steps::step_all(&mut change, &rows, at, |_| TrialInput::CancelRequested { at }).await?;
        change.wake_queue();
        change.commit().await?;
        Ok(moved.len())
    }

    /// The arms and verdicts of an evaluation's trials that are decided, in the order of their ends.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn verdicts(&self, id: EvaluationId) -> Result<Vec<(Condition, Verdict)>> {
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT condition, verdict FROM trials WHERE evaluation_id = $1 AND state = 'finished' ORDER BY finished_at, id",
        )
        .bind(id.0)
        .fetch_all(self.reader())
        .await?;
        let read = |(condition, verdict): &(String, String)| {
            Ok((to_condition("trials.condition", condition)?, from_json("trials.verdict", verdict)?))
        };
        rows.iter().map(read).collect()
    }

    /// Whether all trials of an evaluation are decided.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`].
    pub async fn is_finished(&self, id: EvaluationId) -> Result<bool> {
        is_finished(self.reader(), id).await
    }
}

async fn is_finished(db: impl SqliteExecutor<'_>, id: EvaluationId) -> Result<bool> {
    let finished: Option<bool> = sqlx::query_scalar("SELECT finished_at IS NOT NULL FROM evaluations WHERE id = $1")
        .bind(id.0)
        .fetch_optional(db)
        .await?;
    finished.ok_or_else(|| StoreError::not_found("evaluation", id))
}
