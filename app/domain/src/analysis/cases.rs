//! The other unit: test cases inside verifier runs, which the paper calls instances. Cases of one run are not independent, so the interval takes
//! the task as the cluster.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::group::Group;
use crate::condition::{Flip, Pair};
use crate::id::TrialId;
use crate::report::{PairedTrials, TrialRecord};
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::interval::Interval;
use crate::stats::mcnemar;
use crate::test_case::{TestCase, TestStatus};

/// Said wherever numbers of test cases are shown.
pub const CASES_WARNING: &str =
    "Cases of one run are not independent: they pass or fail together. The task is the unit of the verdict.";

/// Pass rates over test cases of complete pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestCaseTotals {
    /// Runs (pairs) that tell of test cases in both arms.
    pub pairs: u64,
    /// Cases present in both arms; where the file only counts them, those of the arm that has fewer.
    pub cases: u64,
    /// Cases that only one arm has: left out.
    pub unmatched: u64,
    /// Share of cases passed with the skill; skipped counts against it.
    pub pass_rate_with: f64,
    /// Share passed without.
    pub pass_rate_without: f64,
    /// Difference of the two: the paper's ΔP.
    pub delta: f64,
    /// Interval with the task as cluster; `None` with fewer than two tasks, or no spread.
    pub delta_ci: Option<Interval>,
    /// Cases that only the with-skill run passed; `None` where they have no names.
    pub rescued: Option<u64>,
    /// Cases that only the no-skill run passed.
    pub broken: Option<u64>,
    /// McNemar's p as if cases were independent: too small, to compare with what others print.
    pub naive_p: Option<f64>,
    /// [`CASES_WARNING`].
    pub warning: String,
}

/// Sums over the runs of one task.
#[derive(Default, Clone, Copy)]
struct Sums {
    cases: f64,
    with: f64,
    without: f64,
}

/// Adds up test cases, task by task.
#[derive(Default)]
pub(super) struct Counting {
    pairs: u64,
    unmatched: u64,
    named: PairCounts,
    all_named: bool,
    tasks: Vec<Sums>,
}

/// Over all groups; `None` where the file tells of no test cases.
pub(super) fn test_cases<'a>(groups: impl IntoIterator<Item = &'a Group>) -> Option<TestCaseTotals> {
    let mut counting = Counting::of_named();
    for group in groups {
        let records: HashMap<TrialId, &TrialRecord> =
            if group.counted.is_empty() && group.records.iter().all(|record| cases(record).is_empty()) {
                continue;
            } else {
                group.records.iter().map(|record| (record.id, record)).collect()
            };
        for task in &group.tasks {
            let mut sums = Sums::default();
            for pair in task.pairs.iter().filter(|pair| pair.flip.is_some()) {
                counting.pair(pair, &records, &group.counted, &mut sums);
            }
            if sums.cases > 0.0 {
                counting.tasks.push(sums);
            }
        }
    }
    counting.total()
}

fn cases(record: &TrialRecord) -> &[TestCase] {
    record.result.as_ref().map_or(&[], |result| &result.tests)
}

impl Counting {
    /// For test cases that have names.
    pub(super) fn of_named() -> Self {
        Self { all_named: true, ..Self::default() }
    }

    /// Adds the complete pairs of one task.
    pub(super) fn task(&mut self, pairs: impl IntoIterator<Item = Pair<Vec<TestCase>>>) {
        let mut sums = Sums::default();
        for arms in pairs {
            self.named(Pair { without: &arms.without, with: &arms.with }, &mut sums);
        }
        if sums.cases > 0.0 {
            self.tasks.push(sums);
        }
    }

    fn pair(
        &mut self,
        pair: &PairedTrials,
        records: &HashMap<TrialId, &TrialRecord>,
        counted: &HashMap<TrialId, (u32, u32)>,
        sums: &mut Sums,
    ) {
        let (Some(without), Some(with)) = (pair.trials.without, pair.trials.with) else { return };
        if let (Some(without), Some(with)) = (counted.get(&without), counted.get(&with)) {
            self.counted(Pair { without: *without, with: *with }, sums);
        } else if let (Some(without), Some(with)) = (records.get(&without), records.get(&with)) {
            self.named(Pair { without: cases(without), with: cases(with) }, sums);
        }
    }

    fn counted(&mut self, arms: Pair<(u32, u32)>, sums: &mut Sums) {
        let (fewer, more) = (arms.with.1.min(arms.without.1), arms.with.1.max(arms.without.1));
        self.unmatched += u64::from(more - fewer);
        if fewer == 0 {
            return;
        }
        self.pairs += 1;
        self.all_named = false;
        let share = |(passed, total): (u32, u32)| f64::from(passed) / f64::from(total);
        sums.cases += f64::from(fewer);
        sums.with += share(arms.with) * f64::from(fewer);
        sums.without += share(arms.without) * f64::from(fewer);
    }

    fn named(&mut self, arms: Pair<&[TestCase]>, sums: &mut Sums) {
        let passed = |case: &TestCase| case.status == TestStatus::Passed;
        let without: HashMap<&str, bool> = arms.without.iter().map(|case| (case.name.as_str(), passed(case))).collect();
        let with: HashMap<&str, bool> = arms.with.iter().map(|case| (case.name.as_str(), passed(case))).collect();
        let mut matched = 0_u64;
        for (name, with) in &with {
            let Some(without) = without.get(name) else { continue };
            matched += 1;
            self.named.record(Flip::of(Pair { without: *without, with: *with }));
            sums.with += f64::from(u8::from(*with));
            sums.without += f64::from(u8::from(*without));
        }
        sums.cases += matched as f64;
        self.pairs += u64::from(matched > 0);
        self.unmatched += (with.len() + without.len()) as u64 - 2 * matched;
    }

    /// The sums; `None` where there is no test case.
    pub(super) fn total(self) -> Option<TestCaseTotals> {
        let sum = |of: fn(&Sums) -> f64| self.tasks.iter().map(of).sum::<f64>();
        let cases = sum(|task| task.cases);
        if cases <= 0.0 {
            return None;
        }
        let (with, without) = (sum(|task| task.with) / cases, sum(|task| task.without) / cases);
        let flips = self.all_named.then_some(self.named);
        Some(TestCaseTotals {
            pairs: self.pairs,
            cases: cases as u64,
            unmatched: self.unmatched,
            pass_rate_with: with,
            pass_rate_without: without,
            delta: with - without,
            delta_ci: interval(&self.tasks, with - without, cases),
            rescued: flips.map(|flips| u64::from(flips.rescued)),
            broken: flips.map(|flips| u64::from(flips.broken)),
            naive_p: flips.map(|flips| mcnemar::exact(flips.rescued, flips.broken)),
            warning: CASES_WARNING.to_owned(),
        })
    }
}

/// The sandwich estimator of `stats::cluster`, from sums of clusters instead of single values.
fn interval(tasks: &[Sums], delta: f64, cases: f64) -> Option<Interval> {
    let count = tasks.len() as f64;
    let degrees = u32::try_from(tasks.len().checked_sub(1)?).ok()?;
    let squares: f64 = tasks.iter().map(|task| (task.with - task.without - delta * task.cases).powi(2)).sum();
    let half = Alpha::FIVE_PERCENT.t(degrees)? * (count / (count - 1.0) * squares).sqrt() / cases;
    if half > 0.0 { Interval::new((delta - half).max(-1.0), (delta + half).min(1.0)) } else { None }
}
