//! Exact limits of Δ for few tasks of one pair each: the smallest and largest D that the score test does not reject, its p taken over all tables of n
//! pairs and the worst share of flips. They cover at least 1 − α whatever the rates. Sources: I. S. F. Chan and Z. Zhang, Biometrics 55 (1999) 1202
//! (inversion of two one-sided tests); T. Tango, Statistics in Medicine 17 (1998) 891 (the order of the tables). Between whole flips (several
//! repeats, averaged within tasks) the limits are interpolated.

use std::sync::OnceLock;

use super::alpha::Alpha;
use super::interval::Interval;
use super::tango::statistic;

/// Beyond so many tasks closed forms cover as well, and the enumeration becomes slow.
pub(super) const MOST_TASKS: u32 = 19;

/// Values of D that are tried, from −1 to 1. Limits are rounded outwards to 2/`STEPS`.
const STEPS: u32 = 1000;
/// Shares of broken pairs that are tried at each D, between the least and the most that it allows.
const SHARES: u32 = 48;

/// The interval from the shares of rescued and broken pairs; `None` beyond [`MOST_TASKS`] tasks, or without any.
pub(super) fn exact(rescued: f64, broken: f64, tasks: f64, alpha: Alpha) -> Option<Interval> {
    let n = (1..=MOST_TASKS).find(|n| f64::from(*n) == tasks)?;
    let limits = |limits: &LowerLimits| Interval {
        low: limits.at(rescued * tasks, broken * tasks).min(rescued - broken),
        high: (-limits.at(broken * tasks, rescued * tasks)).max(rescued - broken),
    };
    // The one level that pages ask for, over and over.
    static AT_FIVE_PERCENT: [OnceLock<LowerLimits>; MOST_TASKS as usize] =
        [const { OnceLock::new() }; MOST_TASKS as usize];
    match AT_FIVE_PERCENT.get(n as usize - 1).filter(|_| alpha == Alpha::FIVE_PERCENT) {
        Some(kept) => Some(limits(kept.get_or_init(|| LowerLimits::of(n, alpha)))),
        None => Some(limits(&LowerLimits::of(n, alpha))),
    }
}

/// The lower limit of each table of n pairs, by rescued and broken.
struct LowerLimits(Vec<Vec<f64>>);

/// A table of n pairs, without regard to whether both or neither passed.
struct Table {
    rescued: u32,
    broken: u32,
    alike: u32,
    /// In how many orders it may come about: n! ÷ (rescued! broken! alike!).
    orders: f64,
    /// The largest D so far that the test rejects, and whether all before it were.
    limit: f64,
    open: bool,
}

impl LowerLimits {
    fn of(n: u32, alpha: Alpha) -> Self {
        let mut tables = tables(n);
        for step in 0..=STEPS {
            let difference = f64::from(step) * 2.0 / f64::from(STEPS) - 1.0;
            if !tables.iter().any(|table| table.open) {
                break;
            }
            reject(&mut tables, n, difference, alpha.value() / 2.0);
        }
        let row =
            |rescued: u32| tables.iter().filter(|table| table.rescued == rescued).map(|table| table.limit).collect();
        Self((0..=n).map(row).collect())
    }

    /// At flips that need not be whole: the plane through the three tables around.
    fn at(&self, rescued: f64, broken: f64) -> f64 {
        let table =
            |b: f64, c: f64| self.0.get(b as usize).and_then(|row| row.get(c as usize)).copied().unwrap_or(-1.0);
        // Rounding must not tear a whole number from its table.
        let split = |x: f64| if (x - x.round()).abs() < 1e-9 { (x.round(), 0.0) } else { (x.floor(), x - x.floor()) };
        let ((b, right), (c, up)) = (split(rescued), split(broken));
        // A table that bears no weight need not exist.
        let weighed = |weight: f64, b: f64, c: f64| if weight > 0.0 { weight * table(b, c) } else { 0.0 };
        if right + up <= 1.0 {
            weighed(1.0 - right - up, b, c) + weighed(right, b + 1.0, c) + weighed(up, b, c + 1.0)
        } else {
            weighed(right + up - 1.0, b + 1.0, c + 1.0)
                + weighed(1.0 - up, b + 1.0, c)
                + weighed(1.0 - right, b, c + 1.0)
        }
    }
}

fn tables(n: u32) -> Vec<Table> {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let table = |rescued: u32, broken: u32| {
        let alike = n - rescued - broken;
        let orders = factorial(n) / factorial(rescued) / factorial(broken) / factorial(alike);
        Table { rescued, broken, alike, orders, limit: -1.0, open: true }
    };
    (0..=n)
        .flat_map(|rescued| (0..=n - rescued).map(move |broken| (rescued, broken)))
        .map(|(b, c)| table(b, c))
        .collect()
}

