//! What a plan can show (F17): the power of McNemar's exact test by enumeration, the smallest Δ it can resolve, and the number of tasks by the normal
//! approximation.

use super::alpha::Alpha;
use super::binomial::{half_cdf, tail, term};
use super::normal;

/// The chance that `tasks` tasks with one pair each give a two-sided exact p ≤ α, where a task is rescued at one rate and broken at the other.
/// `None` where the rates are no shares or exceed 1 together.
#[must_use]
pub fn mcnemar_power(tasks: u32, rescued_rate: f64, broken_rate: f64, alpha: Alpha) -> Option<f64> {
    let discordant_rate = rescued_rate + broken_rate;
    if !(rescued_rate >= 0.0 && broken_rate >= 0.0 && discordant_rate <= 1.0 + 1e-12) {
        return None;
    }
    if discordant_rate <= 0.0 {
        return Some(0.0);
    }
    let (discordant_rate, concordant_rate) = (discordant_rate.min(1.0), (1.0 - discordant_rate).max(0.0));
    let (rescued, broken) = (rescued_rate / discordant_rate, broken_rate / discordant_rate);
    let n = u64::from(tasks);
    let mut critical = CriticalValue::new(alpha);
    let mut power = 0.0;
    for discordant in 0..=n {
        let Some(most) = critical.at(discordant) else { continue };
        let weight = term(discordant, n, discordant_rate, concordant_rate);
        if weight > 0.0 {
            power += weight * (tail(most, discordant, rescued, broken) + tail(most, discordant, broken, rescued));
        }
    }
    Some(power.clamp(0.0, 1.0))
}

/// The smallest Δ that `tasks` tasks resolve with the wanted power while a share `broken_rate` is broken. `None` where no Δ does, or where a
/// share is not in 0..1.
#[must_use]
pub fn smallest_delta(tasks: u32, broken_rate: f64, power: f64, alpha: Alpha) -> Option<f64> {
    if !(0.0..1.0).contains(&broken_rate) || !(0.0..1.0).contains(&power) {
        return None;
    }
    let reaches =
        |rescued_rate: f64| mcnemar_power(tasks, rescued_rate, broken_rate, alpha).is_some_and(|p| p >= power);
    let (mut too_small, mut enough) = (broken_rate.min(1.0 - broken_rate), 1.0 - broken_rate);
    if !reaches(enough) {
        return None;
    }
    while enough - too_small > 1e-12 {
        let middle = too_small + (enough - too_small) / 2.0;
        if reaches(middle) {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    Some(enough - broken_rate)
}

/// Tasks needed to show `delta` with the wanted power, where a task's difference has the given variance (one pair: p₁₀ + p₀₁ − Δ²; several:
/// `VarianceSplit`): (z₁₋α/₂ + z_power)² · variance / Δ². `None` where that is no number of tasks.
#[must_use]
pub fn tasks_needed(delta: f64, variance: f64, power: f64, alpha: Alpha) -> Option<u32> {
    let z = alpha.z() + normal::quantile(power)?;
    let tasks = (z * z * variance / (delta * delta)).ceil();
    (z > 0.0 && variance > 0.0 && tasks <= f64::from(u32::MAX)).then_some(tasks as u32)
}

/// The most pairs on the rarer side with which the exact test still rejects; it grows with the number of discordant pairs, by at most 1 a step.
struct CriticalValue {
    alpha: f64,
    next: u64,
}

impl CriticalValue {
    const fn new(alpha: Alpha) -> Self {
        // An exact p equal to α may come out some 1e-16 above it.
        Self { alpha: alpha.value() * (1.0 + 1e-12), next: 0 }
    }

    /// To be asked for 0, 1, 2, … in turn; `None` where even 0 does not reject.
    fn at(&mut self, discordant: u64) -> Option<u64> {
        if 2.0 * half_cdf(self.next, discordant) <= self.alpha {
            self.next += 1;
        }
        self.next.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Alpha, mcnemar_power, smallest_delta, tasks_needed};

    #[test]
    fn known_plans() {
        for (tasks, rescued, broken, power) in [
            (10, 0.3, 0.0, 0.047_348_987_4),
            (20, 0.3, 0.05, 0.321_171_857_789_179_4),
            (50, 0.3, 0.05, 0.854_091_108_945_359_7),
            (565, 0.03, 0.018, 0.192_275_601_662_054_85),
        ] {
            let found = mcnemar_power(tasks, rescued, broken, Alpha::FIVE_PERCENT).unwrap();
            assert!((found - power).abs() < 1e-11, "{tasks} {rescued} {broken}: {found}");
        }
        assert_eq!(smallest_delta(5, 0.0, 0.8, Alpha::FIVE_PERCENT), None);
        assert!((smallest_delta(20, 0.0, 0.8, Alpha::FIVE_PERCENT).unwrap() - 0.366_459_351_253_676_24).abs() < 1e-9);
        assert_eq!(tasks_needed(0.1, 0.3, 0.8, Alpha::FIVE_PERCENT), Some(236));
    }

    #[test]
    fn plans_that_make_no_sense_are_undefined() {
        for (rescued, broken) in [(0.7, 0.4), (-0.1, 0.1), (f64::NAN, 0.1)] {
            assert_eq!(mcnemar_power(10, rescued, broken, Alpha::FIVE_PERCENT), None, "{rescued} {broken}");
        }
        assert_eq!(mcnemar_power(10, 0.0, 0.0, Alpha::FIVE_PERCENT), Some(0.0));
        assert_eq!(mcnemar_power(0, 0.5, 0.0, Alpha::FIVE_PERCENT), Some(0.0));
        assert_eq!(smallest_delta(20, 1.0, 0.8, Alpha::FIVE_PERCENT), None);
        for (delta, variance, power) in [(0.0, 0.3, 0.8), (0.1, 0.0, 0.8), (0.1, f64::NAN, 0.8), (0.1, 0.3, 1.0)] {
            assert_eq!(tasks_needed(delta, variance, power, Alpha::FIVE_PERCENT), None, "{delta} {variance} {power}");
        }
    }
}
