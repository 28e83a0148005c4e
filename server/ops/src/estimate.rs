//! What a plan will take and can show, from what earlier evaluations took and how noisy they were.

use domain::id::EvaluationId;
use domain::plan::EvaluationPlan;
use domain::planner::{PastRuns, PlanEstimate, PlannedRun};
use domain::report::EvaluationReport;
use store::EvaluationRow;

use crate::{Ops, OpsError, Result};

/// Most evaluations that a plan's history is taken from, the newest first.
const MOST_EVALUATIONS: usize = 20;
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
            self.add_past(&self.evaluation_row(*id).await?, &mut past).await?;
            if past.pairs.len() == before {
                let message = format!("evaluation {id} has no complete pair to learn from; name another");
                return Err(OpsError::invalid(message));
            }
        }
        Ok(past)
    }

    /// Own evaluations with this plan's agent and model, whatever their skill.
    async fn past_of(&self, plan: &EvaluationPlan) -> Result<PastRuns> {
        let alike = |row: &EvaluationRow| {
            let model = |plan: &EvaluationPlan| plan.model.as_ref().map(|model| (model.name.clone(), model.scripted));
            row.imported.is_none() && row.plan.agent.name == plan.agent.name && model(&row.plan) == model(plan)
        };
        let mut rows: Vec<EvaluationRow> = self.store.evaluations().await?.into_iter().filter(alike).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.id));
        let mut past = PastRuns::default();
        let mut trials = 0;
        for row in rows.into_iter().take(MOST_EVALUATIONS) {
            trials += row.plan.trials() as u64;
            if trials > MOST_TRIALS {
                break;
            }
            self.add_past(&row, &mut past).await?;
        }
        Ok(past)
    }

    async fn add_past(&self, row: &EvaluationRow, past: &mut PastRuns) -> Result<()> {
        let trials = self.records(row).await?;
        let report = EvaluationReport::compute(row.id, row.created_at, &row.plan, &trials);
        past.add(&report.tasks, &trials);
        Ok(())
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
