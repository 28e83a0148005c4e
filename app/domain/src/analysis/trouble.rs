//! What could not be scored, and whether it hit both arms alike (statistics rule 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::FileTrial;
use crate::condition::Pair;
use crate::report::TrialRecord;
use crate::stats::fisher::{Troubled, fisher};
use crate::verdict::Verdict;

/// How the trials of a file ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialTally {
    /// Rows of the file.
    pub total: u64,
    /// Scored: pass or fail.
    pub valid: u64,
    /// Trouble of engine, provider or verifier.
    pub not_scored: u64,
    /// Not finished, or cancelled.
    pub open: u64,
    /// Replaced by a later attempt at the same trial.
    pub superseded: u64,
    /// Baselines of tasks that no skill was tried on.
    pub unused_baselines: u64,
    /// By outcome word.
    pub by_outcome: BTreeMap<String, u64>,
}

/// Whether trouble hit both arms alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorRates {
    /// No-skill trials with trouble.
    pub troubled_without: u32,
    /// No-skill trials that ended.
    pub trials_without: u32,
    /// With-skill trials with trouble.
    pub troubled_with: u32,
    /// With-skill trials that ended.
    pub trials_with: u32,
    /// Fisher's exact p of "equally often".
    pub p_value: f64,
    /// p below 0.1: what was left out may bias Δ.
    pub differ: bool,
}

impl TrialTally {
    /// Counts rows.
    #[must_use]
    pub fn of(rows: &[FileTrial]) -> Self {
        let mut tally = Self { total: rows.len() as u64, ..Self::default() };
        for row in rows {
            *tally.by_outcome.entry(row.outcome.word().to_owned()).or_default() += 1;
            match row.outcome {
                outcome if outcome.scored().is_some() => tally.valid += 1,
                outcome if outcome.is_trouble() => tally.not_scored += 1,
                _ => tally.open += 1,
            }
        }
        tally
    }

    /// Share of rows that were scored; `None` without rows.
    #[must_use]
    pub fn valid_share(&self) -> Option<f64> {
        (self.total > 0).then(|| self.valid as f64 / self.total as f64)
    }
}

impl ErrorRates {
    /// Compares the arms; `None` where nothing was in trouble.
    #[must_use]
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Option<Self> {
        /// Below this a different error rate is told.
        const WARN_BELOW: f64 = 0.1;
        let mut arms = Pair { without: Troubled { troubled: 0, trials: 0 }, with: Troubled { troubled: 0, trials: 0 } };
        for trial in trials {
            let troubled = match trial.state.verdict() {
                None | Some(Verdict::Cancelled) => continue,
                Some(verdict) => verdict.scored().is_none(),
            };
            let arm = arms.get_mut(trial.condition);
            arm.trials = arm.trials.saturating_add(1);
            arm.troubled = arm.troubled.saturating_add(u32::from(troubled));
        }
        if arms.with.troubled == 0 && arms.without.troubled == 0 {
            return None;
        }
        let p_value = fisher(arms)?;
        Some(Self {
            troubled_without: arms.without.troubled,
            trials_without: arms.without.trials,
            troubled_with: arms.with.troubled,
            trials_with: arms.with.trials,
            p_value,
            differ: p_value < WARN_BELOW,
        })
    }
}
