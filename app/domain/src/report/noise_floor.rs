//! How much Δ moves where nothing differs: what an A/A evaluation shows of its tasks, agent and model, carried over to other evaluations of the
//! same (statistics rule 6). Plots shade ±[`MeasuredNoise::band`] around 0.

use serde::{Deserialize, Serialize};

use super::TaskReport;
use super::totals::counts;
use crate::id::EvaluationId;
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::interval::Interval;
use crate::stats::noise::{flip_share, sd_delta};
use crate::stats::wilson::wilson;

/// The noise of a Δ over `tasks` tasks with `repeats` pairs each, as A/A evaluations of such tasks showed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredNoise {
    /// The A/A evaluations that it rests on, oldest first.
    pub evaluations: Vec<EvaluationId>,
    /// Tasks of this evaluation that they ran.
    pub tasks_seen: u64,
    /// Tasks of this evaluation.
    pub tasks: u64,
    /// Complete A/A pairs of those tasks.
    pub pairs: u64,
    /// Tasks of which at least one A/A pair flipped.
    pub tasks_flipped: u64,
    /// Share of those pairs that flipped, either way, although both arms were alike.
    pub flip_share: f64,
    /// Its 95 % interval (statistics F5); repeats of one task are taken as independent.
    pub flip_share_ci: Interval,
    /// Standard deviation of this evaluation's Δ where nothing differs, a share. Half a flip is added to those seen, so that none seen is
    /// not taken for none there.
    pub sd_delta: f64,
    /// Half the width of the band in which Δ then lies 19 times in 20, a share.
    pub band: f64,
}

impl MeasuredNoise {
    /// From the A/A pairs of an evaluation's tasks, task by task; `None` without a complete pair.
    #[must_use]
    pub fn of(evaluations: Vec<EvaluationId>, seen: &[PairCounts], tasks: u64, repeats: u32) -> Option<Self> {
        let counts: PairCounts = seen.iter().copied().sum();
        let share = flip_share(&counts)?;
        let pairs = counts.pairs();
        let sd_delta = sd_delta(&counts, u32::try_from(tasks).ok()?, repeats)?;
        Some(Self {
            evaluations,
            tasks_seen: seen.iter().filter(|counts| counts.pairs() > 0).count() as u64,
            tasks,
            pairs,
            tasks_flipped: seen.iter().filter(|counts| counts.discordant() > 0).count() as u64,
            flip_share: share,
            flip_share_ci: wilson(counts.discordant(), pairs, Alpha::FIVE_PERCENT)?,
            sd_delta,
            band: (sd_delta * Alpha::FIVE_PERCENT.z()).min(1.0),
        })
    }

    /// What an A/A evaluation shows of itself.
    pub(super) fn of_itself(id: EvaluationId, tasks: &[TaskReport], repeats: u32) -> Option<Self> {
        Self::of(vec![id], &counts(tasks), tasks.len() as u64, repeats)
    }
}
