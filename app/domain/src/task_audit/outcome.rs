//! What a task is, from how the runs of its audit ended.

use serde::{Deserialize, Serialize};

use crate::report::TrialRecord;
use crate::verdict::Verdict;

/// What a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// It fails where nothing was done, passes with its solution (where there is one), and repeats agree: the only one that is trusted.
    Discriminating,
    /// It passes although nothing was done.
    AtCeiling,
    /// Its own solution does not pass.
    Unsolvable,
    /// Repeats of the same run end differently, as a whole or in a test case.
    Flaky,
    /// Its verifier gives no result where nothing was done, so that failed trials would be left out instead of counted.
    Unjudged,
    /// Engine trouble or a cancellation left a question open.
    Undecided,
}

impl AuditOutcome {
    /// All, as they are listed.
    pub const ALL: [Self; 6] =
        [Self::Discriminating, Self::AtCeiling, Self::Unsolvable, Self::Flaky, Self::Unjudged, Self::Undecided];

    /// The word for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Discriminating => "discriminating",
            Self::AtCeiling => "at ceiling without an agent",
            Self::Unsolvable => "unsolvable",
            Self::Flaky => "flaky",
            Self::Unjudged => "not judged without work",
            Self::Undecided => "undecided",
        }
    }

    /// Whether a Δ over the task means what it says.
    #[must_use]
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Discriminating)
    }

    /// The verdict of the runs decides first; test cases are looked at where it is in order.
    pub(super) fn of(nop: &Agreement, oracle: Option<&Agreement>, has_flaky_tests: bool) -> Self {
        use End::{Failed, NoResult, Passed};
        if nop.disagrees() || oracle.is_some_and(Agreement::disagrees) {
            return Self::Flaky;
        }
        match (nop.end(), oracle.map(Agreement::end)) {
            (Some(Passed), _) => Self::AtCeiling,
            (_, Some(Some(Failed | NoResult))) => Self::Unsolvable,
            (Some(NoResult), _) => Self::Unjudged,
            (None, _) | (_, Some(None)) => Self::Undecided,
            (Some(Failed), Some(Some(Passed)) | None) if has_flaky_tests => Self::Flaky,
            (Some(Failed), Some(Some(Passed)) | None) => Self::Discriminating,
        }
    }
}

/// How a run ended, where that says something about the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Failed,
    /// The verifier gave no usable result, in the last of all attempts.
    NoResult,
}

/// The runs of one agent on one task, taken together.
#[derive(Debug, Clone, Default)]
pub(super) struct Agreement {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) no_result: u32,
    /// Runs that say nothing about the task: trouble of engine or image, cancelled, not finished.
    pub(super) open: u32,
    /// What went wrong first in a run that has no score, or in one that failed for another reason than its result.
    pub(super) why: Option<String>,
}

impl Agreement {
    pub(super) fn of(runs: &[&TrialRecord]) -> Self {
        let mut agreement = Self::default();
        for run in runs {
            match run.state.verdict() {
                Some(Verdict::Pass) => agreement.passed += 1,
                Some(Verdict::Fail { .. }) => agreement.failed += 1,
                Some(Verdict::VerifierError { .. }) => agreement.no_result += 1,
                Some(Verdict::InfraError { .. } | Verdict::Cancelled) | None => agreement.open += 1,
            }
            agreement.why = agreement.why.or_else(|| super::why(run));
        }
        agreement
    }

    pub(super) const fn decided(&self) -> u32 {
        self.passed + self.failed + self.no_result
    }

    pub(super) const fn disagrees(&self) -> bool {
        let kinds = (self.passed > 0) as u8 + (self.failed > 0) as u8 + (self.no_result > 0) as u8;
        kinds > 1
    }

    /// How all of them ended; `None` where none says anything.
    pub(super) const fn end(&self) -> Option<End> {
        match self {
            Self { passed: 1.., .. } => Some(End::Passed),
            Self { failed: 1.., .. } => Some(End::Failed),
            Self { no_result: 1.., .. } => Some(End::NoResult),
            _ => None,
        }
    }
}
