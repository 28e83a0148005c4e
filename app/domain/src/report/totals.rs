//! The headline numbers over all complete pairs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{TaskReport, TrialRecord};
use crate::condition::{Condition, Flip, Pair};
use crate::id::TrialId;
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::delta::{DeltaEstimate, delta};
use crate::stats::interval::Interval;
use crate::stats::quadrant::{Quadrant, cost_efficiency};
use crate::stats::ratio::ratio;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::verdict::Verdict;

/// Numbers over all complete pairs. A pair counts where both trials are scored and it is not void.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Pairs with both trials scored.
    pub pairs_complete: u64,
    /// The others.
    pub pairs_incomplete: u64,
    /// Those of them that are missing for nothing else than that a trial was cancelled, by a person or by the plan's own rule.
    #[serde(default)]
    pub pairs_not_run: u64,
    /// Tasks with at least one complete pair: the n of Δ.
    pub tasks_complete: u64,
    /// Mean over those tasks of the share of with-skill passes.
    pub pass_rate_with: Option<f64>,
    /// Mean over those tasks of the share of no-skill passes.
    pub pass_rate_without: Option<f64>,
    /// Mean reward of the with-skill trials in complete pairs.
    pub mean_reward_with: Option<f64>,
    /// Mean reward of the no-skill trials in complete pairs.
    pub mean_reward_without: Option<f64>,
    /// pass_rate_with − pass_rate_without (statistics F1).
    pub delta: Option<f64>,
    /// Its 95 % interval, made for pairs (`docs/statistics.md`); `null` without a complete pair.
    pub delta_ci: Option<Interval>,
    /// Newcombe's (statistics F6), which other programs print; only where every task has one pair. It covers too little with few tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_ci_newcombe: Option<Interval>,
    /// Exact test for pairs (statistics F2 at one repeat, F4 at more); `null` where the plan allowed to look before the end, so that it does not hold.
    pub p_value: Option<f64>,
    /// The mid-p of the same test, where it has one (statistics F3).
    pub p_mid: Option<f64>,
    /// Evidence that holds however often one looked (statistics F18): of plans that may stop on it, and of evaluations ended as futile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_value: Option<f64>,
    /// What Δ shows: `improves`, `harms`, `no_effect`, `inconclusive` or `cannot_be_resolved`; `null` without a complete pair.
    pub verdict: Option<DeltaVerdict>,
    /// Least and greatest Δ over all pairs, if those left out had gone worst or best for the skill; `null` if none was left out.
    pub delta_bounds: Option<[f64; 2]>,
    /// Pairs that only the with-skill trial passed.
    pub rescued: u64,
    /// Pairs that only the no-skill trial passed.
    pub broken: u64,
    /// Pairs that both passed.
    pub both: u64,
    /// Pairs that neither passed.
    pub neither: u64,
    /// Complete pairs whose tokens are known, and not 0, in both arms: the n of ρ.
    pub pairs_with_tokens: u64,
    /// Mean total tokens per with-skill trial over those pairs.
    pub tokens_with: Option<f64>,
    /// Mean total tokens per no-skill trial over those pairs.
    pub tokens_without: Option<f64>,
    /// tokens_with ÷ tokens_without − 1 (statistics F11).
    pub rho: Option<f64>,
    /// Its 95 % interval; `null` where the spread is unknown or the ratio unbounded.
    pub rho_ci: Option<Interval>,
    /// Better or worse against dearer or cheaper; `null` where Δ or ρ is unknown.
    pub quadrant: Option<Quadrant>,
    /// delta ÷ rho as the paper defines it; `null` at rho = 0. Never sorted by.
    pub ce: Option<f64>,
    /// With-skill trials of complete pairs that opened the skill.
    pub activated: u64,
    /// With-skill trials of complete pairs for which that can be told.
    pub activation_known: u64,
    /// Finished trials left out for trouble of engine, provider or verifier.
    pub trials_not_scored: u64,
}

