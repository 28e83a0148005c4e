//! Claims: who runs what next. One short transaction picks a trial, opens its attempt and moves it, so that no trial is claimed twice.

use domain::comparison::Baseline;
use domain::condition::Pair;
use domain::id::{AttemptId, EvaluationId};
use domain::order::TrialOrder;
use domain::plan::{EvaluationPlan, PlanKind, SkillRef, Treatment};
use domain::skill::SkillPackage;
use domain::spending::Spending;
use domain::time::Timestamp;
use domain::trial::{RetryWait, TrialInput};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row};

use crate::Store;
use crate::codec::{from_json, to_json};
use crate::error::{Result, StoreError};
use crate::steps::{self, Moved};
use crate::trials::{self, RawTrial, TrialRow, select_trials};

/// A trial that the caller is to run now.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The trial, in its new state.
    pub trial: TrialRow,
    /// The attempt that was opened.
    pub attempt: AttemptId,
    /// 1 for the trial's first attempt.
    pub number: u32,
    /// The plan that the trial belongs to.
    pub plan: EvaluationPlan,
}

/// Whose trials may be claimed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Among<'a> {
    /// Those of this evaluation or audit alone; `None` = of all.
    pub only: Option<EvaluationId>,
    /// Not those of these.
    pub but: &'a [EvaluationId],
}

/// What a claim came to.
#[derive(Debug)]
pub enum Claimed {
    /// This trial.
    Trial(Box<Claim>),
    /// The trial that is next cannot be read, and none was claimed: its evaluation is to be left out, or no other is ever reached.
    Unreadable {
        /// The evaluation that it belongs to.
        evaluation: EvaluationId,
        /// What could not be read.
        error: StoreError,
    },
    /// Nothing: no trial waits that may be claimed, or as many run as may.
    Nothing,
}

impl Store {
    /// [`Store::claim_among`] all.
    ///
    /// # Errors
    /// As [`Store::claim_among`], and what [`Claimed::Unreadable`] holds.
    pub async fn claim_next(&self, at: Timestamp, lease_until: Timestamp, limit: u32) -> Result<Option<Claim>> {
        match self.claim_among(at, lease_until, limit, Among::default()).await? {
            Claimed::Trial(claim) => Ok(Some(*claim)),
            Claimed::Unreadable { error, .. } => Err(error),
            Claimed::Nothing => Ok(None),
        }
    }

