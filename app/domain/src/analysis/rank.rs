//! Ranks that are exact where two rows are equal, tiers where they cannot be told apart, and none where a row has shown nothing.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::comparison::Compared;
use crate::demonstration::Demonstration;
use crate::report::{TaskReport, Totals};
use crate::stats::counts::PairCounts;
use crate::stats::interval::Interval;
use crate::stats::verdict::DeltaVerdict;

/// A row with fewer of its pairs complete has no rank: what is missing may decide.
pub const LEAST_COMPLETE_SHARE: f64 = 0.8;

/// A fraction kept as whole numbers, so that rows are equal exactly when their counts say so and not when their text does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fraction {
    numerator: i64,
    denominator: i64,
}

impl Fraction {
    /// In lowest terms; `None` over 0.
    #[must_use]
    pub fn new(numerator: i64, denominator: i64) -> Option<Self> {
        Self::reduced(i128::from(numerator), i128::from(denominator))
    }

    /// The mean over tasks of each task's Δ; `None` without a complete pair. Where the numbers of pairs have no common multiple of a useful size,
    /// the nearest multiple of 10⁻¹² stands in.
    #[must_use]
    pub fn of_tasks(tasks: &[TaskReport]) -> Option<Self> {
        let rates: Vec<(i128, i128)> = tasks.iter().filter(|task| task.pairs_complete > 0).map(net).collect();
        let n = i128::try_from(rates.len()).ok().filter(|n| *n > 0)?;
        let exact = rates.iter().try_fold((0_i128, 1_i128), |(sum, common), (net, pairs)| {
            let step = pairs / gcd(common, *pairs);
            let wider = common.checked_mul(step)?;
            let sum = sum.checked_mul(step)?.checked_add(net.checked_mul(wider / pairs)?)?;
            Some((sum, wider))
        });
        exact.and_then(|(sum, common)| Self::reduced(sum, common.checked_mul(n)?)).or_else(|| {
            const FINEST: f64 = 1e12;
            let mean = rates.iter().map(|(net, pairs)| *net as f64 / *pairs as f64).sum::<f64>() / rates.len() as f64;
            Self::reduced((mean * FINEST).round() as i128, FINEST as i128)
        })
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let unit = gcd(numerator, denominator) * denominator.signum();
        Some(Self {
            numerator: (numerator / unit).try_into().ok()?,
            denominator: (denominator / unit).try_into().ok()?,
        })
    }
}

