//! How often 95 % intervals hold the truth.

use std::fmt::Write as _;

use domain::condition::Pair;
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::interval::Interval;
use domain::stats::newcombe::newcombe;
use domain::stats::ratio::ratio;

use crate::chance::{Chance, Population, cells, chances, covers, share, tables};

/// Pass rates of either arm.
const RATES: [f64; 7] = [0.05, 0.2, 0.35, 0.5, 0.7, 0.9, 0.95];
/// Correlation of the arms.
const CORRELATIONS: [f64; 4] = [0.0, 0.3, 0.6, 0.9];
/// Beyond this Δ Newcombe's interval inherits the dips of Wilson's near 0 and 1.
const LARGE: f64 = 0.61;
/// Up to so many tasks all tables are enumerated.
const MOST_ENUMERATED: u32 = 50;

/// Coverage over a grid.
#[derive(Default)]
struct Grid {
    least: f64,
    at: String,
    sum: f64,
    points: f64,
    most: f64,
}

impl Grid {
    fn new() -> Self {
        Self { least: 2.0, ..Self::default() }
    }

    fn add(&mut self, coverage: f64, at: impl Fn() -> String) {
        if coverage < self.least {
            (self.least, self.at) = (coverage, at());
        }
        self.sum += coverage;
        self.points += 1.0;
        self.most = self.most.max(coverage);
    }

    fn mean(&self) -> f64 {
        self.sum / self.points
    }
}

pub fn per_cent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// One line of the table of single pairs.
pub fn single_row(n: u32) -> String {
    let (mut inside, mut beyond) = (Grid::new(), Grid::new());
    for without in RATES {
        for with in RATES {
            for phi in CORRELATIONS {
                let Some(cells) = cells(without, with, phi) else { continue };
                let coverage = if n <= MOST_ENUMERATED {
                    enumerated(n, cells, with - without)
                } else {
                    drawn(n, cells, with - without)
                };
                let grid = if (with - without).abs() < LARGE { &mut inside } else { &mut beyond };
                grid.add(coverage, || format!("{without} → {with}, φ {phi}"));
            }
        }
    }
    format!(
        "| {n} | {} | {} | {} | {} | {} |\n",
        per_cent(inside.least),
        inside.at,
        per_cent(inside.mean()),
        per_cent(inside.most),
        per_cent(beyond.least)
    )
}

fn enumerated(n: u32, cells: [f64; 4], truth: f64) -> f64 {
    let tables = tables(n);
    let hit = |(table, chance): (&PairCounts, f64)| {
        if newcombe(table, Alpha::FIVE_PERCENT).is_some_and(|ci| covers(ci, truth)) { chance } else { 0.0 }
    };
    tables.iter().zip(chances(&tables, cells)).map(hit).sum()
}

fn drawn(n: u32, [both, rescued, broken, _]: [f64; 4], truth: f64) -> f64 {
    const RUNS: u32 = 4000;
    let mut chance = Chance(u64::from(n));
    let mut table = || {
        let mut counts = PairCounts::default();
        for _ in 0..n {
            let drawn = chance.uniform();
            let cell = match drawn {
                _ if drawn < both => &mut counts.both,
                _ if drawn < both + rescued => &mut counts.rescued,
                _ if drawn < both + rescued + broken => &mut counts.broken,
                _ => &mut counts.neither,
            };
            *cell += 1;
        }
        counts
    };
    let intervals: Vec<Interval> = (0..RUNS).filter_map(|_| newcombe(&table(), Alpha::FIVE_PERCENT)).collect();
    share(&intervals, |ci| covers(*ci, truth))
}

pub fn single_pairs() -> String {
    let mut text = "## Intervals of Δ, one pair for each task (Newcombe, method 10)

Coverage in % of 95 % intervals over 7 × 7 pass rates and 4 correlations. No verdict is given on fewer than 6 tasks.

| tasks | least, \\|Δ\\| ≤ 60 pp | where | mean | most | least beyond |
|---:|---:|---|---:|---:|---:|
"
    .to_owned();
    for n in [2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 30, 50, 100, 200, 500] {
        text += &single_row(n);
    }
    text
}

/// Evaluations drawn for each point, fewer where each takes long.
const fn runs(tasks: u32) -> u32 {
    match tasks {
        0..=10 => 5000,
        11..=60 => 4000,
        61..=150 => 3000,
        _ => 1500,
    }
}

/// One line of the table of repeats.
pub fn repeats_row(tasks: u32, repeats: u32) -> String {
    const PAIRS: [(f64, f64); 6] = [(0.5, 0.5), (0.05, 0.05), (0.95, 0.98), (0.1, 0.3), (0.3, 0.8), (0.65, 0.5)];
    let mut grid = Grid::new();
    for sure in [0.0, 0.5, 0.9] {
        for (place, (without, with)) in (0_u64..).zip(PAIRS) {
            let seed = u64::from(tasks * 100 + repeats) * 31 + place;
            let estimates = Population { without, with, sure }.estimates(tasks, repeats, runs(tasks), seed);
            let coverage = share(&estimates, |estimate| covers(estimate.ci, with - without));
            grid.add(coverage, || format!("{without} → {with}, sure {sure}"));
        }
    }
    format!(
        "| {tasks} | {repeats} | {} | {} | {} | {} | {} |\n",
        runs(tasks),
        per_cent(grid.least),
        grid.at,
        per_cent(grid.mean()),
        per_cent(grid.most)
    )
}

pub fn repeats() -> String {
    let mut text = "## Intervals of Δ, several repeats (t or square-and-add on task means)

Coverage in % of 95 % intervals over 6 pairs of pass rates and 3 shares of sure tasks.

| tasks | repeats | runs | least | where | mean | most |
|---:|---:|---:|---:|---|---:|---:|
"
    .to_owned();
    for repeats in [2, 3, 4, 5] {
        for tasks in [2, 3, 5, 10, 19, 20, 30, 60, 150, 500] {
            text += &repeats_row(tasks, repeats);
        }
    }
    text
}

pub fn tokens() -> String {
    const RUNS: u32 = 4000;
    let mut text = "## Intervals of token overhead ρ

Log-normal task sizes; true ρ = +30 %.

| tasks | spread of tasks | spread of trials | coverage |
|---:|---:|---:|---:|
"
    .to_owned();
    for (tasks, spread, own) in [(5, 0.3, 0.2), (8, 0.3, 0.2), (20, 0.5, 0.3), (50, 0.8, 0.4), (100, 0.6, 0.4)] {
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
            ratio(&drawn, Alpha::FIVE_PERCENT)?.interval()
        };
        let intervals: Vec<Interval> = (0..RUNS).filter_map(|_| run()).collect();
        let coverage = share(&intervals, |ci| covers(*ci, 0.3));
        let _ = writeln!(text, "| {tasks} | {spread} | {own} | {} |", per_cent(coverage));
    }
    text
}
