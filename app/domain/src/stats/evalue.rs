//! Evidence that may be looked at while an evaluation runs (F18, rule 7): an e-value stays valid whenever one stops. Sources: Ville 1939; mixtures of the
//! binomial as in Grünwald, de Heide, Koolen, "Safe testing" (2024).

use std::f64::consts::{LN_2, PI};

use super::alpha::Alpha;
use super::mcnemar;
use super::stirling::{deviance, stirling_error};
use crate::condition::Flip;

/// Evidence against "as likely rescued as broken", kept as a logarithm since it grows beyond all numbers.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct EValue {
    ln: f64,
}

impl EValue {
    /// Jeffreys' mixture, E = 2^m B(b+½, c+½)/B(½, ½): the one to use. For one pair per task; repeats of a task are not independent.
    #[must_use]
    pub fn jeffreys(rescued: u32, broken: u32) -> Self {
        Self::mixture(rescued, broken, 0.5, PI.ln())
    }

    /// The uniform mixture, E = 2^m B(b+1, c+1).
    #[must_use]
    pub fn uniform(rescued: u32, broken: u32) -> Self {
        Self::mixture(rescued, broken, 1.0, 0.0)
    }

    /// ln E.
    #[must_use]
    pub const fn ln(self) -> f64 {
        self.ln
    }

    /// E itself, capped at the largest number there is.
    #[must_use]
    pub fn value(self) -> f64 {
        self.ln.exp().min(f64::MAX)
    }

    /// Whether an evaluation may stop for its effect: E ≥ 1/α.
    #[must_use]
    pub fn may_stop(self, alpha: Alpha) -> bool {
        self.ln >= -alpha.value().ln()
    }

    /// A p that holds at any time: 1/E, at most 1.
    #[must_use]
    pub fn anytime_p(self) -> f64 {
        (-self.ln).exp().min(1.0)
    }

    /// 2^(b+c) B(b+s, c+s)/B(s, s), from deviances: at millions of pairs the large terms cancel here and not in floating point.
    fn mixture(rescued: u32, broken: u32, s: f64, ln_norm: f64) -> Self {
        let (a, b) = (f64::from(rescued) + s, f64::from(broken) + s);
        let sum = a + b;
        let ln = deviance(a, sum / 2.0) + deviance(b, sum / 2.0) - 2.0 * s * LN_2
            + 0.5 * (2.0 * PI).ln()
            + 0.5 * (sum.ln() - a.ln() - b.ln())
            + stirling_error(a)
            + stirling_error(b)
            - stirling_error(sum)
            - ln_norm;
        Self { ln }
    }
}

/// The most evidence seen at any time as pairs ended one after the other; what the stopping rule looks at.
#[must_use]
pub fn most_evidence(flips: impl IntoIterator<Item = Flip>) -> EValue {
    let mut counts = super::counts::PairCounts::default();
    flips.into_iter().fold(EValue::jeffreys(0, 0), |most, flip| {
        counts.record(flip);
        let now = EValue::jeffreys(counts.rescued, counts.broken);
        if now > most { now } else { most }
    })
}

/// Whether the fixed-n exact test can still reach α if all `remaining` pairs go one way; where not, going on is futile.
#[must_use]
pub fn can_still_reach(rescued: u32, broken: u32, remaining: u32, alpha: Alpha) -> bool {
    let best = mcnemar::exact(rescued.saturating_add(remaining), broken);
    let worst = mcnemar::exact(rescued, broken.saturating_add(remaining));
    best.min(worst) <= alpha.value()
}

#[cfg(test)]
mod tests {
    use super::{Alpha, EValue, Flip, can_still_reach, most_evidence};

    #[test]
    fn known_values() {
        for (rescued, broken, uniform, jeffreys) in [
            (0, 0, 1.0, 1.0),
            (3, 0, 2.0, 2.5),
            (8, 0, 28.444_444_444_444_443, 50.273_437_5),
            (5, 5, 0.369_408_369_408_369_4, 0.246_093_75),
        ] {
            assert!((EValue::uniform(rescued, broken).value() / uniform - 1.0).abs() < 1e-12, "{rescued} {broken}");
            assert!((EValue::jeffreys(rescued, broken).value() / jeffreys - 1.0).abs() < 1e-12, "{rescued} {broken}");
        }
    }

    #[test]
    fn a_million_pairs_stay_numbers() {
        let sure = EValue::jeffreys(1_000_000, 0);
        assert!(
            sure.ln().is_finite()
                && sure.value() == f64::MAX
                && sure.anytime_p() == 0.0
                && sure.may_stop(Alpha::FIVE_PERCENT)
        );
        let even = EValue::jeffreys(1_000_000, 1_000_000);
        assert!(even.value() < 0.01 && even.anytime_p() == 1.0 && !even.may_stop(Alpha::FIVE_PERCENT));
    }

    #[test]
    fn the_best_moment_counts_even_if_it_passed() {
        let run = std::iter::repeat_n(Flip::Rescued, 8).chain(std::iter::repeat_n(Flip::Broken, 8));
        assert!((most_evidence(run).value() - 50.273_437_5).abs() < 1e-9);
        assert!(!EValue::jeffreys(8, 8).may_stop(Alpha::FIVE_PERCENT));
    }

    #[test]
    fn futile_where_no_outcome_can_reach_alpha() {
        assert!(can_still_reach(3, 0, 3, Alpha::FIVE_PERCENT));
        assert!(!can_still_reach(3, 0, 2, Alpha::FIVE_PERCENT));
        assert!(can_still_reach(0, 2, 4, Alpha::FIVE_PERCENT));
    }
}
