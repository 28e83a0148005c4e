//! What a plan can show: exact power of McNemar's test at one repeat. More repeats count as more tasks, as far as the noise lies within tasks: with a share s
//! of a single repeat's variance within tasks, n tasks at k repeats weigh as n / (1 − s + s/k) tasks at one (statistics F10, F17).

use serde::{Deserialize, Serialize};

use crate::stats::alpha::Alpha;
use crate::stats::mcnemar::smallest_p;
use crate::stats::power::{mcnemar_power, smallest_delta};

/// An effect counts as resolvable where so many evaluations find it.
pub const WANTED_POWER: f64 = 0.8;
/// Share of pairs that a skill is taken to break, where nothing is known.
const BROKEN_GUESS: f64 = 0.05;
/// Effects on the power curve, and for which tasks and repeats are told, in percentage points.
const CURVE: [u32; 10] = [5, 10, 15, 20, 25, 30, 40, 50, 60, 80];
/// Beyond this nobody plans.
const MOST_TASKS: u32 = 100_000;

/// How noisy pairs are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Share of pairs that are broken although the skill helps; about half of the pairs that flip when both arms are alike.
    pub broken_rate: f64,
    /// Share of a single repeat's variance that lies within tasks, so that repeats average it out; `None` = not known, counted as 0.
    pub within_share: Option<f64>,
}

/// A chance to find an effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerPoint {
    /// The true Δ, a share.
    pub delta: f64,
    /// Chance that p ≤ 5 %.
    pub power: f64,
}

/// What would find an effect in 4 of 5 evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Needed {
    /// The true Δ, a share.
    pub delta: f64,
    /// Tasks, at the plan's repeats; `None` = more than anybody runs, or not possible with so many broken.
    pub tasks: Option<u32>,
    /// Repeats, at the plan's tasks; `None` = no number of them does, or it is not known.
    pub repeats: Option<u32>,
}

/// What a plan can show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerPlan {
    /// Tasks.
    pub tasks: u32,
    /// Repeats.
    pub repeats: u32,
    /// What was counted on.
    pub noise: Noise,
    /// Whether `noise` was guessed for want of history.
    pub guessed: bool,
    /// Whether the power is exact (one repeat) or by way of the variance split.
    pub exact: bool,
    /// Tasks from which on any outcome can be told from chance.
    pub tasks_least: u32,
    /// The smallest Δ that could be told if every flip went one way; `None` = no outcome can.
    pub smallest_possible: Option<f64>,
    /// The smallest true Δ found with a power of 80 %; `None` = none.
    pub smallest_delta: Option<f64>,
    /// The chance to find this or that Δ; left out where so much cannot be gained.
    pub curve: Vec<PowerPoint>,
    /// What it takes for this or that Δ.
    pub needed: Vec<Needed>,
    /// By how much twice the tasks would narrow the interval of Δ: 29 %.
    pub tasks_gain: f64,
    /// By how much twice the repeats would; `None` = not known.
    pub repeats_gain: Option<f64>,
}

impl Noise {
    /// What is counted on where nothing is known.
    pub const GUESS: Self = Self { broken_rate: BROKEN_GUESS, within_share: None };

    /// Variance of a task's difference at so many repeats, against one.
    fn at(self, repeats: f64) -> f64 {
        let within = self.within_share.unwrap_or(0.0);
        1.0 - within + within / repeats
    }
}

impl PowerPlan {
    /// The chance to find one Δ; `None` where so much cannot be gained.
    #[must_use]
    pub fn power_of(tasks: u32, repeats: u32, delta: f64, noise: Noise) -> Option<f64> {
        let possible = smallest_p(tasks) <= Alpha::FIVE_PERCENT.value();
        power(if possible { weight(tasks, repeats.max(1), noise) } else { 0 }, delta, noise)
    }

    /// What finds one Δ in 4 of 5 evaluations.
    #[must_use]
    pub fn needed_for(&self, delta: f64) -> Needed {
        needed(delta, self.tasks, self.repeats, self.noise, self.tasks_least)
    }

    /// Of a plan; the guess stands in for unknown noise, and for rates that are no shares.
    #[must_use]
    pub fn of(tasks: u32, repeats: u32, noise: Option<Noise>) -> Self {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let known = noise.filter(|noise| share(noise.broken_rate) && noise.within_share.is_none_or(share));
        let noise = known.unwrap_or(Noise::GUESS);
        let repeats = repeats.max(1);
        let alpha = Alpha::FIVE_PERCENT;
        let tasks_least = (1..64).find(|n| smallest_p(*n) <= alpha.value()).unwrap_or(64);
        let possible = tasks >= tasks_least;
        let weight = if possible { weight(tasks, repeats, noise) } else { 0 };
        let now = noise.at(f64::from(repeats));
        Self {
            tasks,
            repeats,
            noise,
            guessed: known.is_none(),
            exact: repeats == 1,
            tasks_least,
            smallest_possible: possible.then(|| f64::from(tasks_least) / (f64::from(tasks) * f64::from(repeats))),
            smallest_delta: smallest_delta(weight, noise.broken_rate, WANTED_POWER, alpha),
            curve: CURVE.iter().filter_map(|delta| point(weight, f64::from(*delta) / 100.0, noise)).collect(),
            needed: CURVE
                .iter()
                .map(|delta| needed(f64::from(*delta) / 100.0, tasks, repeats, noise, tasks_least))
                .collect(),
            tasks_gain: 1.0 - 0.5_f64.sqrt(),
            repeats_gain: noise.within_share.map(|_| 1.0 - (noise.at(2.0 * f64::from(repeats)) / now).sqrt()),
        }
    }
}

