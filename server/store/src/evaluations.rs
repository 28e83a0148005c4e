//! Evaluations: the plan, how far it is, and how it is stopped. Its trials are made with it, in one transaction.

use domain::hash::ContentHash;
use domain::id::{CampaignId, EvaluationId, SkillId};
use domain::imported::Imported;
use domain::plan::{EvaluationPlan, ModelRef, SkillRef, Treatment};
use domain::stop::Stopped;
use domain::time::Timestamp;
use sqlx::{FromRow, SqliteConnection};

use crate::Store;
use crate::codec::{check_range, from_json, from_optional_json, readable, to_json, to_u32};
use crate::error::{Result, StoreError};
use crate::leaderboard;
use crate::trials;

/// An evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluationRow {
    /// Its id.
    pub id: EvaluationId,
    /// The campaign it belongs to.
    pub campaign: Option<CampaignId>,
    /// What is compared.
    pub plan: EvaluationPlan,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When its first trial was claimed.
    pub started_at: Option<Timestamp>,
    /// When its last trial was finished.
    pub finished_at: Option<Timestamp>,
    /// When somebody stopped it.
    pub cancel_requested_at: Option<Timestamp>,
    /// That it was ended early, and why: as its plan allowed, since its model was denied, else by hand.
    pub stopped: Option<Stopped>,
    /// Where it came from, if others ran it; its trials are then [`Store::imported_trials`].
    pub imported: Option<Imported>,
}

/// Trials by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// Waiting.
    pub queued: u32,
    /// In any phase.
    pub running: u32,
    /// Decided.
    pub finished: u32,
}

#[derive(FromRow)]
struct RawEvaluation {
    id: i64,
    campaign_id: Option<i64>,
    plan: String,
    created_at: i64,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    cancel_requested_at: Option<i64>,
    stopped: Option<String>,
    imported: Option<String>,
}

impl TryFrom<RawEvaluation> for EvaluationRow {
    type Error = StoreError;

    fn try_from(raw: RawEvaluation) -> Result<Self> {
        let stopped: Option<Stopped> = from_optional_json("evaluations.stopped", raw.stopped.as_deref())?;
        let cancel_requested_at = raw.cancel_requested_at.map(Timestamp);
        Ok(Self {
            id: EvaluationId(raw.id),
            campaign: raw.campaign_id.map(CampaignId),
            plan: from_json("evaluations.plan", &raw.plan)?,
            created_at: Timestamp(raw.created_at),
            started_at: raw.started_at.map(Timestamp),
            finished_at: raw.finished_at.map(Timestamp),
            cancel_requested_at,
            stopped: stopped.or(cancel_requested_at.map(Stopped::by_hand)),
            imported: from_optional_json("imported_evaluations.imported", raw.imported.as_deref())?,
        })
    }
}

macro_rules! select_evaluations {
    ($rest:literal) => {
        concat!(
            "SELECT e.id, e.campaign_id, e.plan, e.created_at, e.started_at, e.finished_at, e.cancel_requested_at, e.stopped, \
             (SELECT i.imported FROM imported_evaluations i WHERE i.evaluation_id = e.id) AS imported \
             FROM evaluations e ",
            $rest
        )
    };
}

