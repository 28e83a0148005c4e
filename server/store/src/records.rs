//! The trials of an evaluation as analyses take them: each with what its last attempt left behind, whether it was run here or imported.

use std::collections::HashMap;

use domain::attempt::AttemptResult;
use domain::id::TaskId;
use domain::report::TrialRecord;

use crate::error::Result;
use crate::trials::Taken;
use crate::{AttemptRow, EvaluationRow, Store, TrialRow};

impl Store {
    /// All trials of an evaluation.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`], [`crate::StoreError::Unreadable`].
    pub async fn records(&self, row: &EvaluationRow) -> Result<Vec<TrialRecord>> {
        let names = names(row);
        if row.imported.is_some() {
            let trials = self.imported_trials(row.id).await?;
            return Ok(trials.iter().map(|trial| trial.record(name(&names, trial.task))).collect());
        }
        let results = self.results(row.id).await?;
        Ok(results.into_iter().map(|(trial, attempt)| record(&names, trial, attempt)).collect())
    }

    /// The trials of these tasks alone.
    ///
    /// # Errors
    /// As [`Store::records`].
    pub async fn records_of(&self, row: &EvaluationRow, tasks: &[TaskId]) -> Result<Vec<TrialRecord>> {
        if row.imported.is_some() {
            let mut trials = self.records(row).await?;
            trials.retain(|trial| tasks.contains(&trial.task_id));
            return Ok(trials);
        }
        let names = names(row);
        let results = self.results_of(row.id, tasks).await?;
        Ok(results.into_iter().map(|(trial, attempt)| record(&names, trial, attempt)).collect())
    }

    /// All trials with that part alone of what attempts left behind that decides which pairs are complete: the use of a skill that was not
    /// listed to the model. All of it is thousands of bytes a trial.
    ///
    /// # Errors
    /// As [`Store::records`].
    pub async fn outcomes(&self, row: &EvaluationRow) -> Result<Vec<TrialRecord>> {
        if row.imported.is_some() {
            return self.records(row).await;
        }
        let unlisted = self.unlisted(row.id).await?;
        let outcome = |trial: TrialRow| {
            let used = unlisted.get(&trial.id).cloned().zip(trial.state.verdict().cloned());
            let result = used.map(|(activation, verdict)| AttemptResult { activation, ..AttemptResult::bare(verdict) });
            TrialRecord { result, ..record(&HashMap::new(), trial, None) }
        };
        Ok(self.trials(row.id).await?.into_iter().map(outcome).collect())
    }

    /// All trials with what decides which pairs are complete, and what they took: use of the skill, tokens, time.
    ///
    /// # Errors
    /// As [`Store::records`].
    pub async fn amounts(&self, row: &EvaluationRow) -> Result<Vec<TrialRecord>> {
        if row.imported.is_some() {
            return self.records(row).await;
        }
        let names = names(row);
        let mut taken = self.taken(row.id).await?;
        let amount = |trial: TrialRow| {
            let result = taken.remove(&trial.id).zip(trial.state.verdict().cloned()).map(|(taken, verdict)| {
                let Taken { activation, usage, phases } = taken;
                AttemptResult { activation, usage, phases, ..AttemptResult::bare(verdict) }
            });
            TrialRecord { result, ..record(&names, trial, None) }
        };
        Ok(self.trials(row.id).await?.into_iter().map(amount).collect())
    }
}

/// The tasks' names as the plan tells them.
fn names(row: &EvaluationRow) -> HashMap<TaskId, &str> {
    row.plan.tasks.iter().map(|task| (task.id, task.name.as_str())).collect()
}

fn name(names: &HashMap<TaskId, &str>, task: TaskId) -> String {
    names.get(&task).map(|name| (*name).to_owned()).unwrap_or_default()
}

fn record(names: &HashMap<TaskId, &str>, trial: TrialRow, attempt: Option<AttemptRow>) -> TrialRecord {
    TrialRecord {
        id: trial.id,
        task_id: trial.task,
        task: name(names, trial.task),
        condition: trial.condition,
        repeat: trial.repeat,
        state: trial.state,
        result: attempt.and_then(|attempt| attempt.result),
    }
}