/// Moves the limits of those tables to `difference` whose p, one-sided, does not exceed `level` at it.
fn reject(tables: &mut [Table], n: u32, difference: f64, level: f64) {
    const TIE: f64 = 1e-9;
    let share = |count: u32| f64::from(count) / f64::from(n);
    let mut ranked: Vec<(f64, &mut Table)> = tables
        .iter_mut()
        .map(|table| (statistic(share(table.rescued), share(table.broken), f64::from(n), difference), table))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut largest = vec![0.0_f64; ranked.len()];
    for chances in worst_cases(difference).map(|rates| chances(&ranked, rates)) {
        let mut tail = 0.0;
        for (p, chance) in largest.iter_mut().zip(chances) {
            tail += chance;
            *p = p.max(tail);
        }
    }
    // Tables that the test cannot tell apart share the p of the last of them, so they are walked from the end.
    let mut tied = (f64::MIN, 1.0);
    for ((value, table), tail) in ranked.iter_mut().zip(largest).rev() {
        let p = if *value - tied.0 <= TIE { tied.1 } else { tail };
        tied = (*value, p);
        table.open &= p <= level;
        if table.open {
            table.limit = difference;
        }
    }
}

/// The shares of rescued, broken and other pairs with rescued − broken = D.
fn worst_cases(difference: f64) -> impl Iterator<Item = [f64; 3]> {
    let (least, most) = ((-difference).max(0.0), (1.0 - difference) / 2.0);
    (0..=SHARES).map(move |step| {
        let broken = least + (most - least) * f64::from(step) / f64::from(SHARES);
        let rescued = (broken + difference).clamp(0.0, 1.0);
        [rescued, broken, (1.0 - rescued - broken).max(0.0)]
    })
}

fn chances(ranked: &[(f64, &mut Table)], [rescued, broken, alike]: [f64; 3]) -> Vec<f64> {
    let power = |rate: f64, count: u32| (0..count).fold(1.0, |product, _| product * rate);
    ranked
        .iter()
        .map(|(_, table)| {
            table.orders * power(rescued, table.rescued) * power(broken, table.broken) * power(alike, table.alike)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Alpha, LowerLimits, MOST_TASKS, exact};

    /// Made by another program (numpy; the same definition, tables sorted and summed in another way).
    #[test]
    fn reference_values() {
        for (n, rescued, broken, low, high) in [
            (1.0, 1.0, 0.0, -0.952, 1.0),
            (1.0, 0.0, 0.0, -0.976, 0.976),
            (2.0, 1.0, 0.0, -0.728, 0.988),
            (6.0, 3.0, 1.0, -0.386, 0.826),
            (10.0, 7.0, 0.0, 0.216, 0.934),
            (10.0, 0.0, 0.0, -0.32, 0.32),
            (10.0, 5.0, 2.0, -0.306, 0.758),
            (19.0, 8.0, 1.0, 0.062, 0.632),
            (19.0, 0.0, 12.0, -0.838, -0.336),
        ] {
            let found = exact(rescued / n, broken / n, n, Alpha::FIVE_PERCENT).unwrap();
            assert!(
                (found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9,
                "{rescued} {broken}: {found:?}"
            );
        }
        assert_eq!(exact(0.0, 0.0, 0.0, Alpha::FIVE_PERCENT), None);
        assert_eq!(exact(0.0, 0.0, f64::from(MOST_TASKS) + 1.0, Alpha::FIVE_PERCENT), None);
    }

    /// Where every pair is rescued, the chance of that is ((1 + D)/2)ⁿ at most, which gives the limit in closed form.
    #[test]
    fn all_rescued_has_a_closed_form() {
        for (level, tasks) in [(0.05, 1..=MOST_TASKS), (0.01, 6..=7)] {
            for n in tasks.map(f64::from) {
                let limit = 2.0 * (level / 2.0_f64).powf(1.0 / n) - 1.0;
                let found = exact(1.0, 0.0, n, Alpha::new(level).unwrap()).unwrap();
                assert!(found.low <= limit && limit - found.low < 0.002_001, "{n} at {level}: {found:?}, {limit}");
            }
        }
    }

    #[test]
    fn between_whole_flips_lies_a_plane() {
        let limits = LowerLimits::of(4, Alpha::FIVE_PERCENT);
        let [a, b, c, d] = [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (2.0, 2.0)].map(|(b, c)| limits.at(b, c));
        for (rescued, broken, expected) in [
            (1.5, 1.0, (a + b) / 2.0),
            (1.0, 1.25, 0.75 * a + 0.25 * c),
            (1.5, 1.5, (b + c) / 2.0),
            (1.75, 1.5, 0.25 * d + 0.5 * b + 0.25 * c),
            (2.0 - 1e-12, 1.0 + 1e-12, b),
        ] {
            let found = limits.at(rescued, broken);
            assert!((found - expected).abs() < 1e-12, "{rescued} {broken}: {found}, {expected}");
        }
        assert_eq!(limits.at(4.0, 0.0), limits.at(3.999_999_999_9, 0.0));
    }
}
