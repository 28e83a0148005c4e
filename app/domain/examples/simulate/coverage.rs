//! How often 95 % intervals hold the truth.

use std::fmt::Write as _;

use domain::condition::Pair;
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::interval::Interval;
use domain::stats::newcombe::newcombe;
use domain::stats::paired;
use domain::stats::ratio::ratio;

use crate::chance::{Chance, Population, cells, chances, covers, share, tables};

/// Pass rates of either arm.
pub const RATES: [f64; 9] = [0.01, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.99];
/// How often the arms pass together, from as seldom to as often as the rates allow.
pub const LIKENESS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Up to so many tasks all tables are enumerated.
const MOST_ENUMERATED: u32 = 100;

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

/// One line of the table of single pairs: Newcombe's interval beside ours.
pub fn single_row(n: u32) -> String {
    let seen = if n <= MOST_ENUMERATED { Seen::enumerated(n) } else { Seen::Drawn { tasks: n } };
    let (mut ours, mut newcombes) = (Grid::new(), Grid::new());
    for without in RATES {
        for with in RATES {
            for likeness in LIKENESS {
                let cells = cells(without, with, likeness);
                let (our, newcombe) = seen.coverage(cells, with - without);
                ours.add(our, || format!("{without} → {with}, alike {likeness}"));
                newcombes.add(newcombe, String::new);
            }
        }
    }
    format!(
        "| {n} | {} | {} | {} | {} | {} |\n",
        per_cent(ours.least),
        ours.at,
        per_cent(ours.mean()),
        per_cent(ours.most),
        per_cent(newcombes.least)
    )
}

/// The tables of one number of tasks with both intervals of each.
enum Seen {
    All { tables: Vec<PairCounts>, intervals: Vec<(Interval, Interval)> },
    Drawn { tasks: u32 },
}

fn intervals(table: &PairCounts) -> Option<(Interval, Interval)> {
    let (ours, _) = paired::interval(table, Alpha::FIVE_PERCENT)?;
    Some((ours, newcombe(table, Alpha::FIVE_PERCENT)?))
}

impl Seen {
    fn enumerated(tasks: u32) -> Self {
        let tables = tables(tasks);
        let intervals = tables.iter().filter_map(intervals).collect();
        Self::All { tables, intervals }
    }

    /// How often each of the two intervals holds the truth.
    fn coverage(&self, cells: [f64; 4], truth: f64) -> (f64, f64) {
        const RUNS: u32 = 4000;
        let mut held = (0.0, 0.0);
        let mut count = |(ours, newcombe): &(Interval, Interval), chance: f64| {
            held.0 += if covers(*ours, truth) { chance } else { 0.0 };
            held.1 += if covers(*newcombe, truth) { chance } else { 0.0 };
        };
        match self {
            Self::All { tables, intervals } => {
                intervals.iter().zip(chances(tables, cells)).for_each(|(both, chance)| count(both, chance));
            }
            Self::Drawn { tasks } => {
                let mut chance = Chance(u64::from(*tasks));
                for both in (0..RUNS).filter_map(|_| intervals(&draw(*tasks, cells, &mut chance))) {
                    count(&both, 1.0 / f64::from(RUNS));
                }
            }
        }
        held
    }
}

fn draw(tasks: u32, [both, rescued, broken, _]: [f64; 4], chance: &mut Chance) -> PairCounts {
    let mut counts = PairCounts::default();
    for _ in 0..tasks {
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
}

pub fn single_pairs() -> String {
    let mut text = "## Intervals of Δ, one pair for each task

Coverage in % of 95 % intervals over 9 × 9 pass rates from 0.01 to 0.99, and over how often the arms pass together: `alike 0` as seldom as the
rates allow, `alike 1` as often. The last column is what Newcombe's method 10 covers at the least on the same grid.

| tasks | least | where | mean | most | Newcombe, least |
|---:|---:|---|---:|---:|---:|
"
    .to_owned();
    for n in [2, 3, 4, 5, 6, 7, 8, 10, 14, 16, 19, 20, 25, 30, 50, 100, 200, 500] {
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
    for sure in [0.0, 0.5, 0.9, 1.0] {
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
    let mut text = "## Intervals of Δ, several repeats

Coverage in % of 95 % intervals over 6 pairs of pass rates and 4 shares of sure tasks.

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
