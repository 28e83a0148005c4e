//! One published row: a pass rate each way over the test cases of one task, and rounded tokens.

use serde::{Deserialize, Serialize};

use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::interval::Interval;
use crate::stats::mcnemar::{exact, smallest_p};
use crate::stats::paired;
use crate::stats::quadrant::{Quadrant, cost_efficiency};

/// Tokens as printed: `243K`, `1.1M`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundedTokens {
    /// As printed.
    pub value: f64,
    /// The true number lies within this of it.
    pub half_unit: f64,
}

impl RoundedTokens {
    /// Printed in thousands, from a million on in tenths of a million.
    #[must_use]
    pub fn printed(value: f64) -> Self {
        Self { value, half_unit: if value >= 1e6 { 50_000.0 } else { 500.0 } }
    }
}

/// A row of a published table. Printed numbers are kept beside the counts they were made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The skill.
    pub skill: String,
    /// Tasks behind the row: the unit of a verdict.
    pub tasks: u32,
    /// Test cases of the one run of each arm (the paper's instances).
    pub cases: u32,
    /// Cases passed with the skill.
    pub passed_with: u32,
    /// Cases passed without.
    pub passed_without: u32,
    /// Mean tokens with the skill.
    pub tokens_with: RoundedTokens,
    /// Mean tokens without.
    pub tokens_without: RoundedTokens,
    /// Pass rate with the skill as printed, in per cent.
    pub printed_with: f64,
    /// Pass rate without as printed, in per cent.
    pub printed_without: f64,
    /// Δ as printed, in percentage points.
    pub printed_delta: f64,
    /// ρ as printed, in per cent.
    pub printed_rho: f64,
    /// CE as printed; `None` where it is not.
    pub printed_ce: Option<f64>,
}

/// Least and most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Least.
    pub least: u32,
    /// Most.
    pub most: u32,
}

/// What a row shows when it is held against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowCheck {
    /// The skill.
    pub skill: String,
    /// Test cases.
    pub cases: u32,
    /// Δ exactly: passed with − passed without, over cases.
    pub delta_cases: i64,
    /// The same as a share.
    pub delta: f64,
    /// Whether rates and Δ follow from the counts to the last printed digit.
    pub delta_reproduced: bool,
    /// ρ of the printed tokens.
    pub rho: Option<f64>,
    /// Where ρ lies, given how tokens were rounded.
    pub rho_range: Option<Interval>,
    /// Whether the printed ρ lies there.
    pub rho_reproduced: bool,
    /// Δ ÷ ρ; never to be sorted by.
    pub ce: Option<f64>,
    /// Whether the printed CE follows within rounding; `None` where none is printed.
    pub ce_reproduced: Option<bool>,
    /// Cases that only the with-skill run can have passed, from the margins alone.
    pub rescued: Range,
    /// Cases that only the no-skill run can have passed.
    pub broken: Range,
    /// The smallest p that the margins allow, even if cases were independent.
    pub best_p: f64,
    /// The narrowest 95 % interval of Δ that the margins allow, if cases were independent.
    pub narrowest_ci: Option<Interval>,
    /// Whether any outcome of so many tasks could be told from chance.
    pub resolvable: bool,
    /// Better or worse against dearer or cheaper.
    pub quadrant: Option<Quadrant>,
}

impl PublishedRow {
    /// Passed with − passed without.
    #[must_use]
    pub fn net(&self) -> i64 {
        i64::from(self.passed_with) - i64::from(self.passed_without)
    }

    /// A number of cases as a share of all.
    #[must_use]
    pub fn rate(&self, passed: u32) -> f64 {
        f64::from(passed) / f64::from(self.cases.max(1))
    }

