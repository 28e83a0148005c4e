//! Tables that others published: what their rows can and cannot show. They are read-only, marked as published, and never ranked with own runs.

mod claims;
mod row;

use serde::{Deserialize, Serialize};

pub use claims::{Claim, claims};
pub use row::{PublishedRow, Range, RoundedTokens, RowCheck};

use crate::stats::alpha::Alpha;
use crate::stats::interval::Interval;
use crate::stats::mcnemar;
use crate::stats::paired_t::paired_t;
use crate::stats::signflip::sign_flip;

/// A published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTable {
    /// What it is, such as `SWE-Skills-Bench, Table 2`.
    pub name: String,
    /// Where it was had from, and how much to trust that.
    pub source: String,
    /// Who solved the tasks, as its authors say.
    pub agent: String,
    /// With which model.
    pub model: String,
    /// Skill by skill.
    pub rows: Vec<PublishedRow>,
}

/// What a published table shows when it is held against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedReport {
    /// Which table.
    pub name: String,
    /// Where from.
    pub source: String,
    /// Row by row.
    pub rows: Vec<RowCheck>,
    /// Rows whose Δ follows exactly from their counts.
    pub delta_reproduced: u32,
    /// Rows whose ρ follows from their tokens within rounding.
    pub rho_reproduced: u32,
    /// Rows with a printed CE.
    pub ce_printed: u32,
    /// Of them, those whose CE follows from Δ and ρ within rounding.
    pub ce_reproduced: u32,
    /// Rows that could be told from chance at any outcome.
    pub resolvable: u32,
    /// Over all rows.
    pub overall: Overall,
    /// What the text says against what the rows say.
    pub claims: Vec<Claim>,
}

/// Numbers over all rows. Shares, except where named otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// Rows.
    pub skills: u32,
    /// Test cases of all rows.
    pub cases: u64,
    /// Cases passed with the skill.
    pub cases_passed_with: u64,
    /// Cases passed without.
    pub cases_passed_without: u64,
    /// Mean pass rate with the skill, each row of the same weight.
    pub pass_rate_with: f64,
    /// Mean pass rate without.
    pub pass_rate_without: f64,
    /// Mean Δ.
    pub delta: f64,
    /// Student's t interval of it, the skill as unit; `None` without spread.
    pub delta_ci: Option<Interval>,
    /// Sign-flip test of the rows' Δ.
    pub p_value: Option<f64>,
    /// Rows with Δ > 0.
    pub gains: u32,
    /// Rows with Δ < 0.
    pub losses: u32,
    /// Exact sign test of gains against losses.
    pub p_sign: f64,
    /// ρ over all tokens: the ratio of sums − 1.
    pub rho: Option<f64>,
    /// Mean of the rows' printed ρ, to compare; not to be used.
    pub rho_mean: Option<f64>,
    /// Median of the rows' printed ρ.
    pub rho_median: Option<f64>,
    /// Geometric mean of the rows' printed ratios − 1.
    pub rho_geometric: Option<f64>,
    /// Pearson's correlation of Δ and ρ.
    pub correlation: Option<f64>,
}

impl PublishedReport {
    /// Holds a table against itself.
    #[must_use]
    pub fn of(table: &PublishedTable) -> Self {
        let rows: Vec<RowCheck> = table.rows.iter().map(RowCheck::of).collect();
        let count = |holds: fn(&RowCheck) -> bool| {
            u32::try_from(rows.iter().filter(|row| holds(row)).count()).unwrap_or(u32::MAX)
        };
        let overall = Overall::of(&table.rows);
        Self {
            name: table.name.clone(),
            source: table.source.clone(),
            delta_reproduced: count(|row| row.delta_reproduced),
            rho_reproduced: count(|row| row.rho_reproduced),
            ce_printed: count(|row| row.ce_reproduced.is_some()),
            ce_reproduced: count(|row| row.ce_reproduced == Some(true)),
            resolvable: count(|row| row.resolvable),
            claims: claims(&table.rows, &overall),
            overall,
            rows,
        }
    }
}

impl Overall {
    fn of(rows: &[PublishedRow]) -> Self {
        let n = rows.len() as f64;
        let mean = |of: fn(&PublishedRow) -> f64| rows.iter().map(of).sum::<f64>() / n.max(1.0);
        let sum = |of: fn(&PublishedRow) -> u32| rows.iter().map(|row| u64::from(of(row))).sum::<u64>();
        let count = |holds: fn(&PublishedRow) -> bool| {
            u32::try_from(rows.iter().filter(|row| holds(row)).count()).unwrap_or(u32::MAX)
        };
        let deltas: Vec<f64> = rows.iter().map(PublishedRow::delta).collect();
        let rhos: Vec<f64> = rows.iter().map(|row| row.printed_rho / 100.0).collect();
        let (gains, losses) = (count(|row| row.net() > 0), count(|row| row.net() < 0));
        let tokens = |of: fn(&PublishedRow) -> f64| rows.iter().map(of).sum::<f64>();
        let without = tokens(|row| row.tokens_without.value);
        Self {
            skills: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            cases: sum(|row| row.cases),
            cases_passed_with: sum(|row| row.passed_with),
            cases_passed_without: sum(|row| row.passed_without),
            pass_rate_with: mean(|row| row.rate(row.passed_with)),
            pass_rate_without: mean(|row| row.rate(row.passed_without)),
            delta: mean(PublishedRow::delta),
            delta_ci: paired_t(&deltas, Alpha::FIVE_PERCENT).map(|t| t.ci),
            p_value: sign_flip(&deltas).map(|flip| flip.p),
            gains,
            losses,
            p_sign: mcnemar::exact(gains, losses),
            rho: (without > 0.0).then(|| tokens(|row| row.tokens_with.value) / without - 1.0),
            rho_mean: average(&rhos),
            rho_median: median(rhos.clone()),
            rho_geometric: average(&rhos.iter().map(|rho| rho.ln_1p()).collect::<Vec<f64>>()).map(f64::exp_m1),
            correlation: correlation(&deltas, &rhos),
        }
    }
}

fn average(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 { Some(upper) } else { Some((upper + values.get(middle.checked_sub(1)?)?) / 2.0) }
}

fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    let (mean_x, mean_y) = (average(x)?, average(y)?);
    let sum =
        |product: fn(f64, f64) -> f64| -> f64 { x.iter().zip(y).map(|(x, y)| product(x - mean_x, y - mean_y)).sum() };
    let found = sum(|x, y| x * y) / (sum(|x, _| x * x) * sum(|_, y| y * y)).sqrt();
    found.is_finite().then_some(found)
}
