//! How the trials of an evaluation stand, in words: made here, so that page and command line never disagree.

use super::TrialCounts;
use crate::report::number::count;

impl TrialCounts {
    /// Whether every trial is decided.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.finished() == self.total()
    }

    /// `finished`, or `4 of 6 finished`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.is_finished() {
            true => "finished".to_owned(),
            false => format!("{} of {} finished", count(self.finished()), count(self.total())),
        }
    }

    /// What a result lacks, such as `1 trial not scored`; nothing where it lacks nothing.
    pub fn missing_in_words(&self) -> impl Iterator<Item = String> + use<> {
        let told = |n: u64, what: &str| {
            (n > 0).then(|| format!("{} {} {what}", count(n), if n == 1 { "trial" } else { "trials" }))
        };
        [told(self.not_scored, "not scored"), told(self.not_run, "not run")].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_and_what_lacks_is_told() {
        let told = |counts: TrialCounts| {
            [counts.in_words()].into_iter().chain(counts.missing_in_words()).collect::<Vec<_>>().join(", ")
        };
        let none = TrialCounts::default();
        assert_eq!(told(TrialCounts { passed: 3, failed: 1, ..none }), "finished");
        assert_eq!(told(TrialCounts { passed: 3, queued: 1, running: 2, ..none }), "3 of 6 finished");
        let lacking = TrialCounts { passed: 1, not_scored: 1, not_run: 2000, ..none };
        assert_eq!(told(lacking), "finished, 1 trial not scored, 2\u{202f}000 trials not run");
    }
}