/// Tasks at one repeat that show as much as these at so many.
fn weight(tasks: u32, repeats: u32, noise: Noise) -> u32 {
    let weight = f64::from(tasks) / noise.at(f64::from(repeats));
    if weight < f64::from(MOST_TASKS) { (weight + 1e-9) as u32 } else { MOST_TASKS }
}

fn power(weight: u32, delta: f64, noise: Noise) -> Option<f64> {
    mcnemar_power(weight, noise.broken_rate + delta, noise.broken_rate, Alpha::FIVE_PERCENT)
}

fn point(weight: u32, delta: f64, noise: Noise) -> Option<PowerPoint> {
    power(weight, delta, noise).map(|power| PowerPoint { delta, power })
}

fn needed(delta: f64, tasks: u32, repeats: u32, noise: Noise, least: u32) -> Needed {
    let weight = weight_needed(delta, noise, least);
    let of_tasks = weight.map(|weight| ((f64::from(weight) * noise.at(f64::from(repeats))).ceil() as u32).max(least));
    Needed { delta, tasks: of_tasks, repeats: weight.and_then(|weight| repeats_needed(weight, tasks, noise, least)) }
}

/// Tasks at one repeat that find the effect. The power is a saw whose teeth shrink: the first tooth that reaches is found between doublings.
fn weight_needed(delta: f64, noise: Noise, least: u32) -> Option<u32> {
    let reaches = |weight: u32| power(weight, delta, noise).is_some_and(|power| power >= WANTED_POWER);
    let mut enough = least;
    while !reaches(enough) {
        enough = enough.checked_mul(2).filter(|tasks| *tasks <= MOST_TASKS)?;
    }
    let mut short = enough / 2;
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if reaches(middle) {
            enough = middle;
        } else {
            short = middle;
        }
    }
    Some(enough)
}

fn repeats_needed(weight: u32, tasks: u32, noise: Noise, least: u32) -> Option<u32> {
    const MOST: u32 = 100;
    let within = noise.within_share?;
    if tasks < least || within <= 0.0 {
        return None;
    }
    // n / (1 − s + s/k) ≥ weight.
    let left = f64::from(tasks) / f64::from(weight) - (1.0 - within);
    let repeats = (within / left - 1e-9).ceil().max(1.0);
    (left > 0.0 && repeats <= f64::from(MOST)).then_some(repeats as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE_BROKEN: Noise = Noise { broken_rate: 0.0, within_share: None };

    #[test]
    fn smallest_effects_are_those_of_the_reference_table() {
        for (tasks, delta) in [(10, 0.67), (15, 0.48), (20, 0.37), (30, 0.25), (50, 0.15), (100, 0.078), (200, 0.039)] {
            let found = PowerPlan::of(tasks, 1, Some(NONE_BROKEN)).smallest_delta.unwrap();
            assert!((found - delta).abs() < 0.006, "{tasks}: {found}");
        }
        let five = PowerPlan::of(5, 1, Some(NONE_BROKEN));
        assert_eq!((five.smallest_delta, five.smallest_possible, five.tasks_least), (None, None, 6));
    }

    #[test]
    fn what_is_needed_is_enough_and_not_much_more() {
        let plan = PowerPlan::of(20, 1, None);
        assert!(plan.guessed && plan.exact);
        for needed in &plan.needed {
            let tasks = needed.tasks.unwrap();
            let power = |tasks: u32| mcnemar_power(tasks, 0.05 + needed.delta, 0.05, Alpha::FIVE_PERCENT).unwrap();
            assert!(power(tasks) >= WANTED_POWER && power(tasks * 9 / 10) < WANTED_POWER, "{needed:?}");
            assert_eq!(needed.repeats, None);
        }
    }

    #[test]
    fn repeats_count_as_tasks_only_for_noise_within_tasks() {
        let delta = |within: f64, repeats: u32| {
            PowerPlan::of(30, repeats, Some(Noise { broken_rate: 0.1, within_share: Some(within) }))
                .smallest_delta
                .unwrap()
        };
        assert_eq!(delta(0.0, 1), delta(0.0, 9));
        assert_eq!(
            delta(1.0, 3),
            PowerPlan::of(90, 1, Some(Noise { broken_rate: 0.1, within_share: None })).smallest_delta.unwrap()
        );
        assert!(delta(0.5, 3) < delta(0.5, 1) && delta(0.5, 3) > delta(1.0, 3));
        let plan = PowerPlan::of(30, 2, Some(Noise { broken_rate: 0.1, within_share: Some(1.0) }));
        assert!((plan.repeats_gain.unwrap() - plan.tasks_gain).abs() < 1e-12 && !plan.exact);
        let twenty = plan.needed.iter().find(|needed| needed.delta == 0.2).unwrap();
        assert_eq!(
            twenty.repeats.unwrap(),
            (f64::from(weight_needed(0.2, plan.noise, 6).unwrap()) / 30.0).ceil() as u32
        );
    }

    #[test]
    fn senseless_noise_is_replaced_by_the_guess() {
        for broken_rate in [f64::NAN, -0.1, 1.5] {
            let plan = PowerPlan::of(20, 1, Some(Noise { broken_rate, within_share: None }));
            assert!(plan.guessed && plan.noise == Noise::GUESS);
        }
        let full = PowerPlan::of(20, 1, Some(Noise { broken_rate: 1.0, within_share: None }));
        assert_eq!((full.smallest_delta, full.curve.len()), (None, 0));
        assert!(full.needed.iter().all(|needed| needed.tasks.is_none()));
    }
}
