//! What verdicts say where the arms are alike, and where the effect is just as large as the margin.

use std::fmt::Write as _;

use domain::stats::verdict::{DeltaVerdict, VerdictRule};

use crate::chance::{Population, share};
use crate::coverage::per_cent;

/// One line of the table of equal arms.
pub fn equal_row(tasks: u32, repeats: u32, rate: f64, sure: f64) -> String {
    let runs = if tasks > 100 { 1000 } else { 4000 };
    let estimates =
        Population { without: rate, with: rate, sure }.estimates(tasks, repeats, runs, 7 + u64::from(tasks));
    let rule = VerdictRule::default();
    let words: Vec<&str> = estimates.iter().map(|estimate| DeltaVerdict::raw(estimate, &rule).word()).collect();
    let of = |wanted: &[&str]| per_cent(share(&words, |word| wanted.contains(word)));
    format!(
        "| {tasks} | {repeats} | {rate} | {sure} | {} | {} | {} | {} |\n",
        per_cent(share(&estimates, |estimate| estimate.delta != 0.0)),
        per_cent(share(&estimates, |estimate| estimate.p_value <= 0.05)),
        of(&["improves", "harms"]),
        of(&["no_effect"]),
    )
}

pub fn equal_arms() -> String {
    let mut text = "## A/A: both arms alike

Shares of evaluations in %. *Improves* and *Harms* would be false here and must stay below 5 %; *No effect within ±5 pp* is true.

| tasks | repeats | pass rate | sure | Δ is not 0 | p ≤ 5 % | Improves or Harms | No effect |
|---:|---:|---:|---:|---:|---:|---:|---:|
"
    .to_owned();
    for (tasks, repeats) in [(2, 5), (6, 1), (6, 3), (10, 1), (12, 2), (25, 5), (40, 1), (80, 3), (200, 1), (500, 1)] {
        for (rate, sure) in [(0.3, 0.0), (0.5, 0.5), (0.9, 0.0), (0.98, 0.5)] {
            text += &equal_row(tasks, repeats, rate, sure);
        }
    }
    text
}

pub fn at_the_margin() -> String {
    const RUNS: u32 = 2000;
    let mut text = "## The effect is just as large as the margin

*No effect within ±10 pp* is false here and must stay below 5 %.

| tasks | repeats | rates | sure | No effect, % |
|---:|---:|---|---:|---:|
"
    .to_owned();
    let rule = VerdictRule { margin: 0.1, ..VerdictRule::default() };
    for (tasks, repeats) in [(6, 1), (20, 1), (60, 1), (60, 3), (120, 1), (120, 3)] {
        for (without, with) in [(0.8, 0.9), (0.1, 0.2), (0.9, 0.8)] {
            let estimates = Population { without, with, sure: 0.5 }.estimates(tasks, repeats, RUNS, 11);
            let none = share(&estimates, |estimate| DeltaVerdict::raw(estimate, &rule).word() == "no_effect");
            let _ = writeln!(text, "| {tasks} | {repeats} | {without} → {with} | 0.5 | {} |", per_cent(none));
        }
    }
    text
}
