//! The noise floor of tasks with an agent and a model, from A/A evaluations of them.

use domain::hash::ContentHash;
use domain::id::EvaluationId;
use domain::plan::EvaluationPlan;
use domain::report::{EvaluationReport, MeasuredNoise};
use domain::stats::counts::PairCounts;
use store::among_others;

use crate::{Ops, Result};

/// Most A/A evaluations that are looked at, the newest first.
const MOST: usize = 20;

impl Ops {
    /// What Δ over so many of a plan's tasks does where nothing differs, as finished A/A evaluations of any of these tasks with the same agent and model
    /// showed; `None` where there is none. Whether they ran without a skill or with one twice does not matter: either is noise.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn noise_floor(&self, plan: &EvaluationPlan, tasks: u64) -> Result<Option<MeasuredNoise>> {
        let model = |plan: &EvaluationPlan| plan.model.as_ref().map(|model| (model.name.clone(), model.scripted));
        let wanted: Vec<ContentHash> = plan.tasks.iter().map(|task| task.version).collect();
        let mut seen = vec![PairCounts::default(); wanted.len()];
        let mut evaluations: Vec<EvaluationId> = Vec::new();
        for row in self.store.evaluations_alike().await? {
            let same = row.plan.agent == plan.agent && model(&row.plan) == model(plan);
            let overlaps = row.plan.tasks.iter().any(|task| wanted.contains(&task.version));
            if !same || !overlaps || evaluations.len() == MOST {
                continue;
            }
            let Some(records) = among_others(row.id, self.store.records(&row).await)? else { continue };
            let report = EvaluationReport::compute(row.id, row.created_at, &row.plan, &records);
            let before: u64 = seen.iter().map(PairCounts::pairs).sum();
            for (task, told) in row.plan.tasks.iter().zip(&report.tasks) {
                let places = wanted.iter().zip(&mut seen).filter(|(version, _)| **version == task.version);
                places.for_each(|(_, counts)| *counts = [*counts, told.counts()].into_iter().sum());
            }
            if seen.iter().map(PairCounts::pairs).sum::<u64>() > before {
                evaluations.push(row.id);
            }
        }
        evaluations.sort_unstable();
        Ok(MeasuredNoise::of(evaluations, &seen, tasks, plan.repeats))
    }
}