impl Store {
    /// Stores a plan and all its trials in [`EvaluationPlan::order`]; the scheduler is woken.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the plan is empty, names a task twice, or a number in it makes no sense; [`StoreError::NotFound`] if a
    /// task or skill version in it is not there under that address; [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn create_evaluation(&self, plan: &EvaluationPlan, at: Timestamp) -> Result<EvaluationId> {
        check(plan)?;
        let mut change = self.change().await?;
        check_references(change.db(), plan).await?;
        let id = insert(change.db(), plan, &key(plan)?, at).await?;
        insert_skills(change.db(), id, plan).await?;
        trials::insert_all(change.db(), id, plan).await?;
        change.wake_queue();
        change.commit().await?;
        Ok(id)
    }

    /// One evaluation.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn evaluation(&self, id: EvaluationId) -> Result<EvaluationRow> {
        let row: Option<RawEvaluation> =
            sqlx::query_as(select_evaluations!("WHERE e.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("evaluation", id))?.try_into()
    }

    /// How far the trials of an evaluation are; nothing of one that others ran, or that is not there.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn trial_counts(&self, id: EvaluationId) -> Result<TrialCounts> {
        let (queued, running, finished) = sqlx::query_as(
            "SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state IN ('preparing', 'agent', 'verifying')), \
             count(*) FILTER (WHERE state = 'finished') FROM trials WHERE evaluation_id = $1",
        )
        .bind(id.0)
        .fetch_one(self.reader())
        .await?;
        Ok(TrialCounts {
            queued: to_u32("trials.queued", queued)?,
            running: to_u32("trials.running", running)?,
            finished: to_u32("trials.finished", finished)?,
        })
    }

    /// One evaluation, or `None` where it is not there (any more).
    pub(crate) async fn evaluation_if_there(&self, id: EvaluationId) -> Result<Option<EvaluationRow>> {
        match self.evaluation(id).await {
            Ok(row) => Ok(Some(row)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All evaluations that compare without and with a skill, newest first; no audits.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn evaluations(&self) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> =
            sqlx::query_as(select_evaluations!("WHERE e.kind = 'evaluation' ORDER BY e.id DESC"))
                .fetch_all(self.reader())
                .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// A part of them: at most `most`, after the first `skipped`.
    ///
    /// # Errors
    /// As [`Store::evaluations`].
    pub async fn evaluations_after(&self, skipped: u32, most: u32) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> =
            sqlx::query_as(select_evaluations!("WHERE e.kind = 'evaluation' ORDER BY e.id DESC LIMIT $1 OFFSET $2"))
                .bind(most)
                .bind(skipped)
                .fetch_all(self.reader())
                .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// Everything that has trials to make, whatever its kind, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn open_evaluations(&self) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> = sqlx::query_as(select_evaluations!(
            "WHERE e.finished_at IS NULL AND e.cancel_requested_at IS NULL ORDER BY e.id"
        ))
        .fetch_all(self.reader())
        .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// Own A/A evaluations that are over, newest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn evaluations_alike(&self) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> = sqlx::query_as(select_evaluations!(
            "WHERE e.plan ->> '$.comparison.baseline.kind' = 'same' AND e.finished_at IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM imported_evaluations i WHERE i.evaluation_id = e.id) ORDER BY e.id DESC"
        ))
        .fetch_all(self.reader())
        .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// Own evaluations with an agent of that name and a model, whatever their skill and tasks, newest first, at most `most`.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn evaluations_by(&self, agent: &str, model: Option<&ModelRef>, most: u32) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> = sqlx::query_as(select_evaluations!(
            "WHERE e.kind = 'evaluation' AND e.agent = $1 AND e.model IS $2 AND e.scripted IS $3 \
             AND NOT EXISTS (SELECT 1 FROM imported_evaluations i WHERE i.evaluation_id = e.id) ORDER BY e.id DESC LIMIT $4"
        ))
        .bind(agent)
        .bind(model.map(|model| model.name.as_str()))
        .bind(model.map(|model| model.scripted))
        .bind(most)
        .fetch_all(self.reader())
        .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// The evaluations of a campaign, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn evaluations_of_campaign(&self, campaign: CampaignId) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> = sqlx::query_as(select_evaluations!("WHERE e.campaign_id = $1 ORDER BY e.id"))
            .bind(campaign.0)
            .fetch_all(self.reader())
            .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// The evaluations that name any version of a skill, be it as treatment, baseline or distractor, newest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn evaluations_of_skill(&self, skill: SkillId) -> Result<Vec<EvaluationRow>> {
        let rows: Vec<RawEvaluation> = sqlx::query_as(select_evaluations!(
            "WHERE e.id IN (SELECT u.evaluation_id FROM evaluation_skills u \
             JOIN skill_versions v ON v.id = u.skill_version_id WHERE v.skill_id = $1) ORDER BY e.id DESC"
        ))
        .bind(skill.0)
        .fetch_all(self.reader())
        .await?;
        Ok(readable("evaluation", rows, |raw| raw.id))
    }

    /// The newest evaluation that ran to its end, was neither stopped nor denied its model, and asked for the same runs as `plan`; titles do not count.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn find_finished_like(&self, plan: &EvaluationPlan) -> Result<Option<EvaluationRow>> {
        let row: Option<RawEvaluation> = sqlx::query_as(select_evaluations!(
            "WHERE e.plan_key = $1 AND e.finished_at IS NOT NULL AND e.cancel_requested_at IS NULL \
             AND e.stopped ->> '$.why' IS NOT 'provider-denied' ORDER BY e.id DESC LIMIT 1"
        ))
        .bind(key(plan)?)
        .fetch_optional(self.reader())
        .await?;
        row.map(TryInto::try_into).transpose()
    }

    /// Removes an evaluation with its trials, attempts and events. Blobs stay.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] while a trial of it runs; [`StoreError::NotFound`], [`StoreError::Busy`].
    pub async fn delete_evaluation(&self, id: EvaluationId) -> Result<()> {
        let mut change = self.change().await?;
        let running: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM trials WHERE evaluation_id = $1 AND attempt_id IS NOT NULL)",
        )
        .bind(id.0)
        .fetch_one(change.db())
        .await?;
        if running {
            return Err(StoreError::invalid(
                format!("the removal of evaluation {id}"),
                "trials of it run; stop it first",
            ));
        }
        leaderboard::forget(change.db(), id).await?;
        change.wake_finished();
        let done = sqlx::query("DELETE FROM evaluations WHERE id = $1").bind(id.0).execute(change.db()).await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("evaluation", id));
        }
        change.commit().await
    }
}

