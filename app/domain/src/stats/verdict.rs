//! The verdict on a Δ, in the words of the house: Improves, Harms, No effect within ±m, Inconclusive, Cannot be resolved.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::delta::DeltaEstimate;
use super::evalue::EValue;
use super::interval::Interval;
use super::mcnemar::smallest_p;

/// When a Δ counts as shown, and when as nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VerdictRule {
    /// The level that p must reach.
    pub alpha: Alpha,
    /// Below this share (0.05 = 5 percentage points) a difference does not matter.
    pub margin: f64,
}

impl Default for VerdictRule {
    fn default() -> Self {
        Self { alpha: Alpha::FIVE_PERCENT, margin: 0.05 }
    }
}

/// Whether a p stands alone or was adjusted for its family; every verdict says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Adjustment {
    /// As the test gave it.
    Raw,
    /// By Holm's method, among so many rows.
    Holm {
        /// Rows in the family.
        family: u32,
    },
    /// 1/E: holds however often one looked (F18).
    Anytime,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Δ, a share.
    pub delta: f64,
    /// Its interval.
    pub ci: Interval,
    /// The p that was judged.
    pub p: f64,
    /// Whether it was adjusted.
    pub adjustment: Adjustment,
}

/// What a Δ shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum DeltaVerdict {
    /// With so few tasks no outcome could have reached α.
    CannotBeResolved {
        /// Tasks there are.
        tasks: u32,
        /// Tasks from which on an outcome could reach α.
        tasks_needed: u32,
        /// The best p (adjusted alike) that `tasks` tasks can give.
        best_p: f64,
        /// What was seen nevertheless.
        evidence: Evidence,
    },
    /// p ≤ α and the whole interval above 0.
    Improves(Evidence),
    /// p ≤ α and the whole interval below 0.
    Harms(Evidence),
    /// The whole interval inside ±margin.
    NoEffect {
        /// The margin, a share.
        margin: f64,
        /// What it rests on.
        evidence: Evidence,
    },
    /// Anything may be true: more tasks are needed.
    Inconclusive(Evidence),
}

impl DeltaVerdict {
    /// The verdict by the estimate's own p.
    #[must_use]
    pub fn raw(estimate: &DeltaEstimate, rule: &VerdictRule) -> Self {
        Self::judge(estimate, estimate.p_value, Adjustment::Raw, rule)
    }

    /// The verdict by a p that was adjusted by Holm's method among `family` rows.
    #[must_use]
    pub fn adjusted(estimate: &DeltaEstimate, p: f64, family: u32, rule: &VerdictRule) -> Self {
        Self::judge(estimate, p, Adjustment::Holm { family }, rule)
    }

    /// The verdict by the e-value of `rescued` against `broken` tasks, where the plan allowed to stop on what was seen. The interval is made for a
    /// fixed number of tasks, so it decides only that there is no effect, and only of an evaluation that was not `ended_early`: the chance to say
    /// so wrongly is no larger for having looked.
    #[must_use]
    pub fn anytime(
        estimate: &DeltaEstimate,
        [rescued, broken]: [u32; 2],
        ended_early: bool,
        rule: &VerdictRule,
    ) -> Self {
        let e_value = EValue::jeffreys(rescued, broken);
        let p = e_value.anytime_p();
        let evidence = Evidence { delta: estimate.delta, ci: estimate.ci, p, adjustment: Adjustment::Anytime };
        let (tasks, best_p) = (estimate.n_tasks, best_p(estimate.n_tasks, Adjustment::Anytime));
        if e_value.may_stop(rule.alpha) {
            if rescued > broken { Self::Improves(evidence) } else { Self::Harms(evidence) }
        } else if ended_early {
            Self::Inconclusive(evidence)
        } else if best_p > rule.alpha.value() {
            let tasks_needed = tasks_needed(Adjustment::Anytime, rule.alpha);
            Self::CannotBeResolved { tasks, tasks_needed, best_p, evidence }
        } else if evidence.ci.within(rule.margin) {
            Self::NoEffect { margin: rule.margin, evidence }
        } else {
            Self::Inconclusive(evidence)
        }
    }

    fn judge(estimate: &DeltaEstimate, p: f64, adjustment: Adjustment, rule: &VerdictRule) -> Self {
        let evidence = Evidence { delta: estimate.delta, ci: estimate.ci, p, adjustment };
        let tasks = estimate.n_tasks;
        let best_p = best_p(tasks, adjustment);
        let significant = p <= rule.alpha.value();
        if best_p > rule.alpha.value() {
            Self::CannotBeResolved { tasks, tasks_needed: tasks_needed(adjustment, rule.alpha), best_p, evidence }
        } else if significant && evidence.ci.low > 0.0 {
            Self::Improves(evidence)
        } else if significant && evidence.ci.high < 0.0 {
            Self::Harms(evidence)
        } else if evidence.ci.within(rule.margin) {
            Self::NoEffect { margin: rule.margin, evidence }
        } else {
            Self::Inconclusive(evidence)
        }
    }

    /// What it rests on.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        match self {
            Self::CannotBeResolved { evidence, .. } | Self::NoEffect { evidence, .. } => evidence,
            Self::Improves(evidence) | Self::Harms(evidence) | Self::Inconclusive(evidence) => evidence,
        }
    }

    /// A stable word for JSON, style classes and icons.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::CannotBeResolved { .. } => "cannot_be_resolved",
            Self::Improves(_) => "improves",
            Self::Harms(_) => "harms",
            Self::NoEffect { .. } => "no_effect",
            Self::Inconclusive(_) => "inconclusive",
        }
    }
}

/// The words for people: `No effect within ±5 pp`.
impl fmt::Display for DeltaVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotBeResolved { .. } => f.write_str("Cannot be resolved"),
            Self::Improves(_) => f.write_str("Improves"),
            Self::Harms(_) => f.write_str("Harms"),
            Self::NoEffect { margin, .. } => write!(f, "No effect within ±{} pp", (margin * 1e4).round() / 100.0),
            Self::Inconclusive(_) => f.write_str("Inconclusive"),
        }
    }
}

/// The smallest p that so many tasks can reach: in a family, that of Holm's first step.
fn best_p(tasks: u32, adjustment: Adjustment) -> f64 {
    match adjustment {
        Adjustment::Raw => smallest_p(tasks),
        Adjustment::Anytime => EValue::jeffreys(tasks, 0).anytime_p(),
        Adjustment::Holm { family } => (smallest_p(tasks) * f64::from(family.max(1))).min(1.0),
    }
}

/// Fewest tasks that reach the level if all go one way.
pub(crate) fn tasks_needed(adjustment: Adjustment, alpha: Alpha) -> u32 {
    /// 2^-1100 is 0 in floating point, so the search ends before.
    const MOST: u32 = 1100;
    (1..MOST).find(|tasks| best_p(*tasks, adjustment) <= alpha.value()).unwrap_or(MOST)
}
