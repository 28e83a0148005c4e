//! What the intervals and tests promise, checked against chance itself: coverage, false positives, stopping. Single pairs are enumerated exactly; repeats
//! are simulated with fixed seeds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../examples/simulate/chance.rs"]
mod chance;
#[path = "../examples/simulate/coverage.rs"]
#[allow(dead_code, reason = "only its grid is used here")]
mod coverage;
#[path = "../examples/simulate/stopping.rs"]
#[allow(dead_code, reason = "its table is not made here")]
mod stopping;

use chance::{Chance, Population, cells, chances, covers, share, tables};
use domain::condition::{Flip, Pair};
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::evalue::most_evidence;
use domain::stats::interval::Interval;
use domain::stats::mcnemar;
use domain::stats::paired;
use domain::stats::ratio::ratio;
use domain::stats::verdict::{DeltaVerdict, VerdictRule};
use domain::stop::StopRule;

/// At least this much must be covered by 95 % intervals.
const LEAST_COVERAGE: f64 = 0.93;
/// What exact limits may miss, since the worst share of flips is sought at so many points.
const SHARES_BETWEEN: f64 = 0.001;

/// Three standard errors of a simulated share near 5 %.
fn allowance(runs: u32) -> f64 {
    3.0 * (0.05 * 0.95 / f64::from(runs)).sqrt()
}

/// Whatever the rates and however the arms hang together, on as few as two tasks.
#[test]
fn single_pairs_are_covered() {
    for n in [2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 19, 20, 21, 25, 30] {
        let tables = tables(n);
        let intervals: Vec<Interval> =
            tables.iter().map(|table| paired::interval(table, Alpha::FIVE_PERCENT).unwrap().0).collect();
        for without in coverage::RATES {
            for with in coverage::RATES {
                for likeness in coverage::LIKENESS {
                    let chances = chances(&tables, cells(without, with, likeness));
                    let hit = |(ci, chance): (&Interval, &f64)| if covers(*ci, with - without) { *chance } else { 0.0 };
                    let coverage: f64 = intervals.iter().zip(&chances).map(hit).sum();
                    let least = if n < 20 { 0.95 - SHARES_BETWEEN } else { LEAST_COVERAGE };
                    assert!(coverage >= least, "n={n} {without}→{with} alike {likeness}: {coverage}");
                }
            }
        }
    }
}

/// An effect that the test finds is never denied by the interval, nor where it is called the other way round.
#[test]
fn the_interval_agrees_with_the_test() {
    for n in 6..=30 {
        for table in tables(n).iter().filter(|table| mcnemar::exact(table.rescued, table.broken) <= 0.05) {
            let (ci, _) = paired::interval(table, Alpha::FIVE_PERCENT).unwrap();
            let told = if table.rescued > table.broken { ci.low > 0.0 } else { ci.high < 0.0 };
            assert!(told, "{table:?}: {ci:?}");
        }
    }
}

#[test]
fn mcnemar_raises_no_more_false_alarms_than_it_says() {
    for n in [6, 10, 20, 40, 200, 500] {
        for discordant in [0.02_f64, 0.1, 0.3, 0.5, 1.0] {
            let plan =
                |alpha| domain::stats::power::mcnemar_power(n, discordant / 2.0, discordant / 2.0, alpha).unwrap();
            for level in [0.01, 0.05, 0.1] {
                let alarms = plan(Alpha::new(level).unwrap());
                assert!(alarms <= level, "n={n} discordant={discordant}: {alarms} at {level}");
            }
        }
    }
    // The same rate, counted from the test itself.
    let tables = tables(12);
    let chances = chances(&tables, cells(0.5, 0.5, 0.5));
    let alarm = |table: &PairCounts| mcnemar::exact(table.rescued, table.broken) <= 0.05;
    let counted: f64 = tables.iter().zip(&chances).filter(|(table, _)| alarm(table)).map(|(_, chance)| chance).sum();
    let planned = domain::stats::power::mcnemar_power(12, 0.25, 0.25, Alpha::FIVE_PERCENT).unwrap();
    assert!((counted - planned).abs() < 1e-12, "{counted} {planned}");
}

fn repeats_are_covered(repeats: u32) {
    let rates = [(0.5, 0.5), (0.05, 0.05), (0.95, 0.98), (0.1, 0.3), (0.3, 0.8), (0.65, 0.5)];
    for (tasks, runs) in
        [(2, 800), (3, 800), (5, 800), (10, 800), (19, 600), (20, 600), (30, 500), (60, 300), (150, 150), (500, 40)]
    {
        for sure in [0.0, 0.5, 0.9, 1.0] {
            let mut missed = 0.0;
            for (place, (without, with)) in rates.into_iter().enumerate() {
                let seed = u64::from(tasks * 100 + repeats) * 31 + place as u64;
                let estimates = Population { without, with, sure }.estimates(tasks, repeats, runs, seed);
                let coverage = share(&estimates, |estimate| covers(estimate.ci, with - without));
                missed += (1.0 - coverage) / rates.len() as f64;
                assert!(
                    coverage >= LEAST_COVERAGE - allowance(runs),
                    "n={tasks} k={repeats} sure={sure} {without}→{with}: {coverage}"
                );
            }
            assert!(1.0 - missed >= LEAST_COVERAGE, "n={tasks} k={repeats} sure={sure}: {missed} missed on average");
        }
    }
}

#[test]
fn two_repeats_are_covered() {
    repeats_are_covered(2);
}

#[test]
fn three_repeats_are_covered() {
    repeats_are_covered(3);
}

#[test]
fn five_repeats_are_covered() {
    repeats_are_covered(5);
}