    /// Claims the next trial: the oldest evaluation first that is not finished and runs fewer trials than its concurrency, and in it the first
    /// queued trial of its order that need not wait after trouble. Nothing if there is no such trial, or `limit` trials run already in all.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn claim_among(
        &self,
        at: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        among: Among<'_>,
    ) -> Result<Claimed> {
        let mut change = self.change().await?;
        let row = sqlx::query(select_trials!(
            ", e.plan",
            "WHERE (SELECT count(*) FROM trials r WHERE r.attempt_id IS NOT NULL) < $1 \
             AND t.id = (SELECT q.id FROM trials q WHERE q.state = 'queued' \
             AND (q.not_before BETWEEN $3 + 1 AND $4) IS NOT TRUE AND q.evaluation_id = ( \
                 SELECT o.id FROM evaluations o WHERE o.finished_at IS NULL \
                 AND o.id NOT IN (SELECT value FROM json_each($2)) AND ($5 IS NULL OR o.id = $5) \
                 AND (SELECT count(*) FROM trials r WHERE r.evaluation_id = o.id AND r.attempt_id IS NOT NULL) \
                     < o.concurrency \
                 AND EXISTS (SELECT 1 FROM trials w WHERE w.evaluation_id = o.id AND w.state = 'queued' \
                     AND (w.not_before BETWEEN $3 + 1 AND $4) IS NOT TRUE) \
                 ORDER BY o.id LIMIT 1) \
             ORDER BY q.position LIMIT 1)"
        ))
        .bind(limit)
        .bind(to_json("evaluations", among.but)?)
        .bind(at.0)
        // Who would have to wait for longer than anybody does was sent to wait by a clock that has been put back since.
        .bind(at.plus_ms(RetryWait::LONGEST_MS).0)
        .bind(among.only.map(|only| only.0))
        .fetch_optional(change.db())
        .await?;
        let Some(row) = row else { return Ok(Claimed::Nothing) };
        let (trial, plan) = match read(&row) {
            Ok(read) => read,
            Err(error @ StoreError::Unreadable { .. }) => {
                let evaluation = EvaluationId(row.try_get("evaluation_id")?);
                return Ok(Claimed::Unreadable { evaluation, error });
            }
            Err(error) => return Err(error),
        };
        let number = trial.state.attempts().saturating_add(1);
        let attempt = crate::attempts::open(change.db(), trial.id, number, at).await?;
        let input = TrialInput::Claimed { attempt, at, lease_until };
        let Moved::Yes(state) = steps::step(&mut change, &trial, input, at).await? else {
            return Ok(Claimed::Nothing);
        };
        sqlx::query("UPDATE evaluations SET started_at = $2 WHERE id = $1 AND started_at IS NULL")
            .bind(trial.evaluation.0)
            .bind(at.0)
            .execute(change.db())
            .await?;
        change.commit().await?;
        let trial = TrialRow { state, revision: trial.revision + 1, ..trial };
        Ok(Claimed::Trial(Box::new(Claim { trial, attempt, number, plan })))
    }

    /// When the first of the trials that wait after trouble may be claimed; `None` if none waits for an instant after `at`.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn next_due(&self, at: Timestamp) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar("SELECT min(not_before) FROM trials WHERE not_before > $1")
            .bind(at.0)
            .fetch_one(self.reader())
            .await?;
        Ok(due.map(Timestamp))
    }

    /// Everything that an executor needs for a claim. Its own step, so that the writer is not held while tasks and skills are read.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the task or a skill version was removed; [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn order(&self, claim: &Claim) -> Result<TrialOrder> {
        let task = self.task(claim.trial.task).await?.task;
        let with = match (&claim.plan.kind, &claim.plan.treatment) {
            // A solution is shown to pass with no more than it needs.
            (PlanKind::Audit { .. }, _) if !task.oracle.as_ref().is_some_and(|oracle| oracle.needs_skills) => {
                Vec::new()
            }
            (_, Treatment::TasksOwn) => task.bundled_skills.clone(),
            (_, Treatment::Skills { versions }) => self.packages(versions).await?,
            (_, Treatment::Nothing) => Vec::new(),
        };
        let comparison = &claim.plan.comparison;
        let without = match &comparison.baseline {
            Baseline::NoSkill => Vec::new(),
            Baseline::PreviousVersion { versions } | Baseline::Control { versions } => self.packages(versions).await?,
            Baseline::Same => with.clone(),
        };
        let spent = match claim.plan.settings.spending.is_of_evaluation() {
            true => self.spent(claim.trial.evaluation).await?,
            false => Spending::default(),
        };
        Ok(TrialOrder {
            spent,
            evaluation: claim.trial.evaluation,
            trial: claim.trial.id,
            attempt: claim.attempt,
            task: claim.plan.settings.limited(task),
            condition: claim.trial.condition,
            repeat: claim.trial.repeat,
            skills: Pair { without, with },
            distractors: self.packages(&comparison.distractors).await?,
            agent: claim.plan.agent_of(claim.trial.condition).clone(),
            model: claim.plan.model.clone(),
            settings: claim.plan.settings.clone(),
        })
    }

    async fn packages(&self, versions: &[SkillRef]) -> Result<Vec<SkillPackage>> {
        let mut packages = Vec::with_capacity(versions.len());
        for version in versions {
            packages.push(self.skill_version(version.id).await?.package);
        }
        Ok(packages)
    }

    /// What all attempts of an evaluation have spent, as far as it is known: by their results, or by what they had told last where they were
    /// killed and left none.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn spent(&self, evaluation: EvaluationId) -> Result<Spending> {
        let row = sqlx::query(
            "SELECT CAST(COALESCE(SUM(MAX(COALESCE(a.tokens_input, 0) + COALESCE(a.tokens_cache_read, 0) \
             + COALESCE(a.tokens_cache_write, 0) + COALESCE(a.tokens_output, 0), COALESCE(a.told ->> '$.tokens', 0))), 0) AS INTEGER) AS tokens, \
             CAST(COALESCE(SUM(MAX(COALESCE(a.result ->> '$.cost', 0.0), COALESCE(a.told ->> '$.money', 0.0))), 0.0) AS REAL) AS money, \
             CAST(COALESCE(SUM(MAX(COALESCE(a.result ->> '$.model_calls', 0), COALESCE(a.told ->> '$.calls', 0))), 0) AS INTEGER) AS calls, \
             CAST(COALESCE(SUM(COALESCE(a.told ->> '$.uncounted', 0)), 0) AS INTEGER) AS uncounted \
             FROM (SELECT a.*, (SELECT e.body -> '$.spent' FROM events e WHERE e.attempt_id = a.id AND e.kind = 'spent' \
                 ORDER BY e.id DESC LIMIT 1) AS told \
                 FROM attempts a JOIN trials t ON t.id = a.trial_id WHERE t.evaluation_id = $1) a",
        )
        .bind(evaluation.0)
        .fetch_one(self.reader())
        .await?;
        let whole = |column: &str| row.try_get::<i64, _>(column).map(|value| u64::try_from(value).unwrap_or(0));
        Ok(Spending {
            tokens: whole("tokens")?,
            money: row.try_get("money")?,
            calls: whole("calls")?,
            uncounted: whole("uncounted")?,
        })
    }

    /// Says that an attempt's worker lives. `Moved::No`: the attempt is over, and the worker is to stop.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn renew_lease(&self, attempt: AttemptId, lease_until: Timestamp) -> Result<Moved> {
        let mut change = self.change().await?;
        let Some(trial) = trials::of_attempt(change.db(), attempt).await? else { return Ok(Moved::No) };
        // A renewal is no event, so its instant is written nowhere.
        let moved =
            steps::step(&mut change, &trial, TrialInput::LeaseRenewed { attempt, lease_until }, lease_until).await?;
        change.commit().await?;
        Ok(moved)
    }
}

fn read(row: &SqliteRow) -> Result<(TrialRow, EvaluationPlan)> {
    let plan = from_json("evaluations.plan", row.try_get("plan")?)?;
    Ok((RawTrial::from_row(row)?.try_into()?, plan))
}