fn net(task: &TaskReport) -> (i128, i128) {
    let counts: PairCounts = task.pairs.iter().filter_map(|pair| pair.flip).collect();
    (i128::from(counts.net_rescued()), i128::from(task.pairs_complete))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs().max(1) } else { gcd(b, a % b) }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: i64, b: i64| i128::from(a) * i128::from(b);
        cross(self.numerator, other.denominator).cmp(&cross(other.numerator, self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Why a row has no rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unranked {
    /// No pair is complete.
    NoResult,
    /// The model's answers came from a file.
    Scripted,
    /// The agent calls no model and solves nothing by itself.
    NoCodingAgent,
    /// Others ran it, and nobody here saw the runs.
    Imported,
    /// It stands in a table that others published.
    Published,
    /// So few tasks that no outcome could be told from chance.
    TooFewTasks {
        /// There are.
        tasks: u32,
        /// It takes.
        needed: u32,
    },
    /// The baseline was no plain one: not a skill against none.
    Compared {
        /// With what it was compared.
        with: Compared,
    },
    /// Too many pairs are incomplete.
    Incomplete {
        /// Share of pairs that are complete.
        complete: f64,
    },
}

impl Unranked {
    /// Judges a row; `None` = it may be ranked.
    #[must_use]
    pub fn of(totals: &Totals, demonstration: Option<Demonstration>) -> Option<Self> {
        let Some(verdict) = &totals.verdict else { return Some(Self::NoResult) };
        let complete = totals.pairs_complete as f64 / totals.pairs() as f64;
        if let Some(demonstration) = demonstration {
            return Some(demonstration.into());
        }
        match verdict {
            DeltaVerdict::CannotBeResolved { tasks, tasks_needed, .. } => {
                Some(Self::TooFewTasks { tasks: *tasks, needed: *tasks_needed })
            }
            _ if complete < LEAST_COMPLETE_SHARE => Some(Self::Incomplete { complete }),
            _ => None,
        }
    }
}

impl From<Demonstration> for Unranked {
    fn from(demonstration: Demonstration) -> Self {
        match demonstration {
            Demonstration::ScriptedModel => Self::Scripted,
            Demonstration::NoCodingAgent => Self::NoCodingAgent,
        }
    }
}

/// For people: `not enough tasks (1 of 6)`.
impl fmt::Display for Unranked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResult => f.write_str("no result"),
            Self::Scripted => f.write_str(Demonstration::ScriptedModel.word()),
            Self::NoCodingAgent => f.write_str(Demonstration::NoCodingAgent.word()),
            Self::Imported => f.write_str("imported"),
            Self::Published => f.write_str("published by others"),
            Self::TooFewTasks { tasks, needed } => write!(f, "not enough tasks ({tasks} of {needed})"),
            Self::Compared { with: Compared::NoSkill } => f.write_str("beside distractor skills"),
            Self::Compared { with } => write!(f, "compared: {}", with.word()),
            Self::Incomplete { complete } => write!(f, "incomplete ({:.0} % of pairs)", complete * 100.0),
        }
    }
}

/// What ranking looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// What it is ranked by; `None` = unknown.
    pub value: Option<Fraction>,
    /// The interval of the value, for tiers.
    pub ci: Option<Interval>,
    /// Complete pairs: of two equals the better known one comes first.
    pub pairs: u64,
    /// Then by name,
    pub name: String,
    /// and last by row.
    pub id: i64,
    /// Whether it may be ranked.
    pub ranked: bool,
}

/// Which way a table is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Largest first.
    Descending,
    /// Smallest first.
    Ascending,
}

/// A row's place among the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// 1, 2, 2, 4: one more than the number of ranked rows with a larger value; `None` where it may not be ranked.
    pub rank: Option<u32>,
    /// Rows whose intervals overlap that of their tier's first row share a tier, from 1; `None` like the rank.
    pub tier: Option<u32>,
}

/// The places of all rows, in the order given.
#[must_use]
pub fn places(rows: &[Contender]) -> Vec<Place> {
    let mut places = vec![Place::default(); rows.len()];
    let mut last: Option<(Fraction, u32)> = None;
    let mut leader: Option<(Interval, u32)> = None;
    let sorted = order(rows, Direction::Descending);
    let ranked = sorted.into_iter().filter_map(|at| rows.get(at).filter(|row| row.ranked).map(|row| (at, row)));
    for (position, (at, row)) in (1_u32..).zip(ranked) {
        let Some(value) = row.value else { continue };
        let rank = last.filter(|(above, _)| *above == value).map_or(position, |(_, rank)| rank);
        last = Some((value, rank));
        let tier = match (leader, row.ci) {
            (Some((best, tier)), Some(ci)) if ci.high < best.low => {
                leader = Some((ci, tier + 1));
                tier + 1
            }
            (Some((_, tier)), _) => tier,
            (None, ci) => {
                leader = ci.map(|ci| (ci, 1));
                1
            }
        };
        if let Some(place) = places.get_mut(at) {
            *place = Place { rank: Some(rank), tier: Some(tier) };
        }
    }
    places
}

