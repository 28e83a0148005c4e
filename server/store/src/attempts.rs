//! Attempts: append-only. What was decided about one never changes; what its executor reports after that is kept as evidence.

use std::collections::HashMap;

use domain::attempt::AttemptResult;
use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::spending::Spending;
use domain::time::Timestamp;
use domain::verdict::Verdict;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row, SqliteConnection};

use crate::Store;
use crate::codec::{check_range, from_optional_json, to_json, to_u32};
use crate::error::{Result, StoreError};

/// An attempt at a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// Its id.
    pub id: AttemptId,
    /// The trial it is a try at.
    pub trial: TrialId,
    /// From 1.
    pub number: u32,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When it was closed; `None` while it runs.
    pub ended_at: Option<Timestamp>,
    /// What was decided; `None` while it runs.
    pub verdict: Option<Verdict>,
    /// What its executor reported, with the verdict that was decided; `None` while it runs and after an end that nobody reported
    /// (the server was killed, the lease ran out).
    pub result: Option<AttemptResult>,
    /// What it had told of its spending before an end that nobody reported; `None` where it told nothing, or a result is there.
    pub told: Option<Spending>,
}

#[derive(FromRow)]
struct RawAttempt {
    a_id: i64,
    a_trial_id: i64,
    a_number: i64,
    a_started_at: i64,
    a_ended_at: Option<i64>,
    a_verdict: Option<String>,
    a_result: Option<String>,
    #[sqlx(default)]
    a_told: Option<String>,
}

impl TryFrom<RawAttempt> for AttemptRow {
    type Error = StoreError;

    fn try_from(raw: RawAttempt) -> Result<Self> {
        Ok(Self {
            id: AttemptId(raw.a_id),
            trial: TrialId(raw.a_trial_id),
            number: to_u32("attempts.number", raw.a_number)?,
            started_at: Timestamp(raw.a_started_at),
            ended_at: raw.a_ended_at.map(Timestamp),
            verdict: from_optional_json("attempts.verdict", raw.a_verdict.as_deref())?,
            result: from_optional_json("attempts.result", raw.a_result.as_deref())?,
            told: from_optional_json("events.body", raw.a_told.as_deref())?,
        })
    }
}

/// Reads the attempt of a row in which trials were left-joined with attempts.
pub(crate) fn from_joined(row: &SqliteRow) -> Result<Option<AttemptRow>> {
    match row.try_get::<Option<i64>, _>("a_id")? {
        Some(_) => Ok(Some(RawAttempt::from_row(row)?.try_into()?)),
        None => Ok(None),
    }
}

macro_rules! select_attempts {
    ($rest:literal) => {
        concat!(
            "SELECT id AS a_id, trial_id AS a_trial_id, number AS a_number, started_at AS a_started_at, \
             ended_at AS a_ended_at, verdict AS a_verdict, result AS a_result, \
             CASE WHEN result IS NULL AND ended_at IS NOT NULL THEN (SELECT e.body -> '$.spent' FROM events e \
             WHERE e.attempt_id = attempts.id AND e.kind = 'spent' ORDER BY e.id DESC LIMIT 1) END AS a_told FROM attempts ",
            $rest
        )
    };
}

impl Store {
    /// The attempts at a trial, first one first; empty if there is no such trial.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn attempts(&self, trial: TrialId) -> Result<Vec<AttemptRow>> {
        let rows: Vec<RawAttempt> = sqlx::query_as(select_attempts!("WHERE trial_id = $1 ORDER BY number"))
            .bind(trial.0)
            .fetch_all(self.reader())
            .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The attempts at all trials of an evaluation, first one first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn attempts_of(&self, evaluation: EvaluationId) -> Result<HashMap<TrialId, Vec<AttemptRow>>> {
        let rows: Vec<RawAttempt> = sqlx::query_as(select_attempts!(
            "WHERE trial_id IN (SELECT t.id FROM trials t WHERE t.evaluation_id = $1) ORDER BY trial_id, number"
        ))
        .bind(evaluation.0)
        .fetch_all(self.reader())
        .await?;
        let mut attempts: HashMap<TrialId, Vec<AttemptRow>> = HashMap::new();
        for raw in rows {
            let attempt = AttemptRow::try_from(raw)?;
            attempts.entry(attempt.trial).or_default().push(attempt);
        }
        Ok(attempts)
    }