pub(crate) fn check(plan: &EvaluationPlan) -> Result<()> {
    let refuse = |reason: &str| Err(StoreError::invalid("the plan", reason));
    let mut tasks: Vec<i64> = plan.tasks.iter().map(|task| task.id.0).collect();
    tasks.sort_unstable();
    tasks.dedup();
    if plan.tasks.is_empty() {
        return refuse("it names no task");
    }
    if tasks.len() < plan.tasks.len() {
        return refuse("it names a task twice; raise the number of repeats instead");
    }
    if plan.repeats == 0 {
        return refuse("it has no repeats; at least 1 is needed");
    }
    if plan.settings.concurrency == 0 || plan.settings.max_attempts == 0 {
        return refuse("concurrency and attempts must be at least 1");
    }
    if matches!(&plan.treatment, Treatment::Skills { versions } if versions.is_empty()) {
        return refuse("its treatment has no skill");
    }
    if let Some(fault) = plan.comparison.fault(&plan.treatment) {
        return refuse(fault);
    }
    check_range("a time-out multiplier of", plan.settings.timeout_multiplier, f64::MIN_POSITIVE..=f64::MAX)
}

/// An id that exists with other bytes is a mix-up too, so addresses are compared.
async fn check_references(db: &mut SqliteConnection, plan: &EvaluationPlan) -> Result<()> {
    for task in &plan.tasks {
        let hash: Option<String> =
            sqlx::query_scalar("SELECT hash FROM tasks WHERE id = $1").bind(task.id.0).fetch_optional(&mut *db).await?;
        if hash != Some(task.version.to_hex()) {
            return Err(StoreError::not_found("task", format!("{} {} ({})", task.id, task.name, task.version.short())));
        }
    }
    for skill in versions(plan) {
        let hash: Option<String> = sqlx::query_scalar("SELECT hash FROM skill_versions WHERE id = $1")
            .bind(skill.id.0)
            .fetch_optional(&mut *db)
            .await?;
        if hash != Some(skill.version.to_hex()) {
            let id = format!("{} {} ({})", skill.id, skill.name, skill.version.short());
            return Err(StoreError::not_found("skill version", id));
        }
    }
    Ok(())
}

/// Every skill version that a plan names, whatever for.
fn versions(plan: &EvaluationPlan) -> impl Iterator<Item = &SkillRef> {
    on_trial(plan).iter().chain(plan.comparison.versions())
}

fn on_trial(plan: &EvaluationPlan) -> &[SkillRef] {
    match &plan.treatment {
        Treatment::Skills { versions } => versions,
        Treatment::TasksOwn | Treatment::Nothing => &[],
    }
}

/// Equal exactly when two plans ask for the same runs.
fn key(plan: &EvaluationPlan) -> Result<String> {
    let untitled = EvaluationPlan { title: String::new(), ..plan.clone() };
    Ok(ContentHash::of(to_json("plan", &untitled)?.as_bytes()).to_hex())
}

/// Makes the row alone. `key` is what [`Store::find_finished_like`] finds it by.
pub(crate) async fn insert(
    db: &mut SqliteConnection,
    plan: &EvaluationPlan,
    key: &str,
    at: Timestamp,
) -> Result<EvaluationId> {
    let id = sqlx::query_scalar(
        "INSERT INTO evaluations (plan, plan_key, concurrency, max_attempts, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id",
    )
    .bind(to_json("plan", plan)?)
    .bind(key)
    .bind(plan.settings.concurrency)
    .bind(plan.settings.max_attempts)
    .bind(at.0)
    .fetch_one(db)
    .await?;
    Ok(EvaluationId(id))
}

async fn insert_skills(db: &mut SqliteConnection, id: EvaluationId, plan: &EvaluationPlan) -> Result<()> {
    for skill in versions(plan) {
        sqlx::query("INSERT OR IGNORE INTO evaluation_skills (evaluation_id, skill_version_id) VALUES ($1, $2)")
            .bind(id.0)
            .bind(skill.id.0)
            .execute(&mut *db)
            .await?;
    }
    // What is on trial stands by itself from then on.
    for skill in on_trial(plan) {
        sqlx::query("UPDATE skill_versions SET only_compared = 0 WHERE id = $1 AND only_compared")
            .bind(skill.id.0)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}
