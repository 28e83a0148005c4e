//! Which evaluations may be ended early, and when to ask: whenever a trial of one is over, and where its time runs, in each round.

use std::collections::BTreeMap;

use domain::id::EvaluationId;
use domain::plan::EvaluationPlan;
use ops::{Ops, OpsError, may_end_early};
use store::EvaluationRow;

/// Evaluations under way that may end early.
pub(super) struct EarlyEnds {
    ops: Ops,
    watched: BTreeMap<EvaluationId, Watched>,
}

struct Watched {
    has_clock: bool,
    is_due: bool,
}

impl EarlyEnds {
    pub(super) fn new(ops: Ops) -> Self {
        Self { ops, watched: BTreeMap::new() }
    }

    /// Takes over what an earlier run left: it may have gone down between a trial's end and the question.
    pub(super) fn found(&mut self, evaluations: &[EvaluationRow]) {
        for row in evaluations.iter().filter(|row| row.finished_at.is_none()) {
            self.began(row.id, &row.plan);
            self.trial_ended(row.id);
        }
    }

    /// A trial of this plan is under way.
    pub(super) fn began(&mut self, id: EvaluationId, plan: &EvaluationPlan) {
        if may_end_early(plan) {
            let has_clock = plan.settings.spending.evaluation_seconds.is_some();
            self.watched.entry(id).or_insert(Watched { has_clock, is_due: false });
        }
    }

    /// Something is decided in it.
    pub(super) fn trial_ended(&mut self, id: EvaluationId) {
        if let Some(watched) = self.watched.get_mut(&id) {
            watched.is_due = true;
        }
    }

    /// Asks of each that is due. What could not be asked stays due.
    pub(super) async fn look(&mut self) {
        let due: Vec<EvaluationId> =
            self.watched.iter().filter(|(_, watched)| watched.is_due || watched.has_clock).map(|(id, _)| *id).collect();
        for id in due {
            match self.ops.end_early(id).await {
                Ok(false) => {
                    self.watched.entry(id).and_modify(|watched| watched.is_due = false);
                }
                Ok(true) | Err(OpsError::NotFound { .. }) => {
                    self.watched.remove(&id);
                }
                Err(error) => {
                    let error = super::whole(&error);
                    tracing::error!(error, evaluation = id.0, "whether it is to end early could not be told yet");
                }
            }
        }
    }
}