impl Totals {
    /// Pairs that were planned, complete or not.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.pairs_complete + self.pairs_incomplete
    }

    /// Adds up the tasks' pairs; `trials` are those that the pairs were made of.
    #[must_use]
    pub fn of<'a>(tasks: &[TaskReport], trials: impl IntoIterator<Item = &'a TrialRecord> + Clone) -> Self {
        Self::with_estimate(tasks, trials).0
    }

    /// The same, and the estimate of Δ behind it, which takes long to make for thousands of tasks.
    pub(crate) fn with_estimate<'a>(
        tasks: &[TaskReport],
        trials: impl IntoIterator<Item = &'a TrialRecord> + Clone,
    ) -> (Self, Option<DeltaEstimate>) {
        let pairs = || tasks.iter().flat_map(|task| &task.pairs);
        let count = |flip: Flip| pairs().filter(|pair| pair.flip == Some(flip)).count() as u64;
        let tokens: Vec<Pair<u64>> = pairs().filter_map(super::PairedTrials::comparable_tokens).collect();
        let mean_tokens = |arm: Condition| mean(tokens.iter().map(|pair| *pair.get(arm) as f64));
        let mean_reward =
            |arm: Condition| mean(pairs().filter(|pair| pair.flip.is_some()).filter_map(|pair| *pair.reward.get(arm)));
        let pass_rate_with = mean(tasks.iter().filter_map(|task| task.pass_rate_with));
        let pass_rate_without = mean(tasks.iter().filter_map(|task| task.pass_rate_without));
        let estimate = delta(&counts(tasks), Alpha::FIVE_PERCENT);
        let overhead = ratio(&token_sums(tasks), Alpha::FIVE_PERCENT);
        let (tokens_with, tokens_without) = (mean_tokens(Condition::WithSkill), mean_tokens(Condition::NoSkill));
        let rho = tokens_with.zip(tokens_without).map(|(with, without)| with / without - 1.0);
        let delta = estimate.as_ref().map(|estimate| estimate.delta);
        let complete = pairs().filter(|pair| pair.flip.is_some()).count() as u64;
        let activations = activations(tasks, trials.clone());
        let totals = Self {
            pairs_complete: complete,
            pairs_incomplete: pairs().count() as u64 - complete,
            pairs_not_run: not_run(tasks, trials.clone()),
            tasks_complete: tasks.iter().filter(|task| task.delta.is_some()).count() as u64,
            pass_rate_with,
            pass_rate_without,
            mean_reward_with: mean_reward(Condition::WithSkill),
            mean_reward_without: mean_reward(Condition::NoSkill),
            delta,
            delta_ci: estimate.as_ref().map(|estimate| estimate.ci),
            delta_ci_newcombe: estimate.as_ref().and_then(|estimate| estimate.newcombe),
            p_value: estimate.as_ref().map(|estimate| estimate.p_value),
            p_mid: estimate.as_ref().and_then(|estimate| estimate.p_mid),
            e_value: None,
            verdict: estimate.as_ref().map(|estimate| DeltaVerdict::raw(estimate, &VerdictRule::default())),
            delta_bounds: delta_bounds(tasks),
            rescued: count(Flip::Rescued),
            broken: count(Flip::Broken),
            both: count(Flip::Both),
            neither: count(Flip::Neither),
            pairs_with_tokens: tokens.len() as u64,
            tokens_with,
            tokens_without,
            rho,
            rho_ci: overhead.and_then(|overhead| overhead.interval()),
            quadrant: delta.zip(rho).and_then(|(delta, rho)| Quadrant::of(delta, rho)),
            ce: delta.zip(rho).and_then(|(delta, rho)| cost_efficiency(delta, rho)),
            activated: activations.iter().filter(|opened| **opened).count() as u64,
            activation_known: activations.len() as u64,
            trials_not_scored: trials.into_iter().filter(|trial| is_trouble(trial.state.verdict())).count() as u64,
        };
        (totals, estimate)
    }
}

