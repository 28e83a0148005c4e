//! Seeded chance, and populations of tasks to draw from. Shared with the tests of the same promises.

use domain::condition::{Flip, Pair};
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::delta::{DeltaEstimate, delta};
use domain::stats::interval::Interval;

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// In 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Tasks drawn from a population in which a share `sure` always ends the same way, the two arms alike where they can, and the rest passes by chance.
#[derive(Clone, Copy)]
pub struct Population {
    pub without: f64,
    pub with: f64,
    pub sure: f64,
}

impl Population {
    /// The pairs of one evaluation.
    pub fn draw(self, tasks: u32, repeats: u32, chance: &mut Chance) -> Vec<PairCounts> {
        (0..tasks).map(|_| self.task(repeats, chance)).collect()
    }

    fn task(self, repeats: u32, chance: &mut Chance) -> PairCounts {
        let (mut without, mut with) = (self.without, self.with);
        if chance.uniform() < self.sure {
            let difficulty = chance.uniform();
            without = f64::from(u8::from(difficulty < without));
            with = f64::from(u8::from(difficulty < with));
        }
        (0..repeats)
            .map(|_| Flip::of(Pair { without: chance.uniform() < without, with: chance.uniform() < with }))
            .collect()
    }

    /// The estimates of so many evaluations.
    pub fn estimates(self, tasks: u32, repeats: u32, runs: u32, seed: u64) -> Vec<DeltaEstimate> {
        let mut chance = Chance(seed);
        (0..runs).filter_map(|_| delta(&self.draw(tasks, repeats, &mut chance), Alpha::FIVE_PERCENT)).collect()
    }
}

pub fn share<T>(all: &[T], test: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| test(one)).count() as f64 / all.len() as f64
}

pub fn covers(ci: Interval, truth: f64) -> bool {
    ci.low <= truth + 1e-9 && truth - 1e-9 <= ci.high
}

/// All tables of n pairs.
pub fn tables(n: u32) -> Vec<PairCounts> {
    let mut tables = Vec::new();
    for both in 0..=n {
        for rescued in 0..=n - both {
            for broken in 0..=n - both - rescued {
                tables.push(PairCounts { both, rescued, broken, neither: n - both - rescued - broken });
            }
        }
    }
    tables
}

/// The four cells of a pair (both, rescued, broken, neither) where the arms pass at these rates. `likeness` says how often they pass together, from 0,
/// as seldom as these rates allow, to 1, as often as they allow.
pub fn cells(without: f64, with: f64, likeness: f64) -> [f64; 4] {
    let (least, most) = ((without + with - 1.0).max(0.0), without.min(with));
    let both = least + likeness * (most - least);
    [both, with - both, without - both, 1.0 - with - without + both].map(|cell| cell.max(0.0))
}

/// Chance of each table of n pairs with these cells.
pub fn chances(tables: &[PairCounts], cells: [f64; 4]) -> Vec<f64> {
    let ln_factorial = |n: u64| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let n = tables.first().map_or(0, PairCounts::pairs);
    let factorials: Vec<f64> = (0..=n).map(ln_factorial).collect();
    let of = |n: u64| usize::try_from(n).ok().and_then(|n| factorials.get(n)).copied().unwrap_or(f64::INFINITY);
    let ln_term = |count: u32, cell: f64| {
        if count == 0 { 0.0 } else { f64::from(count) * cell.ln() - of(u64::from(count)) }
    };
    let chance = |table: &PairCounts| {
        let counts = [table.both, table.rescued, table.broken, table.neither];
        (of(n) + counts.into_iter().zip(cells).map(|(count, cell)| ln_term(count, cell)).sum::<f64>()).exp()
    };
    tables.iter().map(chance).collect()
}
