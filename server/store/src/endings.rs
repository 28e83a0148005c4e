//! How an evaluation ends before all of it was run: somebody cancels it, or a rule of its plan stops it.

use domain::id::{AttemptId, EvaluationId};
use domain::stop::Stopped;
use domain::time::Timestamp;
use domain::trial::{TrialInput, TrialState};

use crate::Store;
use crate::codec::to_json;
use crate::error::{Result, StoreError};
use crate::steps;
use crate::trials::{self, TrialRow};

impl Store {
    /// Stops an evaluation: every trial that is not finished becomes `cancelled` at once. Answers the attempts that were under way, whose
    /// containers are to be destroyed. Asking again does nothing more.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn request_cancel(&self, id: EvaluationId, at: Timestamp) -> Result<Vec<AttemptId>> {
        let mut change = self.change().await?;
        let done =
            sqlx::query("UPDATE evaluations SET cancel_requested_at = coalesce(cancel_requested_at, $2) WHERE id = $1")
                .bind(id.0)
                .bind(at.0)
                .execute(change.db())
                .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("evaluation", id));
        }
        let rows = trials::unfinished(change.db(), id).await?;
        let moved = steps::step_all(&mut change, &rows, at, |_| TrialInput::CancelRequested { at }).await?;
        change.wake_queue();
        change.commit().await?;
        let running = |row: &TrialRow| match row.state {
            TrialState::Running { attempt, .. } => Some(attempt),
            TrialState::Queued { .. } | TrialState::Finished { .. } => None,
        };
        Ok(moved.keys().filter_map(|place| running(rows.get(*place)?)).collect())
    }

    /// Ends an evaluation early: what waits becomes `cancelled`, what runs is let finish. The first reason stays; asking again cancels what has
    /// come back to the queue meanwhile. Answers how many trials were cancelled.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn stop_early(&self, id: EvaluationId, stopped: &Stopped, at: Timestamp) -> Result<usize> {
        let mut change = self.change().await?;
        let done = sqlx::query("UPDATE evaluations SET stopped = coalesce(stopped, $2) WHERE id = $1")
            .bind(id.0)
            .bind(to_json("stopped", stopped)?)
            .execute(change.db())
            .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("evaluation", id));
        }
        let mut rows = trials::unfinished(change.db(), id).await?;
        rows.retain(|row| matches!(row.state, TrialState::Queued { .. }));
        let moved = steps::step_all(&mut change, &rows, at, |_| TrialInput::CancelRequested { at }).await?;
        change.wake_queue();
        change.commit().await?;
        Ok(moved.len())
    }
}
