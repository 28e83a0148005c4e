//! What was seen, in one sentence that needs no statistics: how many passed in each arm, how far apart that is, and what it took. The words for
//! the arms stand here as well, so that every sentence calls them the same.

use super::{Totals, number};
use crate::comparison::Compared;
use crate::leaderboard::Measured;
use crate::stats::counts::PairCounts;
use crate::stats::interval::Interval;

/// What is told of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sight {
    /// Complete pairs by how they ended.
    pub counts: PairCounts,
    /// Whether each task has one repeat, so that its trials may be called tasks.
    pub one_repeat: bool,
    /// Δ, a share.
    pub delta: Option<f64>,
    /// Its 95 % interval.
    pub delta_ci: Option<Interval>,
    /// Token overhead.
    pub rho: Option<f64>,
}

/// How sentences speak of the arms of a comparison.
pub(super) struct ArmWords {
    /// `With the skill`, at the beginning of a sentence.
    pub(super) with: &'static str,
    /// `without it`, after that.
    pub(super) without: &'static str,
    /// What it would mean that the first is better.
    pub(super) better: &'static str,
}

impl ArmWords {
    pub(super) const fn of(compared: Compared) -> Self {
        match compared {
            Compared::NoSkill => {
                Self { with: "With the skill", without: "without it", better: "the skill helps or harms" }
            }
            Compared::PreviousVersion => Self {
                with: "With the new version",
                without: "with the previous one",
                better: "the new version is better",
            },
            Compared::Control => Self {
                with: "With the skill",
                without: "with an unrelated one",
                better: "the skill helps more than an unrelated one",
            },
            Compared::Same => Self { with: "In arm B", without: "in arm A", better: "the arms differ" },
        }
    }
}

impl Sight {
    pub(super) fn of(totals: &Totals, one_repeat: bool) -> Self {
        let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let counts = PairCounts {
            both: count(totals.both),
            rescued: count(totals.rescued),
            broken: count(totals.broken),
            neither: count(totals.neither),
        };
        Self { counts, one_repeat, delta: totals.delta, delta_ci: totals.delta_ci, rho: totals.rho }
    }

    /// Of a row of the leaderboard; `None` where it tells no pairs.
    #[must_use]
    pub fn of_row(measured: &Measured) -> Option<Self> {
        let estimate = measured.estimate?;
        Some(Self {
            counts: estimate.counts,
            one_repeat: measured.repeats() == Some(1),
            delta: measured.delta,
            delta_ci: measured.delta_ci(),
            rho: measured.rho,
        })
    }

    /// `With the skill 33 of 40 tasks pass, without it 15 (20 rescued, 2 broken); Δ +45 percentage points, 95 % interval +27 to +60; 10 % more
    /// tokens.`
    #[must_use]
    pub fn sentence(&self, compared: Compared) -> String {
        let flips = match compared {
            Compared::Same => format!("{} flipped", self.counts.discordant()),
            _ => format!("{} rescued, {} broken", self.counts.rescued, self.counts.broken),
        };
        let tokens = match (compared, self.rho) {
            (Compared::Same, _) | (_, None) => String::new(),
            (_, Some(rho)) if rho > 0.0 => format!("; {} more tokens", number::percent(Some(rho))),
            (_, Some(rho)) if rho < 0.0 => format!("; {} fewer tokens", number::percent(Some(-rho))),
            _ => "; as many tokens".to_owned(),
        };
        format!("{} ({flips}){}{tokens}.", self.passes(compared, ""), self.difference())
    }

    /// The same while trials are still to come: `With the skill 3 of 4 tasks pass so far, without it 2.` The difference is told only where it
    /// may be `shown`.
    pub(super) fn so_far(&self, compared: Compared, shown: bool) -> String {
        let difference = if shown { self.difference() } else { String::new() };
        format!("{}{difference}.", self.passes(compared, " so far"))
    }

    fn passes(&self, compared: Compared, when: &str) -> String {
        let words = ArmWords::of(compared);
        let (with, without) = (self.counts.passed_with(), self.counts.passed_without());
        let of = number::counted(self.counts.pairs(), if self.one_repeat { "task" } else { "trial" });
        let verb = if with == 1 { "passes" } else { "pass" };
        format!("{} {with} of {of} {verb}{when}, {} {without}", words.with, words.without)
    }

    fn difference(&self) -> String {
        let Some(delta) = self.delta else { return String::new() };
        let ci = self.delta_ci.map(|ci| format!(", 95 % interval {}", number::bare_interval(ci))).unwrap_or_default();
        format!("; Δ {}{ci}", number::points_in_words(delta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_arms_are_counted_and_every_unit_is_in_words() {
        let counts = |rescued, broken, both, neither| PairCounts { both, rescued, broken, neither };
        let ci = Interval::new(0.27, 0.6);
        let sight = |counts, one_repeat, rho| Sight { counts, one_repeat, delta: Some(0.45), delta_ci: ci, rho };
        for (seen, compared, sentence) in [
            (
                sight(counts(20, 2, 13, 5), true, Some(0.1)),
                Compared::NoSkill,
                "With the skill 33 of 40 tasks pass, without it 15 (20 rescued, 2 broken); Δ +45 percentage points, \
                 95 % interval +27 to +60; 10 % more tokens.",
            ),
            (
                sight(counts(1, 0, 0, 0), true, Some(-0.25)),
                Compared::PreviousVersion,
                "With the new version 1 of 1 task passes, with the previous one 0 (1 rescued, 0 broken); \
                 Δ +45 percentage points, 95 % interval +27 to +60; 25 % fewer tokens.",
            ),
            (
                sight(counts(3, 4, 5, 6), false, Some(0.0)),
                Compared::Control,
                "With the skill 8 of 18 trials pass, with an unrelated one 9 (3 rescued, 4 broken); \
                 Δ +45 percentage points, 95 % interval +27 to +60; as many tokens.",
            ),
            (
                Sight { delta_ci: None, ..sight(counts(3, 4, 5, 6), true, Some(0.5)) },
                Compared::Same,
                "In arm B 8 of 18 tasks pass, in arm A 9 (7 flipped); Δ +45 percentage points.",
            ),
        ] {
            assert_eq!(seen.sentence(compared), sentence);
        }
        let running = sight(counts(3, 0, 1, 0), true, None);
        assert_eq!(
            [running.so_far(Compared::NoSkill, false), running.so_far(Compared::NoSkill, true)],
            [
                "With the skill 4 of 4 tasks pass so far, without it 1.",
                "With the skill 4 of 4 tasks pass so far, without it 1; Δ +45 percentage points, 95 % interval +27 to +60.",
            ]
        );
    }
}
