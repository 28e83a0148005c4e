//! What each test case of a task measures, from how it ended in the scored runs of an audit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::test_case::{TestCase, TestStatus};

/// What a test case measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestClass {
    /// Fails, or is not there, where nothing was done, and passes with the solution: it measures the work.
    FailToPass,
    /// Passes where nothing was done: it measures nothing.
    PassToPass,
    /// Fails with the task's own solution.
    Broken,
    /// Ends differently in repeats of the same run.
    Flaky,
    /// Never seen to pass nor to fail with a solution: there is none, or the test did not run with it.
    Unproven,
}

impl TestClass {
    /// All, as they are listed.
    pub const ALL: [Self; 5] = [Self::FailToPass, Self::PassToPass, Self::Broken, Self::Flaky, Self::Unproven];

    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::FailToPass => "fail-to-pass",
            Self::PassToPass => "pass-to-pass",
            Self::Broken => "broken",
            Self::Flaky => "flaky",
            Self::Unproven => "unproven",
        }
    }
}

/// In how many runs a test case passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passes {
    /// Scored runs in which it passed.
    pub passed: u32,
    /// Scored runs in which it is named.
    pub ran: u32,
    /// Scored runs in all.
    pub runs: u32,
}

/// A test case with what it measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestAudit {
    /// As the test program names it.
    pub name: String,
    /// What it measures.
    pub class: TestClass,
    /// Where nothing was done.
    pub nop: Passes,
    /// With the solution; `null` where there is none.
    pub oracle: Option<Passes>,
}

/// How many test cases there are of each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Of [`TestClass::FailToPass`].
    pub fail_to_pass: u32,
    /// Of [`TestClass::PassToPass`].
    pub pass_to_pass: u32,
    /// Of [`TestClass::Broken`].
    pub broken: u32,
    /// Of [`TestClass::Flaky`].
    pub flaky: u32,
    /// Of [`TestClass::Unproven`].
    pub unproven: u32,
}

impl ClassCounts {
    /// Counts `tests`.
    #[must_use]
    pub fn of(tests: &[TestAudit]) -> Self {
        let mut counts = Self::default();
        for test in tests {
            *counts.of_class(test.class) += 1;
        }
        counts
    }

    const fn of_class(&mut self, class: TestClass) -> &mut u32 {
        match class {
            TestClass::FailToPass => &mut self.fail_to_pass,
            TestClass::PassToPass => &mut self.pass_to_pass,
            TestClass::Broken => &mut self.broken,
            TestClass::Flaky => &mut self.flaky,
            TestClass::Unproven => &mut self.unproven,
        }
    }

    /// How many there are of a class.
    #[must_use]
    pub const fn get(&self, class: TestClass) -> u32 {
        let mut counts = *self;
        *counts.of_class(class)
    }

    /// All test cases.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.fail_to_pass + self.pass_to_pass + self.broken + self.flaky + self.unproven
    }
}

/// How one test case ended in the runs of one agent.
#[derive(Default, Clone, Copy)]
struct Ends {
    passes: Passes,
    failed: u32,
}

impl Ends {
    /// Not being named is not passing: where nothing was done, tests often cannot even be collected.
    const fn always_passed(self) -> bool {
        self.passes.runs > 0 && self.passes.passed == self.passes.runs
    }

    const fn disagree(self) -> bool {
        self.passes.passed > 0 && self.passes.passed < self.passes.runs
    }
}

/// Classifies every test case that any run names. `nop` and `oracle` hold the test cases of scored runs, run by run; `oracle` is `None` where
/// the task has no solution. The order is that of the solution's first run, then what only others name.
pub(super) fn classify(nop: &[Vec<TestCase>], oracle: Option<&[Vec<TestCase>]>) -> Vec<TestAudit> {
    let solved = oracle.unwrap_or_default();
    let (nop_ends, oracle_ends) = (ends(nop), ends(solved));
    let mut seen = BTreeSet::new();
    let names = solved.iter().chain(nop).flatten().map(|test| test.name.as_str()).filter(|name| seen.insert(*name));
    let of = |ends: &BTreeMap<&str, Ends>, name: &str, runs: usize| {
        let mut found = ends.get(name).copied().unwrap_or_default();
        found.passes.runs = u32::try_from(runs).unwrap_or(u32::MAX);
        found
    };
    names
        .map(|name| {
            let without = of(&nop_ends, name, nop.len());
            let with = of(&oracle_ends, name, solved.len());
            TestAudit {
                name: name.to_owned(),
                class: class(without, with),
                nop: without.passes,
                oracle: oracle.map(|_| with.passes),
            }
        })
        .collect()
}

/// Test cases of equal name in one run are one: it passed where all of them did.
fn ends(runs: &[Vec<TestCase>]) -> BTreeMap<&str, Ends> {
    let mut all: BTreeMap<&str, Ends> = BTreeMap::new();
    for run in runs {
        let mut of_run: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
        for test in run {
            let (passed, failed) = of_run.entry(&test.name).or_insert((true, false));
            *passed &= test.status == TestStatus::Passed;
            *failed |= matches!(test.status, TestStatus::Failed | TestStatus::Other);
        }
        for (name, (passed, failed)) in of_run {
            let ends = all.entry(name).or_default();
            ends.passes.ran += 1;
            ends.passes.passed += u32::from(passed);
            ends.failed += u32::from(failed);
        }
    }
    all
}

/// The table, first line that fits: repeats that disagree; failed with the solution; passed without work; passed with the solution.
const fn class(nop: Ends, oracle: Ends) -> TestClass {
    if nop.disagree() || oracle.disagree() {
        TestClass::Flaky
    } else if oracle.failed > 0 {
        TestClass::Broken
    } else if nop.always_passed() {
        TestClass::PassToPass
    } else if oracle.always_passed() && nop.passes.runs > 0 {
        TestClass::FailToPass
    } else {
        TestClass::Unproven
    }
}
