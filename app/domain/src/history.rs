//! An evaluation with everything that is known of it: the plan, and each trial with all its attempts. What is exported, and what an imported
//! evaluation is kept as; its report is computed from it like any other.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::attempt::{AttemptResult, BlobRef};
use crate::condition::Condition;
use crate::id::{EvaluationId, TaskId, TrialId};
use crate::imported::Imported;
use crate::plan::EvaluationPlan;
use crate::report::{EvaluationReport, TrialRecord};
use crate::spending::Spending;
use crate::stop::Stopped;
use crate::time::Timestamp;
use crate::trial::TrialState;
use crate::verdict::Verdict;

/// An evaluation with all its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationHistory {
    /// Its row.
    pub id: EvaluationId,
    /// When it was planned; for an imported one, when its source says that it was made.
    pub created_at: Timestamp,
    /// What was compared.
    pub plan: EvaluationPlan,
    /// Where it came from, if others ran it.
    pub imported: Option<Imported>,
    /// Why it was ended before all of its trials, if it was.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    /// In the plan's order.
    pub trials: Vec<TrialHistory>,
}

/// A trial with all its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialHistory {
    /// Its row; below 0 where it was imported.
    pub id: TrialId,
    /// Its task's row; below 0 where it was imported.
    pub task: TaskId,
    /// Its arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// Where it stands.
    pub state: TrialState,
    /// First one first.
    pub attempts: Vec<AttemptHistory>,
}

/// One try at a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptHistory {
    /// From 1.
    pub number: u32,
    /// `None` where an imported source does not say.
    pub started_at: Option<Timestamp>,
    /// `None` while it runs, or where an imported source does not say.
    pub ended_at: Option<Timestamp>,
    /// What was decided; `None` while it runs.
    pub verdict: Option<Verdict>,
    /// What its executor reported; `None` where it reported nothing.
    pub result: Option<AttemptResult>,
    /// What it had told of its spending before an end that nobody reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Spending>,
}

impl TrialHistory {
    /// The trial with what its last attempt left behind. `task` is its task's name.
    #[must_use]
    pub fn record(&self, task: String) -> TrialRecord {
        TrialRecord {
            id: self.id,
            task_id: self.task,
            task,
            condition: self.condition,
            repeat: self.repeat,
            state: self.state.clone(),
            result: self.attempts.last().and_then(|attempt| attempt.result.clone()),
        }
    }
}

impl EvaluationHistory {
    /// Its trials as a report reads them.
    #[must_use]
    pub fn records(&self) -> Vec<TrialRecord> {
        let names: HashMap<TaskId, &str> = self.plan.tasks.iter().map(|task| (task.id, task.name.as_str())).collect();
        let name = |id: TaskId| names.get(&id).copied().unwrap_or_default().to_owned();
        self.trials.iter().map(|trial| trial.record(name(trial.task))).collect()
    }

    /// Its result.
    #[must_use]
    pub fn report(&self) -> EvaluationReport {
        let report = EvaluationReport::compute(self.id, self.created_at, &self.plan, &self.records());
        EvaluationReport { imported: self.imported.clone(), ..report }.ended_early(self.stopped.clone())
    }

    /// Every file that an attempt names: traces, logs.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut Option<BlobRef>> {
        let attempts = self.trials.iter_mut().flat_map(|trial| &mut trial.attempts);
        attempts.filter_map(|attempt| attempt.result.as_mut()).flat_map(|result| {
            let patch = result.patch.as_mut().map(|patch| &mut patch.file);
            [&mut result.trace, &mut result.agent_log, &mut result.verifier_log, &mut result.calls]
                .into_iter()
                .chain(patch)
        })
    }

    /// The same.
    pub fn files(&self) -> impl Iterator<Item = BlobRef> {
        let attempts = self.trials.iter().flat_map(|trial| &trial.attempts);
        attempts.filter_map(|attempt| attempt.result.as_ref()).flat_map(|result| {
            let patch = result.patch.and_then(|patch| patch.file);
            [result.trace, result.agent_log, result.verifier_log, result.calls, patch].into_iter().flatten()
        })
    }
}
