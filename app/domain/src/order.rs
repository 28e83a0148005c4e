//! What crosses the line between the scheduler and an executor: an order in, events out. Both can be serialised, so that the executor
//! may one day run elsewhere (design §8).

use serde::{Deserialize, Serialize};

use crate::attempt::AttemptResult;
use crate::condition::{Condition, Pair};
use crate::id::{AttemptId, EvaluationId, TrialId};
use crate::plan::{AgentRef, ModelRef, RunSettings};
use crate::skill::SkillPackage;
use crate::spending::Spending;
use crate::task::Task;
use crate::time::Timestamp;
use crate::trace::TraceStep;
use crate::trial::Phase;

/// Everything that an executor needs to make one attempt. File contents are fetched from the blob store by hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialOrder {
    /// The plan it belongs to.
    pub evaluation: EvaluationId,
    /// The trial.
    pub trial: TrialId,
    /// This try at it.
    pub attempt: AttemptId,
    /// The task.
    pub task: Task,
    /// The arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// The skills that are compared, by arm. Both are given whichever arm it is, so that the absence of the other's can be proven.
    pub skills: Pair<Vec<SkillPackage>>,
    /// Skills that lie beside them in both arms.
    #[serde(default)]
    pub distractors: Vec<SkillPackage>,
    /// Who solves it.
    pub agent: AgentRef,
    /// With which model.
    pub model: Option<ModelRef>,
    /// Limits and ways.
    pub settings: RunSettings,
    /// What the evaluation's earlier attempts have spent; asked for only where a limit of the whole evaluation needs it.
    #[serde(default)]
    pub spent: Spending,
}

impl TrialOrder {
    /// The skills on trial in this arm.
    #[must_use]
    pub fn on_trial(&self) -> &[SkillPackage] {
        self.skills.get(self.condition)
    }

    /// Everything that must lie where the agent looks, and nothing else.
    #[must_use]
    pub fn placed(&self) -> Vec<&SkillPackage> {
        self.on_trial().iter().chain(&self.distractors).collect()
    }

    /// The skills whose use is looked for: those on trial, or where there is none, the other arm's, which must not show.
    #[must_use]
    pub fn watched(&self) -> &[SkillPackage] {
        if self.on_trial().is_empty() { &self.skills.with } else { self.on_trial() }
    }

    /// Whether the plan places any skill, in whichever arm.
    #[must_use]
    pub fn has_skills(&self) -> bool {
        !(self.skills.without.is_empty() && self.skills.with.is_empty() && self.distractors.is_empty())
    }
}

/// Something that happened to an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialEvent {
    /// Which attempt.
    pub attempt: AttemptId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happening,
}

/// The kinds of things that happen to an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happening {
    /// A phase began.
    PhaseReached {
        /// Which.
        phase: Phase,
    },
    /// A piece of output, redacted and decoded.
    Log {
        /// Whose.
        phase: Phase,
        /// Text, at most a few kilobytes.
        text: String,
    },
    /// The agent completed a step.
    StepDone {
        /// It.
        step: Box<TraceStep>,
    },
    /// A model call of the agent ended: what the attempt has spent up to now. Kept for attempts whose end nobody lives to tell.
    Spent {
        /// In all, as far as it is known.
        spent: Spending,
    },
    /// The attempt is over.
    Ended {
        /// What it left behind.
        result: Box<AttemptResult>,
    },
}
