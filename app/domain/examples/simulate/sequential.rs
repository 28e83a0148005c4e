//! Looking after every pair: the fixed-n test against the e-value.

use std::fmt::Write as _;

use domain::condition::Flip;
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::evalue::most_evidence;
use domain::stats::mcnemar;

use crate::chance::Chance;
use crate::coverage::per_cent;

/// Shares of runs that ever stopped for an effect: by p, by e-value.
pub fn ever_stopped(pairs: u32, rescued: f64, runs: u32) -> (f64, f64) {
    let mut chance = Chance(41);
    let (mut by_p, mut by_e) = (0, 0);
    for _ in 0..runs {
        let flips: Vec<Flip> =
            (0..pairs).map(|_| if chance.uniform() < rescued { Flip::Rescued } else { Flip::Broken }).collect();
        let mut counts = PairCounts::default();
        by_p += u32::from(flips.iter().any(|flip| {
            counts.record(*flip);
            mcnemar::exact(counts.rescued, counts.broken) <= 0.05
        }));
        by_e += u32::from(most_evidence(flips).may_stop(Alpha::FIVE_PERCENT));
    }
    (f64::from(by_p) / f64::from(runs), f64::from(by_e) / f64::from(runs))
}

pub fn looks() -> String {
    const RUNS: u32 = 2000;
    let mut text = "## Looking after every pair

Share of evaluations, in %, that were ever stopped for an effect. With equal arms (50 % of the flips rescued) that must stay below 5 %: the fixed-n
p does not keep it, the e-value does.

| flips | rescued among flips | by p ≤ 5 % | by e ≥ 20 |
|---:|---:|---:|---:|
"
    .to_owned();
    for (pairs, rescued) in [(20, 0.5), (100, 0.5), (300, 0.5), (20, 0.8), (100, 0.7)] {
        let (by_p, by_e) = ever_stopped(pairs, rescued, RUNS);
        let _ = writeln!(text, "| {pairs} | {} % | {} | {} |", rescued * 100.0, per_cent(by_p), per_cent(by_e));
    }
    text
}
