//! The pairs that are not in Δ, and why: the first of each kind by name, the others as numbers.

use serde::{Deserialize, Serialize};

use super::{EvaluationReport, TaskReport, TrialReport};
use crate::id::TaskId;

/// So many of each kind are named.
const NAMED: usize = 50;

/// What was left out of a finished evaluation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Trials that trouble of engine, provider or verifier kept from a score, each with its task's row.
    pub trouble: Vec<(TaskId, TrialReport)>,
    /// How many such trials there are.
    pub in_trouble: u64,
    /// Trials that a person stopped.
    pub cancelled: u64,
    /// Pairs that were scored in both arms and yet say nothing.
    pub void: Vec<VoidPair>,
    /// How many such pairs there are.
    pub voided: u64,
    /// Pairs of which only one arm was run.
    pub one_armed: u64,
}

/// A pair that was scored in both arms and yet says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidPair {
    /// Its task.
    pub task: String,
    /// Its task's row.
    pub task_id: TaskId,
    /// From 1.
    pub repeat: u32,
    /// Why.
    pub why: String,
}

impl LeftOut {
    /// Of a finished evaluation.
    #[must_use]
    pub fn of(report: &EvaluationReport) -> Self {
        let mut left_out = Self::default();
        let trials: std::collections::HashMap<_, _> = report.trials.iter().map(|trial| (trial.id, trial)).collect();
        for task in &report.tasks {
            for pair in task.pairs.iter().filter(|pair| pair.flip.is_none()) {
                left_out.pair(task, pair, &[pair.trials.without, pair.trials.with].map(|id| trials.get(&id?).copied()));
            }
        }
        left_out
    }

    fn pair(&mut self, task: &TaskReport, pair: &super::PairedTrials, trials: &[Option<&TrialReport>; 2]) {
        if trials.iter().any(Option::is_none) {
            self.one_armed += 1;
        }
        if let Some(why) = &pair.void {
            self.voided += 1;
            if self.void.len() < NAMED {
                let (task, task_id) = (task.task.clone(), task.task_id);
                self.void.push(VoidPair { task, task_id, repeat: pair.repeat, why: why.clone() });
            }
        }
        for trial in trials.iter().flatten() {
            match trial.verdict.as_deref() {
                Some("infra_error" | "verifier_error") => {
                    self.in_trouble += 1;
                    if self.trouble.len() < NAMED {
                        self.trouble.push((task.task_id, (*trial).clone()));
                    }
                }
                Some("cancelled") => self.cancelled += 1,
                _ => {}
            }
        }
    }
}
