//! Power: drawn against exact, and the planner's way of counting repeats against drawn.

use std::fmt::Write as _;

use domain::planner::{Noise, PowerPlan};
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::mcnemar;
use domain::stats::power::mcnemar_power;
use domain::stats::variance::VarianceSplit;

use crate::chance::{Chance, Population, share};
use crate::coverage::per_cent;

/// The share of p ≤ 5 % among drawn evaluations of single pairs.
pub fn found(tasks: u32, rescued: f64, broken: f64, runs: u32) -> f64 {
    let mut chance = Chance(u64::from(tasks));
    let mut draw = || {
        let mut counts = PairCounts::default();
        for _ in 0..tasks {
            let drawn = chance.uniform();
            if drawn < rescued {
                counts.rescued += 1;
            } else if drawn < rescued + broken {
                counts.broken += 1;
            }
        }
        mcnemar::exact(counts.rescued, counts.broken)
    };
    let p: Vec<f64> = (0..runs).map(|_| draw()).collect();
    share(&p, |p| *p <= 0.05)
}

pub fn single_pairs() -> String {
    const RUNS: u32 = 20_000;
    let mut text = "## Power of McNemar's exact test

Drawn 20,000 times; two standard errors are at most 0.7 pp.

| tasks | rescued | broken | exact, % | drawn, % |
|---:|---:|---:|---:|---:|
"
    .to_owned();
    for (tasks, rescued, broken) in [
        (10, 0.3, 0.0),
        (20, 0.3, 0.05),
        (30, 0.3, 0.05),
        (50, 0.3, 0.05),
        (100, 0.15, 0.05),
        (200, 0.1, 0.05),
        (565, 0.03, 0.018),
    ] {
        let exact = mcnemar_power(tasks, rescued, broken, Alpha::FIVE_PERCENT).unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "| {tasks} | {rescued} | {broken} | {} | {} |",
            per_cent(exact),
            per_cent(found(tasks, rescued, broken, RUNS))
        );
    }
    text
}

/// What the planner foretells for a population, from rates and variance split as a large pilot would show them.
fn foretold(population: Population, tasks: u32, repeats: u32) -> Option<f64> {
    let pilot = population.draw(4000, 4, &mut Chance(3));
    let counts: PairCounts = pilot.iter().copied().sum();
    let split = VarianceSplit::of(&pilot)?;
    let noise = Noise {
        broken_rate: f64::from(counts.broken) / counts.pairs() as f64,
        within_share: Some(split.per_repeat / (split.between + split.per_repeat)),
    };
    PowerPlan::power_of(tasks, repeats, population.with - population.without, noise)
}

pub fn repeats() -> String {
    const RUNS: u32 = 2000;
    let mut text = "## The planner's power at several repeats

Foretold from the variance split of a large pilot, repeats counting as tasks by the share of noise within tasks; drawn 2,000 times.

| tasks | repeats | rates | sure | foretold, % | drawn, % |
|---:|---:|---|---:|---:|---:|
"
    .to_owned();
    for (without, with, sure) in [(0.4, 0.6, 0.0), (0.4, 0.6, 0.5), (0.6, 0.7, 0.3), (0.3, 0.6, 0.9)] {
        for (tasks, repeats) in [(12, 1), (12, 3), (30, 1), (30, 3), (60, 3)] {
            let population = Population { without, with, sure };
            let estimates = population.estimates(tasks, repeats, RUNS, 5);
            let drawn = share(&estimates, |estimate| estimate.p_value <= 0.05);
            let foretold = foretold(population, tasks, repeats).map_or_else(|| "—".to_owned(), per_cent);
            let _ = writeln!(
                text,
                "| {tasks} | {repeats} | {without} → {with} | {sure} | {foretold} | {} |",
                per_cent(drawn)
            );
        }
    }
    text
}
