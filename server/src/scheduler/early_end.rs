//! Which evaluations may be ended early, and when to ask: whenever a trial of one is over, and once its time is up.

use std::collections::BTreeMap;

use domain::id::EvaluationId;
use domain::plan::EvaluationPlan;
use domain::time::Timestamp;
use ops::{Ops, OpsError, ends_at, may_end_early};
use store::EvaluationRow;

/// Evaluations under way that may end early.
pub(super) struct EarlyEnds {
    ops: Ops,
    watched: BTreeMap<EvaluationId, Watched>,
}

struct Watched {
    /// When its time is up; `None` where its plan sets it none.
    until: Option<Timestamp>,
    is_due: bool,
    /// Whether the question has its last answer. Kept, since further trials of it begin.
    is_settled: bool,
}

impl Watched {
    fn is_due(&self, now: Timestamp) -> bool {
        !self.is_settled && (self.is_due || self.until.is_some_and(|until| now >= until))
    }
}

impl EarlyEnds {
    pub(super) fn new(ops: Ops) -> Self {
        Self { ops, watched: BTreeMap::new() }
    }

    /// Takes over what an earlier run left: it may have gone down between a trial's end and the question.
    pub(super) fn found(&mut self, evaluations: &[EvaluationRow]) {
        for row in evaluations.iter().filter(|row| row.finished_at.is_none()) {
            if let Some(at) = row.started_at {
                self.began(row.id, &row.plan, at);
            }
        }
        self.trial_ended();
    }

    /// A trial of this plan is under way; its time runs from the first one on.
    pub(super) fn began(&mut self, id: EvaluationId, plan: &EvaluationPlan, at: Timestamp) {
        if may_end_early(plan) {
            self.watched.entry(id).or_insert(Watched { until: ends_at(plan, at), is_due: false, is_settled: false });
        }
    }

    /// Something is decided in one of them.
    pub(super) fn trial_ended(&mut self) {
        self.watched.values_mut().for_each(|watched| watched.is_due = true);
    }

    /// Asks of each that is due. What could not be asked stays due.
    pub(super) async fn look(&mut self, now: Timestamp) {
        let due: Vec<EvaluationId> =
            self.watched.iter().filter(|(_, watched)| watched.is_due(now)).map(|(id, _)| *id).collect();
        for id in due {
            match self.ops.end_early(id).await {
                Ok(is_settled) => {
                    let heard = |watched: &mut Watched| (watched.is_due, watched.is_settled) = (false, is_settled);
                    self.watched.entry(id).and_modify(heard);
                }
                Err(OpsError::NotFound { .. }) => {
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