impl Totals {
    /// What is beside the complete pairs, in words: `none left out`, `3 left out, 21 not run`.
    #[must_use]
    pub fn others_in_words(&self) -> String {
        let not_run = self.pairs_not_run.min(self.pairs_incomplete);
        match (self.pairs_incomplete - not_run, not_run) {
            (0, 0) => "none left out".to_owned(),
            (left_out, 0) => format!("{left_out} left out"),
            (0, not_run) => format!("{not_run} not run"),
            (left_out, not_run) => format!("{left_out} left out, {not_run} not run"),
        }
    }
}

/// Complete pairs per task, the input of the test.
pub(crate) fn counts(tasks: &[TaskReport]) -> Vec<PairCounts> {
    tasks.iter().map(TaskReport::counts).filter(|counts| counts.pairs() > 0).collect()
}

/// Token sums per task, the input of ρ's interval.
pub(crate) fn token_sums(tasks: &[TaskReport]) -> Vec<Pair<f64>> {
    let of_task = |task: &TaskReport| {
        let tokens: Vec<Pair<u64>> = task.pairs.iter().filter_map(super::PairedTrials::comparable_tokens).collect();
        let sum = |of: fn(&Pair<u64>) -> u64| tokens.iter().map(|pair| of(pair) as f64).sum::<f64>();
        (!tokens.is_empty()).then(|| Pair { without: sum(|pair| pair.without), with: sum(|pair| pair.with) })
    };
    tasks.iter().filter_map(of_task).collect()
}

/// Pairs of which a trial was cancelled, and that nothing else kept from being complete.
fn not_run<'a>(tasks: &[TaskReport], trials: impl IntoIterator<Item = &'a TrialRecord>) -> u64 {
    let ended: HashMap<TrialId, &Verdict> =
        trials.into_iter().filter_map(|trial| Some((trial.id, trial.state.verdict()?))).collect();
    let missing = tasks.iter().flat_map(|task| &task.pairs).filter(|pair| pair.flip.is_none() && pair.void.is_none());
    let verdicts =
        |pair: &super::PairedTrials| [pair.trials.without, pair.trials.with].map(|trial| ended.get(&trial?).copied());
    let is_it = |pair: &&super::PairedTrials| {
        let verdicts = verdicts(pair);
        verdicts.contains(&Some(&Verdict::Cancelled)) && !verdicts.iter().any(|verdict| is_trouble(*verdict))
    };
    missing.filter(is_it).count() as u64
}

const fn is_trouble(verdict: Option<&Verdict>) -> bool {
    matches!(verdict, Some(Verdict::InfraError { .. } | Verdict::VerifierError { .. }))
}

/// Mean of the values; `None` of none.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0_u64), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

/// Of the with-skill trials in complete pairs, those for which the trace can tell, and what it tells.
fn activations<'a>(tasks: &[TaskReport], trials: impl IntoIterator<Item = &'a TrialRecord>) -> Vec<bool> {
    let complete: std::collections::HashSet<_> = tasks
        .iter()
        .flat_map(|task| &task.pairs)
        .filter(|pair| pair.flip.is_some())
        .filter_map(|pair| pair.trials.with)
        .collect();
    trials
        .into_iter()
        .filter(|trial| complete.contains(&trial.id))
        .filter_map(|trial| trial.result.as_ref()?.activation.opened)
        .collect()
}

/// Δ over all planned pairs, if every unknown arm had been the worst, or the best, for the skill. A void pair may have gone either way.
fn delta_bounds(tasks: &[TaskReport]) -> Option<[f64; 2]> {
    if tasks.iter().flat_map(|task| &task.pairs).all(|pair| pair.flip.is_some()) {
        return None;
    }
    let bound = |unknown_without: bool, unknown_with: bool| {
        mean(tasks.iter().filter_map(|task| {
            mean(task.pairs.iter().map(|pair| {
                let passed = if pair.void.is_some() { Pair { without: None, with: None } } else { pair.passed };
                let with = f64::from(u8::from(passed.with.unwrap_or(unknown_with)));
                with - f64::from(u8::from(passed.without.unwrap_or(unknown_without)))
            }))
        }))
    };
    Some([bound(true, false)?, bound(false, true)?])
}
