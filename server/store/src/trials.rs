//! Trials as rows. How their state changes lies in `steps`.

use std::collections::HashMap;

use domain::attempt::{PhaseTimes, WorkspacePatch};
use domain::condition::Condition;
use domain::id::{AttemptId, EvaluationId, TaskId, TrialId};
use domain::plan::EvaluationPlan;
use domain::skill_audit::Activation;
use domain::time::Timestamp;
use domain::trial::{Allowance, Phase, TrialState};
use domain::usage::TokenUsage;
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, SqliteConnection};

use crate::attempts;
use crate::codec::{from_json, from_optional_json, readable, to_condition, to_json, to_u32, unreadable};
use crate::error::{Result, StoreError};
use crate::{AttemptRow, Store};

/// A trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRow {
    /// Its id.
    pub id: TrialId,
    /// The evaluation it belongs to.
    pub evaluation: EvaluationId,
    /// Place in the order in which trials start, from 0. The two trials of a pair stand side by side.
    pub position: u32,
    /// The task.
    pub task: TaskId,
    /// The arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// Where it stands.
    pub state: TrialState,
    /// Raised by 1 with every change of the state.
    pub revision: i64,
    pub(crate) allowance: Allowance,
}

#[derive(FromRow)]
pub(crate) struct RawTrial {
    id: i64,
    evaluation_id: i64,
    position: i64,
    task_id: i64,
    condition: String,
    repeat: i64,
    state: String,
    attempts: i64,
    attempt_id: Option<i64>,
    since: Option<i64>,
    lease_until: Option<i64>,
    not_before: Option<i64>,
    verdict: Option<String>,
    finished_at: Option<i64>,
    revision: i64,
    max_attempts: i64,
    interrupted: i64,
}

impl RawTrial {
    fn state(&self) -> Result<TrialState> {
        let attempts = to_u32("trials.attempts", self.attempts)?;
        let running = |phase| {
            let (Some(attempt), Some(since), Some(lease)) = (self.attempt_id, self.since, self.lease_until) else {
                return Err(unreadable("trials.attempt_id", "NULL", None));
            };
            let (attempt, since, lease_until) = (AttemptId(attempt), Timestamp(since), Timestamp(lease));
            Ok(TrialState::Running { attempts, attempt, phase, since, lease_until })
        };
        match (self.state.as_str(), &self.verdict, self.finished_at) {
            ("queued", ..) => Ok(TrialState::Queued { attempts, not_before: self.not_before.map(Timestamp) }),
            ("preparing", ..) => running(Phase::Preparing),
            ("agent", ..) => running(Phase::Agent),
            ("verifying", ..) => running(Phase::Verifying),
            ("finished", Some(verdict), Some(at)) => {
                Ok(TrialState::Finished { attempts, verdict: from_json("trials.verdict", verdict)?, at: Timestamp(at) })
            }
            (other, ..) => Err(unreadable("trials.state", other, None)),
        }
    }
}

impl TryFrom<RawTrial> for TrialRow {
    type Error = StoreError;

    fn try_from(raw: RawTrial) -> Result<Self> {
        Ok(Self {
            id: TrialId(raw.id),
            evaluation: EvaluationId(raw.evaluation_id),
            position: to_u32("trials.position", raw.position)?,
            task: TaskId(raw.task_id),
            condition: to_condition("trials.condition", &raw.condition)?,
            repeat: to_u32("trials.repeat", raw.repeat)?,
            state: raw.state()?,
            revision: raw.revision,
            allowance: Allowance {
                max_attempts: to_u32("evaluations.max_attempts", raw.max_attempts)?,
                interrupted: to_u32("trials.interrupted", raw.interrupted)?,
            },
        })
    }
}

