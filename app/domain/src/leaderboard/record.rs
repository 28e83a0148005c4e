//! A row's record out of its pool.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::row::{Attestation, Measured, RowRecord, RowSkill};
use crate::analysis::pool::{Member, PooledRow, TaskSetKey};
use crate::analysis::rank::Unranked;
use crate::condition::Flip;
use crate::id::TrialId;
use crate::plan::AgentRef;
use crate::report::{PairedTrials, TrialRecord};
use crate::stats::cost::cost_per_solve;
use crate::stats::gain::normalized_gain;
use crate::verdict::Verdict;

/// A task set as a row names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTaskSet {
    /// Its name; one that has none is named by its only task, or by its address.
    pub name: String,
    /// How many tasks are in it, where it has a name: a row may cover a part.
    pub tasks: Option<u32>,
}

/// What a pool does not know of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names {
    /// The treatment's skills; empty = each task's own.
    pub skills: Vec<RowSkill>,
    /// The categories of the tasks, in any order.
    pub categories: Vec<Option<String>>,
    /// Number of tasks in the set, where it has a name.
    pub set_tasks: Option<u32>,
}

/// The record of a pool. `key` names it in addresses.
#[must_use]
pub fn record(
    key: String,
    pooled: &PooledRow,
    members: &[Member<'_>],
    attestation: Attestation,
    names: Names,
) -> RowRecord {
    let unranked = match (&attestation, pooled.unranked) {
        (_, Some(Unranked::NoResult)) => Some(Unranked::NoResult),
        (Attestation::Imported { .. }, _) => Some(Unranked::Imported),
        (Attestation::Published { .. }, _) => Some(Unranked::Published),
        (Attestation::Scripted, _) => Some(Unranked::Scripted),
        (Attestation::NoCodingAgent, _) => Some(Unranked::NoCodingAgent),
        (Attestation::Own, unranked) => unranked,
    };
    RowRecord {
        key,
        family: pooled.key.family().to_hex(),
        attestation,
        skills: names.skills,
        category: category(names.categories),
        agent: AgentRef {
            name: pooled.key.agent.clone(),
            version: pooled.key.agent_version.clone(),
            skills: pooled.key.skill_delivery,
        },
        model: pooled.key.model.clone(),
        task_set: RowTaskSet { name: set_name(pooled), tasks: names.set_tasks },
        measured: measured(pooled, members),
        exact_delta: pooled.exact_delta,
        unranked,
        evaluations: pooled.evaluations.clone(),
        date: pooled.newest,
    }
}

fn set_name(pooled: &PooledRow) -> String {
    match (&pooled.key.task_set, pooled.tasks.as_slice()) {
        (TaskSetKey::Named { name }, _) => name.clone(),
        (TaskSetKey::Listed { .. }, [task]) => task.task.clone(),
        (TaskSetKey::Listed { tasks }, _) => format!("set {}", tasks.short()),
    }
}

fn category(mut categories: Vec<Option<String>>) -> Option<String> {
    categories.sort_unstable();
    categories.dedup();
    match categories.as_slice() {
        [] => None,
        [one] => one.clone(),
        _ => Some("mixed".to_owned()),
    }
}

fn measured(pooled: &PooledRow, members: &[Member<'_>]) -> Measured {
    let totals = &pooled.totals;
    let (trials, not_scored) = ended(pooled, members);
    let (money_per_solve, prices) = money(pooled, members);
    Measured {
        tasks: u32::try_from(totals.tasks_complete).unwrap_or(u32::MAX),
        pairs: totals.pairs_complete,
        pairs_incomplete: totals.pairs_incomplete,
        without: totals.pass_rate_without,
        with: totals.pass_rate_with,
        delta: totals.delta,
        estimate: pooled.estimate,
        opened: totals.activated,
        opened_known: totals.activation_known,
        rho: totals.rho,
        rho_ci: totals.rho_ci,
        quadrant: totals.quadrant,
        tokens_per_solve: tokens(pooled),
        money_per_solve,
        prices,
        gain: totals.pass_rate_without.zip(totals.pass_rate_with).and_then(|(a, b)| normalized_gain(a, b)),
        trials,
        trials_not_scored: not_scored,
    }
}

/// Trials that ended, and those of them that trouble kept from a score. What a person stopped is neither.
fn ended(pooled: &PooledRow, members: &[Member<'_>]) -> (u64, u64) {
    let in_it: HashSet<_> = pooled.evaluations.iter().collect();
    let trials = members.iter().filter(|member| in_it.contains(&member.id)).flat_map(|member| member.trials);
    trials.filter_map(|trial| trial.state.verdict()).fold((0, 0), |(ended, troubled), verdict| match verdict {
        Verdict::Cancelled => (ended, troubled),
        verdict => (ended + 1, troubled + u64::from(verdict.scored().is_none())),
    })
}

fn complete(pooled: &PooledRow) -> impl Iterator<Item = &PairedTrials> {
    pooled.tasks.iter().flat_map(|task| &task.pairs).filter(|pair| pair.flip.is_some())
}

fn solved<'a>(pairs: impl Iterator<Item = &'a PairedTrials>) -> u64 {
    pairs.filter(|pair| matches!(pair.flip, Some(Flip::Both | Flip::Rescued))).count() as u64
}

/// Over complete pairs with known tokens.
fn tokens(pooled: &PooledRow) -> Option<f64> {
    let known = || complete(pooled).filter(|pair| pair.comparable_tokens().is_some());
    let sum: f64 = known().filter_map(|pair| Some(pair.comparable_tokens()?.with as f64)).sum();
    cost_per_solve(sum, solved(known()))
}

/// Over complete pairs; unknown as soon as one trial's cost is, or where prices changed in between.
fn money(pooled: &PooledRow, members: &[Member<'_>]) -> (Option<f64>, Option<String>) {
    let trials: HashMap<TrialId, &TrialRecord> =
        members.iter().flat_map(|member| member.trials).map(|trial| (trial.id, trial)).collect();
    let cost = |pair: &PairedTrials| {
        let result = trials.get(&pair.trials.with?)?.result.as_ref()?;
        Some((result.cost?, result.prices.clone()?))
    };
    let Some(costs) = complete(pooled).map(cost).collect::<Option<Vec<(f64, String)>>>() else { return (None, None) };
    let Some((_, prices)) = costs.first() else { return (None, None) };
    if costs.iter().any(|(_, other)| other != prices) {
        return (None, None);
    }
    let sum: f64 = costs.iter().map(|(cost, _)| cost).sum();
    (cost_per_solve(sum, solved(complete(pooled))), Some(prices.clone()))
}
