//! Evaluations that do not go on here: planned with an agent or an upstream that this start of the program does not have, or others than the one
//! that it was started for, or such as cannot be read. They wait. Made with what is here instead, their pairs would compare two agents; given up,
//! an interrupted evaluation would be lost; run beside another unasked, it would spend what nobody meant to spend now.

use std::collections::BTreeSet;

use domain::condition::Condition;
use domain::id::EvaluationId;
use domain::plan::{AgentRef, EvaluationPlan};
use store::{EvaluationRow, StoreError};

/// What trials can be made with.
#[derive(Debug, Clone, Default)]
pub struct Available {
    /// Agents in their versions.
    pub agents: Vec<AgentRef>,
    /// Names of upstreams.
    pub upstreams: BTreeSet<String>,
    /// The evaluation or audit that this start is for; `None` = all.
    pub only: Option<EvaluationId>,
}

/// An evaluation that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stranded {
    pub(super) evaluation: EvaluationId,
    /// For what, and what to do.
    pub(super) reason: String,
}

impl Stranded {
    /// One with something in it that this program cannot read.
    pub(super) fn unreadable(evaluation: EvaluationId, error: &StoreError) -> Self {
        let reason = format!(
            "evaluation {evaluation} cannot be read and waits ({}); a newer Skilldelta may have made it; start that one to let it go on",
            super::whole(error)
        );
        Self { evaluation, reason }
    }
}

impl Available {
    /// Those of the open evaluations that cannot go on.
    pub(super) fn stranded(&self, open: &[EvaluationRow]) -> Vec<Stranded> {
        let stranded = |row: &EvaluationRow| {
            let what = if row.plan.kind.is_evaluation() { "evaluation" } else { "audit" };
            let reason = match self.missing(&row.plan) {
                Some(missing) => {
                    format!(
                        "{what} {} waits for {missing}; start the program with it to let it go on, or cancel it",
                        row.id
                    )
                }
                None if self.only.is_some_and(|only| only != row.id) => format!(
                    "{what} {} was interrupted and waits; its own command or `skilldelta serve` goes on with it",
                    row.id
                ),
                None => return None,
            };
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