/// Indices of the rows in the order of a table: ranked rows by value, then known but unranked ones, the unknown last in either direction. Of equals
/// the one with more pairs comes first, then by name, then by row: a total order, the same on every page.
#[must_use]
pub fn order(rows: &[Contender], direction: Direction) -> Vec<usize> {
    let class = |row: &Contender| match (row.value, row.ranked) {
        (Some(_), true) => 0,
        (Some(_), false) => 1,
        (None, _) => 2,
    };
    let by_value = |a: &Contender, b: &Contender| match direction {
        Direction::Ascending => a.value.cmp(&b.value),
        Direction::Descending => b.value.cmp(&a.value),
    };
    let mut sorted: Vec<(usize, &Contender)> = rows.iter().enumerate().collect();
    sorted.sort_by(|(_, a), (_, b)| {
        class(a)
            .cmp(&class(b))
            .then_with(|| by_value(a, b))
            .then_with(|| b.pairs.cmp(&a.pairs))
            .then_with(|| a.name.cmp(&b.name))
            .then_with(|| a.id.cmp(&b.id))
    });
    sorted.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: Option<(i64, i64)>, pairs: u64) -> Contender {
        let value = value.and_then(|(numerator, denominator)| Fraction::new(numerator, denominator));
        Contender { value, ci: None, pairs, name: name.to_owned(), id: 0, ranked: value.is_some() }
    }

    fn names(rows: &[Contender], direction: Direction) -> String {
        order(rows, direction).into_iter().map(|at| rows[at].name.as_str()).collect()
    }

    fn ranks(rows: &[Contender]) -> Vec<Option<u32>> {
        places(rows).into_iter().map(|place| place.rank).collect()
    }

    #[test]
    fn unknown_stays_last_in_both_directions() {
        let rows = [("a", None), ("b", Some((-1, 5))), ("c", Some((0, 7))), ("d", Some((2, 5))), ("e", None)];
        let rows = rows.map(|(name, value)| row(name, value, 10));
        assert_eq!(names(&rows, Direction::Descending), "dcbae");
        assert_eq!(names(&rows, Direction::Ascending), "bcdae");
        assert_eq!(ranks(&rows), [None, Some(3), Some(2), Some(1), None]);
    }

    #[test]
    fn equality_is_judged_on_counts() {
        let rows = [("b", 3, 10), ("a", 3, 10), ("c", 9, 10), ("e", 333, 1000), ("d", 1000, 3000)];
        let rows = rows.map(|(name, won, pairs)| row(name, Some((won, pairs)), pairs as u64));
        assert_eq!(names(&rows, Direction::Descending), "cdeab");
        assert_eq!(ranks(&rows), [4, 4, 1, 3, 2].map(Some));
    }

    #[test]
    fn unranked_rows_stand_below_the_ranked_and_get_no_number() {
        let mut rows = [row("best", Some((1, 1)), 1), row("good", Some((1, 2)), 9), row("none", None, 0)];
        rows[0].ranked = false;
        assert_eq!(names(&rows, Direction::Descending), "goodbestnone");
        assert_eq!(ranks(&rows), [None, Some(1), None]);
    }

    #[test]
    fn rows_share_a_tier_while_their_intervals_meet_the_leaders() {
        let with = |value: i64, low: f64, high: f64| Contender {
            ci: Interval::new(low, high),
            ..row("r", Some((value, 100)), 50)
        };
        let rows =
            [with(60, 0.5, 0.7), with(48, 0.4, 0.55), with(45, 0.35, 0.49), with(30, 0.2, 0.36), with(5, 0.0, 0.1)];
        let tiers: Vec<Option<u32>> = places(&rows).into_iter().map(|place| place.tier).collect();
        assert_eq!(tiers, [1, 1, 2, 2, 3].map(Some));
    }

    #[test]
    fn fractions_compare_without_rounding() {
        let near = |numerator| Fraction::new(numerator, i64::MAX).unwrap();
        assert!(near(i64::MAX - 1) > near(i64::MAX - 2) && near(3) == Fraction::new(-3, -i64::MAX).unwrap());
        assert_eq!(Fraction::new(1, 0), None);
    }
}
