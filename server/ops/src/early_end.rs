//! Ending evaluations before all of their trials: where the plan allows it, or where its model cannot be had. The scheduler asks whenever a trial is over.

use std::collections::HashSet;

use domain::access::Access;
use domain::id::{EvaluationId, TrialId};
use domain::plan::EvaluationPlan;
use domain::report::{index, tasks_of};
use domain::stats::alpha::Alpha;
use domain::stop::{Seen, StopReason, Stopped, TaskSoFar, decide};
use domain::time::Timestamp;
use store::EvaluationRow;

use crate::{Ops, Result};

impl Ops {
    /// Ends an evaluation if its plan says that it is to end now, or if the model's provider lets it in nowhere: what waits is cancelled with the
    /// reason stored, what runs is let finish. Answers whether it need not be asked again: all of it is over, or nothing can end it early any
    /// more.
    ///
    /// # Errors
    /// [`crate::OpsError::NotFound`], or storage trouble.
    pub async fn end_early(&self, id: EvaluationId) -> Result<bool> {
        let row = self.store.evaluation(id).await?;
        if row.finished_at.is_some() {
            return Ok(true);
        }
        // Where nothing waits, nothing can be ended. What comes back to the queue later, after trouble, is asked about then.
        if self.store.trial_counts(id).await?.queued == 0 {
            return Ok(false);
        }
        let access = match &row.plan.model {
            Some(_) => self.access(id).await?,
            None => Access::Granted,
        };
        let is_settled = access == Access::Granted && !has_rule(&row.plan);
        let stopped = match (&row.stopped, access.ends()) {
            (Some(known), _) => Some(known.clone()),
            (None, Some(told)) => {
                let (why, at, seen) = (StopReason::ProviderDenied, self.now(), Seen::NOTHING);
                Some(Stopped { why, at, seen, told: Some(told) })
            }
            (None, None) => self.decided(&row).await?,
        };
        let Some(stopped) = stopped else { return Ok(is_settled) };
        let cancelled = self.store.stop_early(id, &stopped, self.now()).await?;
        tracing::info!(evaluation = id.0, cancelled, why = ?stopped.why, "ended early");
        Ok(false)
    }

    /// Whether the model's provider lets an evaluation in.
    pub(crate) async fn access(&self, id: EvaluationId) -> Result<Access> {
        let over = self.store.verdicts(id).await?;
        Ok(Access::of(over.iter().map(|(condition, verdict)| (*condition, verdict))))
    }

    async fn decided(&self, row: &EvaluationRow) -> Result<Option<Stopped>> {
        let at = self.now();
        let settings = &row.plan.settings;
        let is_late = row.started_at.and_then(|start| ends_at(&row.plan, start)).is_some_and(|end| at >= end);
        if settings.stop.is_none() && !is_late {
            return Ok(None);
        }
        let trials = self.store.outcomes(row).await?;
        let over: HashSet<TrialId> =
            trials.iter().filter(|trial| trial.state.verdict().is_some()).map(|trial| trial.id).collect();
        let tasks: Vec<TaskSoFar> = tasks_of(&row.plan, &index(&trials))
            .iter()
            .map(|task| task.so_far(|trial| over.contains(&trial)))
            .collect();
        let why = decide(settings.stop, &tasks, Alpha::FIVE_PERCENT).or(is_late.then_some(StopReason::OutOfTime));
        Ok(why.map(|why| Stopped { why, at, seen: Seen::of(&tasks), told: None }))
    }
}

/// Whether an evaluation of this plan may end before all of its trials.
#[must_use]
pub fn may_end_early(plan: &EvaluationPlan) -> bool {
    plan.model.is_some() || has_rule(plan)
}

/// Whether it is a plan that says itself when to end.
fn has_rule(plan: &EvaluationPlan) -> bool {
    !plan.settings.stop.is_none() || plan.settings.spending.evaluation_seconds.is_some()
}

/// When the time of an evaluation is up that began at `start`; `None` where its plan sets it none.
#[must_use]
pub fn ends_at(plan: &EvaluationPlan, start: Timestamp) -> Option<Timestamp> {
    let seconds = plan.settings.spending.evaluation_seconds?;
    Some(start.plus_ms(i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX)))
}
