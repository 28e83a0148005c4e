//! Results of plans that may end early. What was looked at before the end is judged by the e-value, and the p of a fixed number of tasks is not
//! given: it would not hold (statistics rule 7).

use super::totals::counts;
use super::{EvaluationReport, TaskReport, Totals, TrialRecord};
use crate::id::TrialId;
use crate::stats::alpha::Alpha;
use crate::stats::delta::delta;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::stop::{Seen, StopReason, Stopped, TaskSoFar};
use crate::time::Timestamp;

/// The most evidence that was there at any time, as the tasks ended one after the other; tasks that are not over yet say nothing.
pub(super) fn seen(tasks: &[TaskReport], trials: &[TrialRecord]) -> Seen {
    let ended = |task: &TaskReport| {
        let own = trials.iter().filter(|trial| trial.task_id == task.task_id);
        own.map(|trial| trial.state.finished_at()).try_fold(Timestamp(i64::MIN), |last, at| Some(last.max(at?)))
    };
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
        let mut report = Self { stopped: Some(stopped), ..self };
        let seen = report.seen.map_or(stopped.seen, |seen| stopped.seen.or(seen));
        report.seen = Some(seen);
        if report.is_by_evidence() {
            by_evidence(&mut report.totals, &report.tasks, seen, stopped.why != StopReason::OutOfTime);
        }
        report
    }

    /// Whether the verdict rests on the e-value.
    #[must_use]
    pub fn is_by_evidence(&self) -> bool {
        self.stop.evidence || self.stopped.is_some_and(|stopped| stopped.why == StopReason::Futility)
    }
}

/// Puts the e-value's verdict in the place of that of the fixed-n test.
pub(super) fn by_evidence(totals: &mut Totals, tasks: &[TaskReport], seen: Seen, ended_early: bool) {
    let rule = VerdictRule::default();
    (totals.p_value, totals.p_mid, totals.e_value) = (None, None, Some(seen.e_value));
    totals.verdict = delta(&counts(tasks), Alpha::FIVE_PERCENT)
        .map(|estimate| DeltaVerdict::anytime(&estimate, seen.signs(), ended_early, &rule));
}
