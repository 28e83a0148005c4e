//! Evaluations that others ran. Each has a row among the evaluations, finished from its first instant, and its trials in a table of their own,
//! where neither the queue nor any count over trials looks.

use domain::history::TrialHistory;
use domain::id::EvaluationId;
use domain::imported::Imported;
use domain::plan::EvaluationPlan;
use domain::stop::Stopped;
use domain::time::Timestamp;
use sqlx::SqliteConnection;

use crate::Store;
use crate::attempts;
use crate::codec::{from_json, to_json};
use crate::error::{Result, StoreError};
use crate::evaluations;

impl Store {
    /// Stores an evaluation that others ran; `place` tells several of one source apart. `false` = it was stored before, and stays as it is.
    /// The files that its attempts name should be in the blob store already; ids in the plan and the trials are not looked up.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the plan is empty, a number makes no sense, or a trial is not finished; [`StoreError::Busy`],
    /// [`StoreError::DiskFull`].
    pub async fn put_imported(
        &self,
        plan: &EvaluationPlan,
        trials: &[TrialHistory],
        imported: &Imported,
        place: u32,
        created_at: Timestamp,
        stopped: Option<Stopped>,
    ) -> Result<(EvaluationId, bool)> {
        evaluations::check(plan)?;
        trials.iter().try_for_each(check)?;
        let mut change = self.change().await?;
        if let Some(id) = find(change.db(), imported, place).await? {
            return Ok((id, false));
        }
        // No own plan has such a key, so none is ever answered with what others ran.
        let key = format!("imported:{}:{place}", imported.hash);
        let id = evaluations::insert(change.db(), plan, &key, created_at).await?;
        sqlx::query("UPDATE evaluations SET started_at = $2, finished_at = $3, stopped = $4 WHERE id = $1")
            .bind(id.0)
            .bind(created_at.0)
            .bind(imported.at.0)
            .bind(stopped.map(|stopped| to_json("stopped", &stopped)).transpose()?)
            .execute(change.db())
            .await?;
        sqlx::query(
            "INSERT INTO imported_evaluations (evaluation_id, hash, place, imported, trials) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(id.0)
        .bind(imported.hash.to_hex())
        .bind(place)
        .bind(to_json("imported", imported)?)
        .bind(to_json("trials", trials)?)
        .execute(change.db())
        .await?;
        change.wake_finished();
        change.commit().await?;
        Ok((id, true))
    }

    /// The trials of an imported evaluation, as they were stored; empty if it was not imported.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn imported_trials(&self, id: EvaluationId) -> Result<Vec<TrialHistory>> {
        let trials: Option<String> =
            sqlx::query_scalar("SELECT trials FROM imported_evaluations WHERE evaluation_id = $1")
                .bind(id.0)
                .fetch_optional(self.reader())
                .await?;
        trials.map_or(Ok(Vec::new()), |trials| from_json("imported_evaluations.trials", &trials))
    }
}

async fn find(db: &mut SqliteConnection, imported: &Imported, place: u32) -> Result<Option<EvaluationId>> {
    let id: Option<i64> =
        sqlx::query_scalar("SELECT evaluation_id FROM imported_evaluations WHERE hash = $1 AND place = $2")
            .bind(imported.hash.to_hex())
            .bind(place)
            .fetch_optional(db)
            .await?;
    Ok(id.map(EvaluationId))
}

/// What others ran is over, and carries only numbers that our own attempts could have.
fn check(trial: &TrialHistory) -> Result<()> {
    if trial.state.verdict().is_none() {
        return Err(StoreError::invalid("an imported trial", "it is not finished"));
    }
    trial.attempts.iter().filter_map(|attempt| attempt.result.as_ref()).try_for_each(attempts::check)
}
