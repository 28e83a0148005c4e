//! How many rows show something, said before anybody reads the first of them.

use serde::{Deserialize, Serialize};

use super::row::{Attestation, LeaderboardRow, Says};

/// Rows by verdict. Rows that do not compete are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Rows that show a gain.
    pub improves: u32,
    /// Rows that rule out a difference that matters.
    pub no_effect: u32,
    /// Rows that leave it open.
    pub inconclusive: u32,
    /// Rows with too few tasks for any answer.
    pub cannot_be_resolved: u32,
    /// Rows that show a loss.
    pub harms: u32,
    /// Rows without a complete pair.
    pub no_result: u32,
    /// Rows of scripted models, of no coding agent, and of others.
    pub marked: u32,
}

impl VerdictCounts {
    /// Counts rows.
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a LeaderboardRow>) -> Self {
        rows.fold(Self::default(), |mut counts, row| {
            let place = match (&row.record.attestation, row.says()) {
                (Attestation::Scripted | Attestation::NoCodingAgent | Attestation::Imported { .. }, _) => {
                    &mut counts.marked
                }
                (_, Says::Improves) => &mut counts.improves,
                (_, Says::NoEffect) => &mut counts.no_effect,
                (_, Says::Inconclusive) => &mut counts.inconclusive,
                (_, Says::CannotBeResolved) => &mut counts.cannot_be_resolved,
                (_, Says::Harms) => &mut counts.harms,
                (_, Says::NoResult) => &mut counts.no_result,
            };
            *place += 1;
            counts
        })
    }

    /// Rows that show neither gain nor loss.
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.no_effect + self.inconclusive + self.cannot_be_resolved + self.no_result
    }

    /// Rows that are not marked.
    #[must_use]
    pub const fn judged(&self) -> u32 {
        self.open() + self.improves + self.harms
    }

    /// `39 of 49 rows are inconclusive or null: 4 no effect, 35 inconclusive. 7 improve, 3 harm.`
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut sentence = String::new();
        if self.judged() > 0 {
            let parts = [
                (self.no_effect, "no effect"),
                (self.inconclusive, "inconclusive"),
                (self.cannot_be_resolved, "cannot be resolved"),
                (self.no_result, "no result"),
            ];
            let parts: Vec<String> =
                parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
            let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
            let verb = if self.judged() == 1 { "row is" } else { "rows are" };
            sentence = format!(
                "{} of {} {verb} inconclusive or null{parts}. {} {}, {} {}.",
                self.open(),
                self.judged(),
                self.improves,
                if self.improves == 1 { "improves" } else { "improve" },
                self.harms,
                if self.harms == 1 { "harms" } else { "harm" },
            );
        }
        if self.marked > 0 {
            let verb = if self.marked == 1 { "row is" } else { "rows are" };
            let words =
                format!("{} {verb} scripted, imported or by no coding agent: shown, never ranked.", self.marked);
            sentence = format!("{sentence} {words}").trim_start().to_owned();
        }
        sentence
    }
}
