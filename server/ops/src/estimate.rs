//! What a plan will take and can show, from what earlier evaluations took and how noisy they were.

use domain::id::EvaluationId;
use domain::plan::EvaluationPlan;
use domain::planner::{PastRuns, PlanEstimate, PlannedRun};
use domain::report::{TrialRecord, index, tasks_of};
use store::{EvaluationRow, among_others};

use crate::{Ops, OpsError, Result};

/// Most evaluations that a plan's history is taken from, the newest first.
const MOST_EVALUATIONS: u32 = 20;
/// Most of their trials.
const MOST_TRIALS: u64 = 20_000;

impl Ops {
    /// What these evaluations tell about the next one.
    ///
    /// # Errors
    /// [`crate::OpsError::NotFound`], [`crate::OpsError::Invalid`] where nothing of one is finished, or storage trouble.
    pub async fn past_runs(&self, evaluations: &[EvaluationId]) -> Result<PastRuns> {
        let mut past = PastRuns::default();
        for id in evaluations {
            let before = past.pairs.len();
            let row = self.evaluation_row(*id).await?;
            add(&row, &self.store.amounts(&row).await?, &mut past);
            if past.pairs.len() == before {
                let message = format!("evaluation {id} has no complete pair to learn from; name another");
                return Err(OpsError::invalid(message));
            }
        }
        Ok(past)
    }

    /// Own evaluations with this plan's agent and model, whatever their skill.
    async fn past_of(&self, plan: &EvaluationPlan) -> Result<PastRuns> {
        let rows = self.store.evaluations_by(&plan.agent.name, plan.model.as_ref(), MOST_EVALUATIONS).await?;
        let mut past = PastRuns::default();
        let mut trials = 0;
        for row in rows {
            trials += row.plan.trials() as u64;
            if trials > MOST_TRIALS {
                break;
            }
            if let Some(amounts) = among_others(row.id, self.store.amounts(&row).await)? {
                add(&row, &amounts, &mut past);
            }
        }
        Ok(past)
    }

    /// Estimates a plan from the history of its agent and model.
    pub(crate) async fn estimate(&self, plan: &EvaluationPlan) -> Result<PlanEstimate> {
        let run = PlannedRun {
            tasks: plan.tasks.iter().map(|task| Some(task.name.clone())).collect(),
            repeats: plan.repeats,
            concurrency: plan.settings.concurrency,
        };
        Ok(PlanEstimate::of(&run, &self.past_of(plan).await?, None))
    }
}

fn add(row: &EvaluationRow, trials: &[TrialRecord], past: &mut PastRuns) {
    past.add(&tasks_of(&row.plan, &index(trials)), trials);
}
