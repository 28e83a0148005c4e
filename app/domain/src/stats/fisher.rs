//! Fisher's exact test: do the arms differ in how often a trial could not be scored (rule 3)? Source: R. A. Fisher 1922, two-sided by summing the tables that are
//! no likelier than the one seen.

use super::binomial::term;
use crate::condition::Pair;

/// How many of an arm's trials ended in trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Troubled {
    /// Trials with trouble; at most `trials`.
    pub troubled: u32,
    /// All trials of the arm.
    pub trials: u32,
}

/// Two-sided p of "both arms are in trouble equally often"; below 0.1 deserves a warning. `None` where an arm has more trouble than trials.
#[must_use]
pub fn fisher(arms: Pair<Troubled>) -> Option<f64> {
    let Pair { without, with } = arms;
    if with.troubled > with.trials || without.troubled > without.trials {
        return None;
    }
    let all = u64::from(with.trials) + u64::from(without.trials);
    let troubled = u64::from(with.troubled) + u64::from(without.troubled);
    if troubled == 0 || troubled == all {
        return Some(1.0);
    }
    // The hypergeometric term as a product of three binomial ones (Loader 2000).
    let (share, rest) = (troubled as f64 / all as f64, (all - troubled) as f64 / all as f64);
    let norm = term(troubled, all, share, rest);
    let chance = |in_with: u64| {
        term(in_with, u64::from(with.trials), share, rest)
            * term(troubled - in_with, u64::from(without.trials), share, rest)
            / norm
    };
    let seen = chance(u64::from(with.troubled)) * (1.0 + 1e-7);
    let least = troubled.saturating_sub(u64::from(without.trials));
    let most = troubled.min(u64::from(with.trials));
    Some((least..=most).map(chance).filter(|chance| *chance <= seen).sum::<f64>().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::{Pair, Troubled, fisher};

    #[test]
    fn known_p_values() {
        for ([a, n, b, m], p) in [
            ([3, 4, 1, 4], 0.485_714_285_714_285_7),
            ([0, 45, 5, 45], 0.055_598_605_191_786_13),
            ([0, 10, 0, 10], 1.0),
            ([10, 10, 10, 10], 1.0),
            ([0, 0, 2, 5], 1.0),
        ] {
            let arms = Pair { with: Troubled { troubled: a, trials: n }, without: Troubled { troubled: b, trials: m } };
            let found = fisher(arms).unwrap();
            assert!((found - p).abs() < 1e-9, "{a}/{n} {b}/{m}: {found}");
        }
        let impossible = Troubled { troubled: 3, trials: 2 };
        assert_eq!(fisher(Pair { with: impossible, without: impossible }), None);
    }
}