macro_rules! select_trials {
    ($columns:literal, $rest:expr) => {
        concat!(
            "SELECT t.id, t.evaluation_id, t.position, t.task_id, t.condition, t.repeat, t.state, t.attempts, \
             t.attempt_id, t.since, t.lease_until, t.not_before, t.verdict, t.finished_at, t.revision, e.max_attempts, \
             (SELECT count(*) FROM attempts i WHERE i.trial_id = t.id AND i.verdict ->> '$.class' = 'interrupted') AS interrupted",
            $columns,
            " FROM trials t JOIN evaluations e ON e.id = t.evaluation_id ",
            $rest
        )
    };
}
pub(crate) use select_trials;

/// Each with its last attempt.
macro_rules! select_results {
    ($rest:literal) => {
        select_trials!(
            ", a.id AS a_id, a.trial_id AS a_trial_id, a.number AS a_number, a.started_at AS a_started_at, \
             a.ended_at AS a_ended_at, a.verdict AS a_verdict, a.result AS a_result",
            concat!(
                "LEFT JOIN attempts a ON a.trial_id = t.id \
                 AND a.number = (SELECT max(o.number) FROM attempts o WHERE o.trial_id = t.id) ",
                $rest
            )
        )
    };
}

fn with_attempt(row: &SqliteRow) -> Result<(TrialRow, Option<AttemptRow>)> {
    Ok((RawTrial::from_row(row)?.try_into()?, attempts::from_joined(row)?))
}

/// What an attempt took, and how it used the skill: a part of what it left behind.
#[derive(Deserialize)]
pub(crate) struct Taken {
    pub(crate) activation: Activation,
    pub(crate) usage: TokenUsage,
    pub(crate) phases: PhaseTimes,
}

impl Store {
    /// The trials of an evaluation in their order; empty if there is no such evaluation.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn trials(&self, evaluation: EvaluationId) -> Result<Vec<TrialRow>> {
        let rows: Vec<RawTrial> = sqlx::query_as(select_trials!("", "WHERE t.evaluation_id = $1 ORDER BY t.position"))
            .bind(evaluation.0)
            .fetch_all(self.reader())
            .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// One trial.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn trial(&self, id: TrialId) -> Result<TrialRow> {
        let row: Option<RawTrial> =
            sqlx::query_as(select_trials!("", "WHERE t.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("trial", id))?.try_into()
    }

    /// The trials of an evaluation in their order, each with its last attempt, which is the one that counts.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn results(&self, evaluation: EvaluationId) -> Result<Vec<(TrialRow, Option<AttemptRow>)>> {
        let rows = sqlx::query(select_results!("WHERE t.evaluation_id = $1 ORDER BY t.position"))
            .bind(evaluation.0)
            .fetch_all(self.reader())
            .await?;
        rows.iter().map(with_attempt).collect()
    }

    /// Those of these tasks alone.
    pub(crate) async fn results_of(
        &self,
        evaluation: EvaluationId,
        tasks: &[TaskId],
    ) -> Result<Vec<(TrialRow, Option<AttemptRow>)>> {
        let rows = sqlx::query(select_results!(
            "WHERE t.evaluation_id = $1 AND t.task_id IN (SELECT m.value FROM json_each($2) m) ORDER BY t.position"
        ))
        .bind(evaluation.0)
        .bind(to_json("tasks", tasks)?)
        .fetch_all(self.reader())
        .await?;
        rows.iter().map(with_attempt).collect()
    }