    /// Δ as a share, from the counts.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.net() as f64 / f64::from(self.cases.max(1))
    }

    /// ρ of the printed tokens; `None` over nothing.
    #[must_use]
    pub fn rho(&self) -> Option<f64> {
        let rho = self.tokens_with.value / self.tokens_without.value - 1.0;
        rho.is_finite().then_some(rho)
    }

    /// Where ρ lies, given how tokens were rounded.
    #[must_use]
    pub fn rho_range(&self) -> Option<Interval> {
        let (with, without) = (self.tokens_with, self.tokens_without);
        Interval::new(
            (with.value - with.half_unit) / (without.value + without.half_unit) - 1.0,
            (with.value + with.half_unit) / (without.value - without.half_unit) - 1.0,
        )
    }

    /// Cases rescued and broken, as far as the margins fix them: passed with − passed without is known, how many went each way is not.
    #[must_use]
    pub fn flips(&self) -> (Range, Range) {
        let (with, without) = (self.passed_with.min(self.cases), self.passed_without.min(self.cases));
        let rescued = Range { least: with.saturating_sub(without), most: with.min(self.cases - without) };
        let broken = Range { least: without.saturating_sub(with), most: without.min(self.cases - with) };
        (rescued, broken)
    }
}

/// A digit of rounding, and a little for the binary form of the printed number.
fn rounds_to(value: f64, printed: f64, unit: f64) -> bool {
    (value - printed).abs() <= unit / 2.0 + 1e-9
}

fn meets(range: Interval, printed: f64, half_unit: f64) -> bool {
    range.low <= printed + half_unit + 1e-9 && printed - half_unit - 1e-9 <= range.high
}

impl RowCheck {
    /// Holds a row against itself.
    #[must_use]
    pub fn of(row: &PublishedRow) -> Self {
        const TENTH: f64 = 0.1;
        let per_cent = |share: f64| share * 100.0;
        let rates = [(row.passed_with, row.printed_with), (row.passed_without, row.printed_without)];
        let (rescued, broken) = row.flips();
        let rho_range = row.rho_range();
        Self {
            skill: row.skill.clone(),
            cases: row.cases,
            delta_cases: row.net(),
            delta: row.delta(),
            delta_reproduced: rounds_to(per_cent(row.delta()), row.printed_delta, TENTH)
                && rates.iter().all(|(passed, printed)| rounds_to(per_cent(row.rate(*passed)), *printed, TENTH)),
            rho: row.rho(),
            rho_range,
            rho_reproduced: rho_range.is_some_and(|range| meets(range, row.printed_rho / 100.0, TENTH / 200.0)),
            ce: row.rho().and_then(|rho| cost_efficiency(row.delta(), rho)),
            ce_reproduced: row.printed_ce.map(|printed| ce_follows(row.delta(), rho_range, printed)),
            rescued,
            broken,
            best_p: exact(rescued.least, broken.least),
            narrowest_ci: paired::interval(&fewest_flips(row), Alpha::FIVE_PERCENT).map(|(ci, _)| ci),
            resolvable: smallest_p(row.tasks) <= Alpha::FIVE_PERCENT.value(),
            quadrant: row.rho().and_then(|rho| Quadrant::of(row.delta(), rho)),
        }
    }
}

/// CE is printed with two decimals; ρ may lie anywhere in its range.
fn ce_follows(delta: f64, rho: Option<Interval>, printed: f64) -> bool {
    const HALF_UNIT: f64 = 0.005;
    let Some(rho) = rho.filter(|rho| !rho.contains(0.0)) else { return false };
    let (a, b) = (delta / rho.low, delta / rho.high);
    Interval::new(a.min(b), a.max(b)).is_some_and(|range| meets(range, printed, HALF_UNIT))
}

fn fewest_flips(row: &PublishedRow) -> PairCounts {
    let (rescued, broken) = row.flips();
    let both = row.passed_with.min(row.passed_without);
    let neither = row.cases.saturating_sub(both + rescued.least + broken.least);
    PairCounts { both, rescued: rescued.least, broken: broken.least, neither }
}
