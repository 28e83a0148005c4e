//! Evaluations that cannot go on here: planned with an agent or an upstream that this start of the program does not have. They wait. Made
//! with what is here instead, their pairs would compare two agents; given up, an interrupted evaluation would be lost.

use std::collections::BTreeSet;

use domain::id::EvaluationId;
use domain::plan::{AgentRef, EvaluationPlan};
use store::EvaluationRow;

/// What trials can be made with.
#[derive(Debug, Clone, Default)]
pub struct Available {
    /// Agents in their versions.
    pub agents: Vec<AgentRef>,
    /// Names of upstreams.
    pub upstreams: BTreeSet<String>,
}

/// An evaluation that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stranded {
    pub(super) evaluation: EvaluationId,
    /// For what, and what to do.
    pub(super) reason: String,
}

impl Available {
    /// Those of `evaluations` that are not finished and cannot go on.
    pub(super) fn stranded(&self, evaluations: &[EvaluationRow]) -> Vec<Stranded> {
        let open = evaluations.iter().filter(|row| row.finished_at.is_none() && row.cancel_requested_at.is_none());
        open.filter_map(|row| {
            let missing = self.missing(&row.plan)?;
            let reason = format!(
                "evaluation {} waits for {missing}; start the program with it to let it go on, or cancel it",
                row.id
            );
            Some(Stranded { evaluation: row.id, reason })
        })
        .collect()
    }

    fn missing(&self, plan: &EvaluationPlan) -> Option<String> {
        if !self.agents.contains(&plan.agent) {
            return Some(format!("the agent {} in version {}", plan.agent.name, plan.agent.version));
        }
        let model = plan.model.as_ref()?;
        (!self.upstreams.contains(&model.upstream)).then(|| format!("the upstream {}", model.upstream))
    }
}
