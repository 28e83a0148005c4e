//! Runs that show how something works and measure no coding agent with a model: marked wherever they appear, and never ranked.

use serde::{Deserialize, Serialize};

use crate::plan::EvaluationPlan;
use crate::task_audit::AuditAgent;

/// Why runs are no measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demonstration {
    /// The model's answers came from a file.
    ScriptedModel,
    /// The agent is one of a task audit's, which call no model.
    NoCodingAgent,
}

impl Demonstration {
    /// Judges an agent by its name, and its model by whether it is scripted; `None` = an ordinary run.
    #[must_use]
    pub fn of(agent: &str, scripted: bool) -> Option<Self> {
        match AuditAgent::named(agent) {
            Some(_) => Some(Self::NoCodingAgent),
            None => scripted.then_some(Self::ScriptedModel),
        }
    }

    /// The same of a plan.
    #[must_use]
    pub fn of_plan(plan: &EvaluationPlan) -> Option<Self> {
        Self::of(&plan.agent.name, plan.model.as_ref().is_some_and(|model| model.scripted))
    }

    /// The word on chips and badges, in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ScriptedModel => "scripted model",
            Self::NoCodingAgent => "no coding agent",
        }
    }

    /// What a person is told who asks for more.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::ScriptedModel => {
                "The model's answers came from a file: shows how it works, proves nothing about a model, and is never ranked."
            }
            Self::NoCodingAgent => {
                "Calls no model: shows what passes without any work (nop) or whether a task can be passed (oracle), proves nothing about a skill, and is never ranked."
            }
        }
    }

    /// What stands beside a verdict.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::ScriptedModel => {
                "A demonstration: the model's answers came from a file, so this says nothing about a real one."
            }
            Self::NoCodingAgent => {
                "A check of the tasks: the agent calls no model, so this says nothing about what a skill does for one."
            }
        }
    }

    /// The mark of an export.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::ScriptedModel => "Scripted model: its answers came from a file; not a measurement",
            Self::NoCodingAgent => "No coding agent: it calls no model; not a measurement",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_no_model_or_a_scripted_one_is_no_measurement() {
        for (agent, scripted, why) in [
            ("bash", false, None),
            ("bash", true, Some(Demonstration::ScriptedModel)),
            ("nop", false, Some(Demonstration::NoCodingAgent)),
            ("oracle", false, Some(Demonstration::NoCodingAgent)),
            // A command of somebody's may call a model by ways of its own.
            ("command", false, None),
            ("Oracle", false, None),
        ] {
            assert_eq!(Demonstration::of(agent, scripted), why, "{agent} {scripted}");
        }
    }
}
