//! What the text of SWE-Skills-Bench (arXiv 2603.15401) says about its Table 2, held against the rows.

use serde::{Deserialize, Serialize};

use super::{Overall, PublishedRow};

/// A sentence of the text, and what the rows say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What the text says.
    pub text: String,
    /// What the rows say.
    pub rows: String,
    /// Whether the two agree.
    pub agrees: bool,
}

fn claim(text: &str, rows: String, agrees: bool) -> Claim {
    Claim { text: text.to_owned(), rows, agrees }
}

/// All claims, in the order of the text.
#[must_use]
pub fn claims(rows: &[PublishedRow], overall: &Overall) -> Vec<Claim> {
    let mut claims = vec![units(overall), efficiency(rows)];
    claims.extend(rates(rows, overall));
    claims.extend(tokens(rows, overall));
    claims
}

/// `+1.2`, with a true minus.
fn signed(value: f64, decimals: usize) -> String {
    format!("{value:+.decimals$}").replace('-', "−")
}

/// Whether a share, as per cent, is printed like this.
fn prints(share: f64, per_cent: f64) -> bool {
    (share * 100.0 - per_cent).abs() <= 0.05 + 1e-9
}

fn units(overall: &Overall) -> Claim {
    let per_skill = overall.cases as f64 / f64::from(overall.skills.max(1));
    claim(
        "approximately 565 task instances, around 10 for each skill, each with a pass or fail verdict",
        format!(
            "{} is the number of test cases in {} tasks, one task for each skill ({per_skill:.1} cases each); every rate is k/n of the cases of one run, which are not independent",
            overall.cases, overall.skills
        ),
        false,
    )
}

fn efficiency(rows: &[PublishedRow]) -> Claim {
    let named = |wanted: fn(f64, f64) -> bool| -> Vec<&str> {
        let found = |row: &&PublishedRow| row.rho().is_some_and(|rho| wanted(row.delta(), rho));
        rows.iter().filter(found).map(|row| row.skill.as_str()).collect()
    };
    let punished = named(|delta, rho| delta > 0.0 && rho < 0.0);
    let rewarded = named(|delta, rho| delta < 0.0 && rho < 0.0);
    claim(
        "larger positive CE is a greater gain for its tokens; negative CE is harm or disproportionate overhead",
        format!(
            "CE is negative for all skills that are better and cheaper ({}), positive for those worse and cheaper ({})",
            punished.join(", "),
            rewarded.join(", ")
        ),
        punished.is_empty() && rewarded.is_empty(),
    )
}

fn rates(rows: &[PublishedRow], overall: &Overall) -> Vec<Claim> {
    let count = |holds: fn(&PublishedRow) -> bool| rows.iter().filter(|row| holds(row)).count();
    let unchanged = count(|row| row.net() == 0);
    let perfect = count(|row| row.net() == 0 && row.passed_with == row.cases);
    let most = rows.iter().map(PublishedRow::delta).fold(0.0, f64::max);
    let least = rows.iter().map(PublishedRow::delta).fold(0.0, f64::min);
    vec![
        claim(
            "39 of 49 skills yield zero improvement",
            format!("{unchanged} of {} rows have Δ = 0", rows.len()),
            unchanged == 39,
        ),
        claim(
            "pass rate from 89.8 % to 91.0 %, on average +1.2 %",
            format!(
                "{:.2} % to {:.2} %, {} pp",
                overall.pass_rate_without * 100.0,
                overall.pass_rate_with * 100.0,
                signed(overall.delta * 100.0, 2)
            ),
            prints(overall.pass_rate_without, 89.8)
                && prints(overall.pass_rate_with, 91.0)
                && prints(overall.delta, 1.2),
        ),
        claim(
            "seven skills gain, up to +30 %",
            format!("{} rows have Δ > 0, at most {} pp", overall.gains, signed(most * 100.0, 1)),
            overall.gains == 7 && prints(most, 30.0),
        ),
        claim(
            "three skills degrade, up to −10 %",
            format!("{} rows have Δ < 0, at least {} pp", overall.losses, signed(least * 100.0, 1)),
            overall.losses == 3 && prints(least, -10.0),
        ),
        claim(
            "24 skills pass all in both arms, 15 are equal but imperfect",
            format!("{perfect} and {}", unchanged - perfect),
            perfect == 24 && unchanged - perfect == 15,
        ),
    ]
}

fn tokens(rows: &[PublishedRow], overall: &Overall) -> Vec<Claim> {
    let per_cent =
        |rho: Option<f64>| rho.map_or_else(|| "unknown".to_owned(), |rho| format!("{} %", signed(rho * 100.0, 1)));
    let averages = [overall.rho, overall.rho_mean, overall.rho_median, overall.rho_geometric];
    let perfect = || rows.iter().filter(|row| row.net() == 0 && row.passed_with == row.cases);
    let saving = perfect().filter(|row| row.printed_rho < 0.0).count();
    let largest = rows.iter().map(|row| row.printed_rho).fold(f64::MIN, f64::max);
    vec![
        claim(
            "average token consumption increases by 10.5 %",
            format!(
                "ratio of sums {}, mean of ρ {}, median {}, geometric mean {}",
                per_cent(overall.rho),
                per_cent(overall.rho_mean),
                per_cent(overall.rho_median),
                per_cent(overall.rho_geometric)
            ),
            averages.into_iter().flatten().any(|rho| prints(rho, 10.5)),
        ),
        claim(
            "of the 24 skills that pass all, 8 use fewer tokens",
            format!("{saving} of {}", perfect().count()),
            saving == 8 && perfect().count() == 24,
        ),
        claim(
            "overhead up to 451 %",
            format!("largest printed ρ {} %", signed(largest, 1)),
            (largest - 451.0).abs() <= 0.5,
        ),
        claim(
            "Δ and ρ show no consistent correlation",
            format!("Pearson {}", overall.correlation.map_or_else(|| "unknown".to_owned(), |r| signed(r, 2))),
            overall.correlation.is_some_and(|r| r.abs() < 0.2),
        ),
    ]
}
