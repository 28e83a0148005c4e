//! Evaluations that cannot go on here: planned with an agent or an upstream that this start of the program does not have. They wait. Made
//! with what is here instead, their pairs would compare two agents; given up, an interrupted evaluation would be lost.

use std::collections::BTreeSet;

use domain::condition::Condition;
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
    /// Those of the open evaluations that cannot go on.
    pub(super) fn stranded(&self, open: &[EvaluationRow]) -> Vec<Stranded> {
        let stranded = |row: &EvaluationRow| {
            let missing = self.missing(&row.plan)?;
            let what = if row.plan.kind.is_evaluation() { "evaluation" } else { "audit" };
            let reason = format!(
                "{what} {} waits for {missing}; start the program with it to let it go on, or cancel it",
                row.id
            );
            Some(Stranded { evaluation: row.id, reason })
        };
        open.iter().filter_map(stranded).collect()
    }

    fn missing(&self, plan: &EvaluationPlan) -> Option<String> {
        let mut agents = Condition::BOTH.map(|condition| plan.agent_of(condition)).into_iter();
        if let Some(missing) = agents.find(|agent| !self.agents.contains(agent)) {
            return Some(format!("the agent {} in version {}", missing.name, missing.version));
        }
        let model = plan.model.as_ref()?;
        (!self.upstreams.contains(&model.upstream)).then(|| format!("the upstream {}", model.upstream))
    }
}