    /// When the last attempt in each image ended, by the image's id; those that told their image.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn images_used(&self) -> Result<Vec<(String, Timestamp)>> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            // What an attempt left behind is stored with its end.
            "SELECT image, max(ended_at) FROM attempts WHERE image IS NOT NULL GROUP BY image",
        )
        .fetch_all(self.reader())
        .await?;
        Ok(rows.into_iter().map(|(image, at)| (image, Timestamp(at))).collect())
    }

    /// One attempt.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn attempt(&self, id: AttemptId) -> Result<AttemptRow> {
        let row: Option<RawAttempt> =
            sqlx::query_as(select_attempts!("WHERE id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("attempt", id))?.try_into()
    }
}

/// Opens the next attempt at a trial.
pub(crate) async fn open(db: &mut SqliteConnection, trial: TrialId, number: u32, at: Timestamp) -> Result<AttemptId> {
    let id = sqlx::query_scalar("INSERT INTO attempts (trial_id, number, started_at) VALUES ($1, $2, $3) RETURNING id")
        .bind(trial.0)
        .bind(number)
        .bind(at.0)
        .fetch_one(db)
        .await?;
    Ok(AttemptId(id))
}

/// Decides an attempt. One that is decided stays as it is.
pub(crate) async fn close(db: &mut SqliteConnection, id: AttemptId, verdict: &Verdict, at: Timestamp) -> Result<()> {
    sqlx::query("UPDATE attempts SET ended_at = $2, verdict = $3 WHERE id = $1 AND ended_at IS NULL")
        .bind(id.0)
        .bind(at.0)
        .bind(to_json("verdict", verdict)?)
        .execute(db)
        .await?;
    Ok(())
}

/// Refuses numbers that no attempt can have.
pub(crate) fn check(result: &AttemptResult) -> Result<()> {
    result.reward.map_or(Ok(()), |reward| check_range("a reward of", reward, 0.0..=1.0))
}

/// Keeps what the executor of a decided attempt reported, once. A report that differs from what was decided (it came after a cancel, or after the
/// lease was over) is kept with the verdict that was decided: its trace and tokens are evidence and expense.
pub(crate) async fn report(db: &mut SqliteConnection, id: AttemptId, result: &AttemptResult) -> Result<()> {
    let decided: Option<Option<String>> =
        sqlx::query_scalar("SELECT verdict FROM attempts WHERE id = $1 AND result IS NULL AND ended_at IS NOT NULL")
            .bind(id.0)
            .fetch_optional(&mut *db)
            .await?;
    let Some(verdict) = from_optional_json("attempts.verdict", decided.flatten().as_deref())? else { return Ok(()) };
    let result = AttemptResult { verdict, ..result.clone() };
    // More tokens than SQLite can count are no count.
    let tokens = |class: Option<u64>| class.and_then(|tokens| i64::try_from(tokens).ok());
    sqlx::query(
        "UPDATE attempts SET result = $2, reward = $3, tokens_input = $4, tokens_cache_read = $5, \
         tokens_cache_write = $6, tokens_output = $7 WHERE id = $1",
    )
    .bind(id.0)
    .bind(to_json("attempt result", &result)?)
    .bind(result.reward)
    .bind(tokens(result.usage.input))
    .bind(tokens(result.usage.cache_read))
    .bind(tokens(result.usage.cache_write))
    .bind(tokens(result.usage.output))
    .execute(db)
    .await?;
    Ok(())
}
