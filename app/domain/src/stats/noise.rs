//! The noise floor (rule 6): what Δ looks like when the two arms are the same.

use serde::{Deserialize, Serialize};

use super::binomial::{half_pmf, term};
use super::counts::PairCounts;

/// What to expect of Δ in an A/A run with one pair per task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// Standard deviation of Δ.
    pub sd_delta: f64,
    /// Chance that Δ is not 0.
    pub p_nonzero: f64,
}

impl NoiseFloor {
    /// Of `tasks` tasks which each pass at the same rate, independently in both arms: an upper bound for a task set whose tasks differ.
    /// `None` without tasks, or where the rate is not in 0..=1.
    #[must_use]
    pub fn expected(tasks: u32, pass_rate: f64) -> Option<Self> {
        if tasks == 0 || !(0.0..=1.0).contains(&pass_rate) {
            return None;
        }
        let discordant = 2.0 * pass_rate * (1.0 - pass_rate);
        let n = u64::from(tasks);
        let tied: f64 =
            (0..=n / 2).map(|half| term(2 * half, n, discordant, 1.0 - discordant) * half_pmf(half, 2 * half)).sum();
        Some(Self { sd_delta: (discordant / f64::from(tasks)).sqrt(), p_nonzero: (1.0 - tied).clamp(0.0, 1.0) })
    }
}

/// Standard deviation of a Δ over `tasks` tasks with `repeats` pairs each, where nothing differs and pairs flip as `seen` in an A/A run:
/// √(q/(n·k)), a flip being worth ±1 with equal chance. Half a flip is added to those seen. `None` without pairs, tasks or repeats.
#[must_use]
pub fn sd_delta(seen: &PairCounts, tasks: u32, repeats: u32) -> Option<f64> {
    if seen.pairs() == 0 || tasks == 0 || repeats == 0 {
        return None;
    }
    let share = (seen.discordant() as f64 + 0.5) / (seen.pairs() as f64 + 1.0);
    Some((share / (f64::from(tasks) * f64::from(repeats))).sqrt())
}

/// The share of pairs that flipped either way, as an A/A run showed; `None` without pairs.
#[must_use]
pub fn flip_share(counts: &PairCounts) -> Option<f64> {
    (counts.pairs() > 0).then(|| counts.discordant() as f64 / counts.pairs() as f64)
}

#[cfg(test)]
mod tests {
    use super::{NoiseFloor, PairCounts, flip_share, sd_delta};

    #[test]
    fn known_values() {
        let floor = NoiseFloor::expected(10, 0.9).unwrap();
        assert!((floor.sd_delta - 0.134_164_078_649_987_36).abs() < 1e-12);
        assert!((floor.p_nonzero - 0.687_384_008_441_248_7).abs() < 1e-12);
        assert_eq!(NoiseFloor::expected(7, 1.0), Some(NoiseFloor { sd_delta: 0.0, p_nonzero: 0.0 }));
        assert_eq!((NoiseFloor::expected(0, 0.5), NoiseFloor::expected(5, f64::NAN)), (None, None));
        assert_eq!(flip_share(&PairCounts { both: 2, rescued: 1, broken: 1, neither: 0 }), Some(0.5));
        assert_eq!(flip_share(&PairCounts::default()), None);
    }

    /// As many pairs seen as planned, of which very many flip at the rate of a task set: the formula of the expected floor.
    #[test]
    fn what_was_seen_gives_what_was_expected() {
        let seen = PairCounts { both: 820_000, rescued: 90_000, broken: 90_000, neither: 0 };
        let expected = NoiseFloor::expected(10, 0.9).unwrap().sd_delta;
        assert!((sd_delta(&seen, 10, 1).unwrap() - expected).abs() < 1e-6);
        assert!((sd_delta(&seen, 10, 4).unwrap() - expected / 2.0).abs() < 1e-6);
        let none = PairCounts { both: 10, ..PairCounts::default() };
        assert!(sd_delta(&none, 10, 1).unwrap() > 0.0, "none seen is not none there");
        assert_eq!(
            (sd_delta(&PairCounts::default(), 9, 1), sd_delta(&none, 0, 1), sd_delta(&none, 9, 0)),
            (None, None, None)
        );
    }
}