#[test]
fn equal_arms_are_rarely_told_apart() {
    let rule = VerdictRule::default();
    for (tasks, repeats, runs) in [(6, 1, 1000), (6, 3, 1000), (12, 2, 1000), (25, 5, 500), (40, 1, 1000), (80, 3, 200)]
    {
        for rate in [0.3, 0.9] {
            for sure in [0.0, 0.5] {
                let estimates = Population { without: rate, with: rate, sure }.estimates(
                    tasks,
                    repeats,
                    runs,
                    7 + u64::from(tasks),
                );
                let alarms = share(&estimates, |estimate| estimate.p_value <= 0.05);
                assert!(alarms <= 0.05 + allowance(runs), "n={tasks} k={repeats} rate={rate}: {alarms}");
                let verdicts: Vec<DeltaVerdict> =
                    estimates.iter().map(|estimate| DeltaVerdict::raw(estimate, &rule)).collect();
                let wrong =
                    share(&verdicts, |verdict| matches!(verdict, DeltaVerdict::Improves(_) | DeltaVerdict::Harms(_)));
                assert!(wrong <= alarms, "n={tasks} k={repeats} rate={rate}: {wrong}");
            }
        }
    }
}

#[test]
fn two_tasks_near_the_ceiling_never_show_that_there_is_no_effect() {
    let estimates = Population { without: 0.98, with: 0.98, sure: 0.0 }.estimates(2, 5, 500, 3);
    let rule = VerdictRule::default();
    assert!(estimates.iter().all(|estimate| DeltaVerdict::raw(estimate, &rule).word() == "cannot_be_resolved"));
    assert!(estimates.iter().all(|estimate| estimate.ci.width() > 0.5));
}

#[test]
fn an_effect_as_large_as_the_margin_is_rarely_called_none() {
    let rule = VerdictRule { margin: 0.1, ..VerdictRule::default() };
    for (tasks, repeats) in [(60, 1), (60, 3), (120, 3)] {
        let estimates = Population { without: 0.8, with: 0.9, sure: 0.5 }.estimates(tasks, repeats, 300, 11);
        let none = share(&estimates, |estimate| DeltaVerdict::raw(estimate, &rule).word() == "no_effect");
        assert!(none <= 0.05 + allowance(300), "n={tasks} k={repeats}: {none}");
    }
}

#[test]
fn a_large_effect_is_found() {
    let rule = VerdictRule::default();
    for (tasks, repeats, least) in [(12, 3, 0.5), (30, 3, 0.95), (30, 1, 0.7), (60, 1, 0.97)] {
        let estimates = Population { without: 0.3, with: 0.7, sure: 0.3 }.estimates(tasks, repeats, 300, 5);
        let found = share(&estimates, |estimate| DeltaVerdict::raw(estimate, &rule).word() == "improves");
        assert!(found >= least, "n={tasks} k={repeats}: {found}");
    }
}

#[test]
fn token_overhead_is_covered() {
    const RUNS: u32 = 1500;
    for (tasks, spread, own) in [(8, 0.3, 0.2), (20, 0.5, 0.3), (100, 0.6, 0.4)] {
        let mut chance = Chance(97);
        let mut run = || {
            let drawn: Vec<Pair<f64>> = (0..tasks)
                .map(|_| {
                    let size = 50_000.0 * (spread * chance.normal()).exp();
                    Pair {
                        without: size * (own * chance.normal()).exp(),
                        with: 1.3 * size * (own * chance.normal()).exp(),
                    }
                })
                .collect();
            ratio(&drawn, Alpha::FIVE_PERCENT).unwrap().interval().unwrap()
        };
        let intervals: Vec<Interval> = (0..RUNS).map(|_| run()).collect();
        let coverage = share(&intervals, |ci| covers(*ci, 0.3));
        assert!(coverage >= LEAST_COVERAGE - allowance(RUNS), "n={tasks}: {coverage}");
    }
}

/// Looking after every pair must not raise more false alarms than α in all.
#[test]
fn looking_all_the_time_is_safe() {
    const RUNS: u32 = 600;
    let mut chance = Chance(41);
    let stopped: Vec<bool> = (0..RUNS)
        .map(|_| {
            let flips = (0..200).map(|_| if chance.bits() & 1 == 0 { Flip::Rescued } else { Flip::Broken });
            most_evidence(flips).may_stop(Alpha::FIVE_PERCENT)
        })
        .collect();
    let alarms = share(&stopped, |stopped| *stopped);
    assert!(alarms <= 0.05 + allowance(RUNS), "{alarms}");
}

/// A/A evaluations whose plans allow to stop: told apart in at most 5 %, whatever the rule; and an effect that is there is found early.
#[test]
fn plans_that_may_end_early_keep_the_level() {
    const RUNS: u32 = 400;
    for (futility, evidence) in [(true, false), (false, true), (true, true)] {
        let rule = StopRule { futility, evidence };
        for (tasks, repeats, rates) in
            [(40, 1, [0.5, 0.5]), (60, 1, [0.2, 0.2]), (20, 3, [0.5, 0.5]), (40, 1, [0.3, 0.9])]
        {
            let ended = stopping::evaluations(rule, tasks, repeats, rates, RUNS);
            let told = share(&ended, |one| matches!(one.verdict.word(), "improves" | "harms"));
            let stopped = share(&ended, |one| one.why.is_some());
            if rates[0] < rates[1] {
                assert!(told > 0.9 && (stopped > 0.9) == evidence, "{rule:?}: {told} told, {stopped} stopped");
            } else {
                assert!(told <= 0.05 + allowance(RUNS), "{rule:?} n={tasks} k={repeats}: {told}");
                assert!(!futility || stopped > 0.9, "{rule:?} n={tasks} k={repeats}: {stopped} stopped");
            }
        }
    }
}