    /// What the agent of a trial's last attempt changed in its working folder; `None` where nobody looked, and where the evaluation has no such
    /// trial.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn patch(&self, evaluation: EvaluationId, trial: TrialId) -> Result<Option<WorkspacePatch>> {
        let patch: Option<Option<String>> = sqlx::query_scalar(
            "SELECT a.result -> '$.patch' FROM trials t JOIN attempts a ON a.trial_id = t.id \
             WHERE t.id = $1 AND t.evaluation_id = $2 ORDER BY a.number DESC LIMIT 1",
        )
        .bind(trial.0)
        .bind(evaluation.0)
        .fetch_optional(self.reader())
        .await?;
        from_optional_json("attempts.result", patch.flatten().as_deref())
    }

    /// How the last attempts of an evaluation's with-skill trials used the skill; those alone whose agent is known not to have listed it to its
    /// model. They are few and have an index, which is named since nothing tells SQLite so.
    pub(crate) async fn unlisted(&self, evaluation: EvaluationId) -> Result<HashMap<TrialId, Activation>> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT t.id, a.result -> '$.activation' FROM trials t JOIN attempts a INDEXED BY attempts_unlisted \
             ON a.trial_id = t.id AND a.number = (SELECT max(o.number) FROM attempts o WHERE o.trial_id = t.id) \
             WHERE t.evaluation_id = $1 AND t.condition = 'with-skill' AND a.result ->> '$.activation.listed' = 0",
        )
        .bind(evaluation.0)
        .fetch_all(self.reader())
        .await?;
        rows.into_iter().map(|(id, text)| Ok((TrialId(id), from_json("attempts.result", &text)?))).collect()
    }

    /// What the last attempts of an evaluation took; those that were reported alone.
    pub(crate) async fn taken(&self, evaluation: EvaluationId) -> Result<HashMap<TrialId, Taken>> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT t.id, json_object('activation', a.result -> '$.activation', 'usage', a.result -> '$.usage', \
             'phases', a.result -> '$.phases') FROM trials t JOIN attempts a ON a.trial_id = t.id \
             AND a.number = (SELECT max(o.number) FROM attempts o WHERE o.trial_id = t.id) \
             WHERE t.evaluation_id = $1 AND a.result IS NOT NULL",
        )
        .bind(evaluation.0)
        .fetch_all(self.reader())
        .await?;
        rows.into_iter().map(|(id, text)| Ok((TrialId(id), from_json("attempts.result", &text)?))).collect()
    }
}

/// Makes all trials of a plan with one statement, so that a large plan does not hold up other writers.
pub(crate) async fn insert_all(db: &mut SqliteConnection, id: EvaluationId, plan: &EvaluationPlan) -> Result<()> {
    let order = plan.order();
    let rows: Vec<_> =
        order.iter().filter_map(|slot| Some((plan.tasks.get(slot.task)?.id, slot.condition, slot.repeat))).collect();
    sqlx::query(
        "INSERT INTO trials (evaluation_id, position, task_id, condition, repeat, state, attempts, revision) \
         SELECT $1, s.key, s.value ->> 0, s.value ->> 1, s.value ->> 2, 'queued', 0, 0 FROM json_each($2) s",
    )
    .bind(id.0)
    .bind(to_json("trials", &rows)?)
    .execute(db)
    .await?;
    Ok(())
}

/// The trials of an evaluation that are not finished, in their order.
pub(crate) async fn unfinished(db: &mut SqliteConnection, evaluation: EvaluationId) -> Result<Vec<TrialRow>> {
    let rows: Vec<RawTrial> =
        sqlx::query_as(select_trials!("", "WHERE t.evaluation_id = $1 AND t.state <> 'finished' ORDER BY t.position"))
            .bind(evaluation.0)
            .fetch_all(db)
            .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// All trials that are under way, oldest evaluation first; what cannot be read is left out.
pub(crate) async fn running(db: &mut SqliteConnection) -> Result<Vec<TrialRow>> {
    let rows: Vec<RawTrial> =
        sqlx::query_as(select_trials!("", "WHERE t.attempt_id IS NOT NULL ORDER BY t.evaluation_id, t.position"))
            .fetch_all(db)
            .await?;
    Ok(readable("trial", rows, |raw| raw.id))
}

/// The trial of an attempt, whether or not the attempt is still the one that runs.
pub(crate) async fn of_attempt(db: &mut SqliteConnection, attempt: AttemptId) -> Result<Option<TrialRow>> {
    let row: Option<RawTrial> =
        sqlx::query_as(select_trials!("", "WHERE t.id = (SELECT a.trial_id FROM attempts a WHERE a.id = $1)"))
            .bind(attempt.0)
            .fetch_optional(db)
            .await?;
    row.map(TryInto::try_into).transpose()
}
