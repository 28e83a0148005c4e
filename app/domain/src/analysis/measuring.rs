//! Test cases that measure something: those that pass where nothing was done, by the audit of their task, are counted apart.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::TestCaseTotals;
use super::cases::Counting;
use crate::condition::Pair;
use crate::id::{TaskId, TrialId};
use crate::report::EvaluationReport;
use crate::test_case::TestCase;

/// The test cases of an evaluation, without those that measure nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuringCases {
    /// Tasks with a complete pair.
    pub tasks: u64,
    /// Of them, those whose version was audited; of the others nothing is left out.
    pub tasks_audited: u64,
    /// Test cases of complete pairs that pass where nothing was done: not in `totals`.
    pub pass_to_pass: u64,
    /// Over the others; `null` where none is left.
    pub totals: Option<TestCaseTotals>,
}

impl MeasuringCases {
    /// Counts the test cases of `report`. `apart` names, for each audited task, the test cases that pass where nothing was done. `None` where no
    /// task was audited, or verifiers name no test case.
    #[must_use]
    pub fn of(report: &EvaluationReport, apart: &HashMap<TaskId, &BTreeSet<String>>) -> Option<Self> {
        let trials: HashMap<TrialId, &[TestCase]> =
            report.trials.iter().map(|trial| (trial.id, trial.tests.as_slice())).collect();
        let complete = || report.tasks.iter().filter(|task| task.pairs_complete > 0);
        let (mut counting, mut pass_to_pass) = (Counting::of_named(), 0);
        for task in complete() {
            let names = apart.get(&task.task_id);
            let is_apart = |case: &TestCase| names.is_some_and(|names| names.contains(&case.name));
            let pairs = task.pairs.iter().filter(|pair| pair.flip.is_some()).filter_map(|pair| {
                let tests = |trial: Option<TrialId>| trials.get(&trial?).copied();
                Some(Pair { without: tests(pair.trials.without)?, with: tests(pair.trials.with)? })
            });
            let pairs: Vec<Pair<&[TestCase]>> = pairs.collect();
            for arms in &pairs {
                let without: BTreeSet<&str> = arms.without.iter().map(|case| case.name.as_str()).collect();
                let both = |case: &&TestCase| is_apart(case) && without.contains(case.name.as_str());
                pass_to_pass += arms.with.iter().filter(both).count() as u64;
            }
            let kept = |tests: &[TestCase]| -> Vec<TestCase> {
                tests.iter().filter(|case| !is_apart(case)).cloned().collect()
            };
            counting.task(pairs.into_iter().map(|arms| arms.map(kept)));
        }
        let tasks_audited = complete().filter(|task| apart.contains_key(&task.task_id)).count() as u64;
        let totals = counting.total();
        let any = tasks_audited > 0 && (totals.is_some() || pass_to_pass > 0);
        any.then(|| Self { tasks: complete().count() as u64, tasks_audited, pass_to_pass, totals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::AttemptResult;
    use crate::comparison::Comparison;
    use crate::condition::Condition;
    use crate::hash::ContentHash;
    use crate::id::EvaluationId;
    use crate::plan::{AgentRef, EvaluationPlan, RunSettings, TaskRef, Treatment};
    use crate::report::TrialRecord;
    use crate::test_case::TestStatus;
    use crate::time::Timestamp;
    use crate::trial::TrialState;
    use crate::verdict::Verdict;

    /// Tasks by the test cases that passed in each arm; each task has the cases `a`, `b` and `c`.
    fn report(tasks: &[(&str, &str)]) -> EvaluationReport {
        let task =
            |id: usize| TaskRef { id: TaskId(id as i64), name: format!("t{id}"), version: ContentHash::of(b"t") };
        let plan = EvaluationPlan {
            title: String::new(),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            tasks: (0..tasks.len()).map(task).collect(),
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats: 1,
            seed: 1,
            settings: RunSettings::default(),
            kind: Default::default(),
        };
        let case = |name: &str, passed: &str| TestCase {
            name: name.to_owned(),
            status: if passed.contains(name) { TestStatus::Passed } else { TestStatus::Failed },
            duration_ms: None,
            message: None,
        };
        let trial = |id: usize, condition: Condition, passed: &str| TrialRecord {
            id: TrialId(id as i64 * 2 + i64::from(condition == Condition::WithSkill)),
            task_id: TaskId(id as i64),
            task: format!("t{id}"),
            condition,
            repeat: 1,
            state: TrialState::Finished { attempts: 1, verdict: Verdict::Pass, at: Timestamp(0) },
            result: Some(AttemptResult {
                tests: ["a", "b", "c"].map(|name| case(name, passed)).into(),
                ..AttemptResult::bare(Verdict::Pass)
            }),
        };
        let trials: Vec<TrialRecord> = tasks
            .iter()
            .enumerate()
            .flat_map(|(id, (without, with))| {
                [trial(id, Condition::NoSkill, without), trial(id, Condition::WithSkill, with)]
            })
            .collect();
        EvaluationReport::compute(EvaluationId(1), Timestamp(0), &plan, &trials)
    }

    #[test]
    fn what_passes_without_work_is_counted_apart() {
        let report = report(&[("ab", "abc"), ("a", "abc")]);
        let names = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let audited = |tasks: &[i64]| tasks.iter().map(|id| (TaskId(*id), &names)).collect::<HashMap<_, _>>();
        // Of the first task only `c` measures anything; of the second, which was not audited, nothing is left out.
        let found = MeasuringCases::of(&report, &audited(&[0])).unwrap();
        assert_eq!((found.tasks, found.tasks_audited, found.pass_to_pass), (2, 1, 2));
        let totals = found.totals.unwrap();
        assert_eq!((totals.cases, totals.rescued, totals.pairs), (4, Some(3), 2));
        assert_eq!((totals.pass_rate_without, totals.pass_rate_with, totals.delta), (0.25, 1.0, 0.75));
        let all = MeasuringCases::of(&report, &audited(&[0, 1])).unwrap();
        assert_eq!((all.pass_to_pass, all.totals.map(|totals| totals.cases)), (4, Some(2)));
        assert_eq!(MeasuringCases::of(&report, &audited(&[])), None);
        let everything = BTreeSet::from(["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let of_both = [(TaskId(0), &everything), (TaskId(1), &everything)].into_iter().collect();
        let nothing_left = MeasuringCases::of(&report, &of_both).unwrap();
        assert_eq!((nothing_left.pass_to_pass, nothing_left.totals), (6, None));
    }
}
