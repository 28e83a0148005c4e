//! Results of plans that may end early, and of those that a person ended. What was looked at before the end is judged by the e-value, and the p of a fixed number of tasks is not
//! given: it would not hold (statistics rule 7).

use std::collections::HashMap;

use super::totals::counts;
use super::{EvaluationReport, TaskReport, Totals, TrialRecord};
use crate::id::{TaskId, TrialId};
use crate::stats::alpha::Alpha;
use crate::stats::delta::delta;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::stop::{Seen, StopReason, Stopped, TaskSoFar};
use crate::time::Timestamp;

/// The most evidence that was there at any time, as the tasks ended one after the other; tasks that are not over yet say nothing.
pub(super) fn seen(tasks: &[TaskReport], trials: &[TrialRecord]) -> Seen {
    // When the last trial of each task ended; `None` = one is not over.
    let mut ends: HashMap<TaskId, Option<Timestamp>> = HashMap::with_capacity(tasks.len());
    for trial in trials {
        let end = ends.entry(trial.task_id).or_insert(Some(Timestamp(i64::MIN)));
        *end = end.zip(trial.state.finished_at()).map(|(last, at)| last.max(at));
    }
    // A task without a trial was over before all others.
    let ended = |task: &TaskReport| ends.get(&task.task_id).copied().unwrap_or(Some(Timestamp(i64::MIN)));
    let mut over: Vec<(Timestamp, &TaskReport)> = tasks.iter().filter_map(|task| Some((ended(task)?, task))).collect();
    over.sort_by_key(|(at, _)| *at);
    Seen::most(over.into_iter().map(|(_, task)| task.counts()))
}

impl TaskReport {
    /// The task as a stop rule sees it; `is_over` says of a trial whether it is decided.
    #[must_use]
    pub fn so_far(&self, is_over: impl Fn(TrialId) -> bool) -> TaskSoFar {
        let over = |trial: Option<TrialId>| trial.is_none_or(&is_over);
        let open = self.pairs.iter().filter(|pair| !(over(pair.trials.without) && over(pair.trials.with))).count();
        TaskSoFar { counts: self.counts(), open: u32::try_from(open).unwrap_or(u32::MAX) }
    }
}

impl EvaluationReport {
    /// The result with the early end that was decided, if one was.
    #[must_use]
    pub fn ended_early(self, stopped: Option<Stopped>) -> Self {
        let Some(stopped) = stopped else { return self };
        let seen = self.seen.map_or(stopped.seen, |seen| stopped.seen.or(seen));
        let by_outcomes = match stopped.why {
            StopReason::Futility | StopReason::Evidence | StopReason::ByHand => true,
            StopReason::OutOfTime | StopReason::ProviderDenied => false,
        };
        let mut report = Self { stopped: Some(stopped), seen: Some(seen), ..self };
        if report.is_by_evidence() {
            by_evidence(&mut report.totals, &report.tasks, seen, by_outcomes);
        }
        report
    }

    /// What the model's provider said where it let nothing in, so that the evaluation was ended without a result.
    #[must_use]
    pub fn denied(&self) -> Option<&str> {
        let stopped = self.stopped.as_ref().filter(|stopped| stopped.why == StopReason::ProviderDenied)?;
        let is_it = self.finished && self.totals.pairs_complete == 0;
        is_it.then(|| stopped.told.as_deref().unwrap_or("the model's provider denied access"))
    }

    /// Whether the verdict rests on the e-value.
    #[must_use]
    pub fn is_by_evidence(&self) -> bool {
        let why = self.stopped.as_ref().map(|stopped| stopped.why);
        self.stop.evidence || matches!(why, Some(StopReason::Futility | StopReason::ByHand))
    }
}

/// Puts the e-value's verdict in the place of that of the fixed-n test.
pub(super) fn by_evidence(totals: &mut Totals, tasks: &[TaskReport], seen: Seen, ended_early: bool) {
    let rule = VerdictRule::default();
    (totals.p_value, totals.p_mid, totals.e_value) = (None, None, Some(seen.e_value));
    totals.verdict = delta(&counts(tasks), Alpha::FIVE_PERCENT)
        .map(|estimate| DeltaVerdict::anytime(&estimate, seen.signs(), ended_early, &rule));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::AttemptResult;
    use crate::condition::Condition;
    use crate::draw::Draw;
    use crate::hash::ContentHash;
    use crate::plan::TaskRef;
    use crate::report::{TaskReport, index};
    use crate::trial::TrialState;
    use crate::verdict::{FailReason, Verdict};

    /// By the definition: each task's own trials, looked for among all.
    fn by_definition(tasks: &[TaskReport], trials: &[TrialRecord]) -> Seen {
        let mut over = Vec::new();
        for task in tasks {
            let ends: Option<Vec<_>> = trials
                .iter()
                .filter(|trial| trial.task_id == task.task_id)
                .map(|trial| trial.state.finished_at())
                .collect();
            over.extend(ends.map(|ends| (ends.into_iter().max(), task)));
        }
        over.sort_by_key(|(at, _)| *at);
        Seen::most(over.into_iter().map(|(_, task)| task.counts()))
    }

    #[test]
    fn the_most_evidence_is_looked_for_in_the_order_in_which_tasks_ended() {
        let mut draw = Draw::from_seed(3);
        let mut different = std::collections::BTreeSet::new();
        for round in 0..200 {
            let mut trials = Vec::new();
            let refs: Vec<TaskRef> = (1..=9)
                .map(|id| TaskRef {
                    id: TaskId(id),
                    name: format!("t{id}"),
                    version: ContentHash::of(&id.to_be_bytes()),
                })
                .collect();
            // The last task has no trial yet.
            for (task, repeat) in refs.iter().take(8).flat_map(|task| [(task, 1), (task, 2)]) {
                for condition in [Condition::NoSkill, Condition::WithSkill] {
                    let helped = draw.below(10) < if condition == Condition::WithSkill { 8 } else { 2 };
                    let verdict =
                        if helped { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
                    let at = Timestamp(draw.below(30) as i64);
                    let state = match draw.below(40) {
                        0 => TrialState::NEW,
                        _ => TrialState::Finished { attempts: 1, verdict: verdict.clone(), at },
                    };
                    let id = TrialId(trials.len() as i64);
                    let (task_id, task) = (task.id, task.name.clone());
                    let result = Some(AttemptResult::bare(verdict));
                    trials.push(TrialRecord { id, task_id, task, condition, repeat, state, result });
                }
            }
            let tasks: Vec<TaskReport> = refs.iter().map(|task| TaskReport::of(task, 2, &index(&trials))).collect();
            let got = seen(&tasks, &trials);
            assert_eq!(got, by_definition(&tasks, &trials), "round {round}");
            different.insert((got.rescued, got.broken));
        }
        assert!(different.len() > 5, "{different:?}");
    }
}
