//! The analysis task by task, and what was left out of it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::group::Group;
use crate::condition::{Condition, Flip, Pair};
use crate::id::TrialId;
use crate::report::{PairedTrials, TaskReport, TrialRecord};
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::delta::delta;
use crate::stats::interval::Interval;

/// One task of one skill × agent × model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalysisTask {
    /// The skill under test, where the file names any.
    pub skill: Option<String>,
    /// Who solved it.
    pub agent: Option<String>,
    /// With which model.
    pub model: Option<String>,
    /// The task's name.
    pub task: String,
    /// What it shares with others.
    pub cluster: Option<String>,
    /// Pairs in the file.
    pub pairs: u64,
    /// Pairs with both trials scored.
    pub pairs_complete: u64,
    /// Share of complete pairs whose with-skill trial passed.
    pub pass_rate_with: Option<f64>,
    /// Share whose no-skill trial passed.
    pub pass_rate_without: Option<f64>,
    /// Difference of the two.
    pub delta: Option<f64>,
    /// Pairs that only the with-skill trial passed.
    pub rescued: u64,
    /// Pairs that only the no-skill trial passed.
    pub broken: u64,
    /// Mean tokens of the with-skill trials, over pairs that can be compared.
    pub tokens_with: Option<f64>,
    /// Mean tokens of the no-skill trials, over the same pairs.
    pub tokens_without: Option<f64>,
    /// Mean difference over all complete pairs with both counts known, also where ρ is not defined.
    pub tokens_difference: Option<f64>,
    /// Ratio of the two means − 1; `null` where the baseline is 0 or unknown.
    pub rho: Option<f64>,
}

/// A pair that is not in Δ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncompletePair {
    /// The skill under test, where the file names any.
    pub skill: Option<String>,
    /// Its task.
    pub task: String,
    /// From 1, as numbered within the task.
    pub repeat: u32,
    /// How the no-skill trial stands: `pass`, `fail`, a word for trouble, `missing` or `unfinished`.
    pub without: String,
    /// How the with-skill trial stands.
    pub with: String,
}

/// Δ of the pairs in which the skill was opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActivatedOnly {
    /// Tasks with such a pair.
    pub tasks: u32,
    /// Such pairs.
    pub pairs: u64,
    /// Δ of them.
    pub delta: f64,
    /// Its interval.
    pub delta_ci: Interval,
    /// What to beware of.
    pub warning: String,
}

pub(super) fn tasks(groups: &[Group]) -> Vec<AnalysisTask> {
    let of_group = |group: &Group| -> Vec<AnalysisTask> {
        group.tasks.iter().zip(&group.clusters).map(|(task, cluster)| of_task(group, task, cluster.as_ref())).collect()
    };
    groups.iter().flat_map(of_group).collect()
}

fn of_task(group: &Group, task: &TaskReport, cluster: Option<&String>) -> AnalysisTask {
    let count = |flip: Flip| task.pairs.iter().filter(|pair| pair.flip == Some(flip)).count() as u64;
    let differences: Vec<f64> = task
        .pairs
        .iter()
        .filter(|pair| pair.flip.is_some())
        .filter_map(|pair| Some(pair.tokens.with? as f64 - pair.tokens.without? as f64))
        .collect();
    AnalysisTask {
        skill: group.key.skill.clone(),
        agent: group.key.agent.clone(),
        model: group.key.model.clone(),
        task: task.task.clone(),
        cluster: cluster.cloned(),
        pairs: task.pairs.len() as u64,
        pairs_complete: task.pairs_complete,
        pass_rate_with: task.pass_rate_with,
        pass_rate_without: task.pass_rate_without,
        delta: task.delta,
        rescued: count(Flip::Rescued),
        broken: count(Flip::Broken),
        tokens_with: task.tokens_with,
        tokens_without: task.tokens_without,
        tokens_difference: (!differences.is_empty())
            .then(|| differences.iter().sum::<f64>() / differences.len() as f64),
        rho: task.tokens_with.zip(task.tokens_without).map(|(with, without)| with / without - 1.0),
    }
}

pub(super) fn incomplete(groups: &[Group]) -> Vec<IncompletePair> {
    let mut left_out = Vec::new();
    for group in groups {
        if group.tasks.iter().all(|task| task.pairs_complete == task.pairs.len() as u64) {
            continue;
        }
        let records: HashMap<TrialId, &TrialRecord> = group.records.iter().map(|record| (record.id, record)).collect();
        for task in &group.tasks {
            let open = task.pairs.iter().filter(|pair| pair.flip.is_none());
            left_out.extend(open.map(|pair| IncompletePair {
                skill: group.key.skill.clone(),
                task: task.task.clone(),
                repeat: pair.repeat,
                without: stands(pair, Condition::NoSkill, &records),
                with: stands(pair, Condition::WithSkill, &records),
            }));
        }
    }
    left_out
}

fn stands(pair: &PairedTrials, arm: Condition, records: &HashMap<TrialId, &TrialRecord>) -> String {
    let word = match pair.trials.get(arm).and_then(|id| records.get(&id)) {
        None => "missing",
        Some(record) => record.state.verdict().map_or("unfinished", crate::verdict::Verdict::word),
    };
    word.to_owned()
}

/// Tasks of which no trial was scored, in either arm.
pub(super) fn without_result(groups: &[Group]) -> Vec<String> {
    let silent = |task: &&TaskReport| task.pairs.iter().all(|pair| pair.passed == Pair { without: None, with: None });
    let mut names: Vec<String> =
        groups.iter().flat_map(|group| &group.tasks).filter(silent).map(|task| task.task.clone()).collect();
    names.dedup();
    names
}

/// `None` where the file does not tell whether the skill was opened.
pub(super) fn activated_only(groups: &[Group]) -> Option<ActivatedOnly> {
    let mut tasks: Vec<PairCounts> = Vec::new();
    for group in groups {
        let opened: HashMap<TrialId, bool> = group
            .records
            .iter()
            .filter_map(|record| Some((record.id, record.result.as_ref()?.activation.opened?)))
            .collect();
        if opened.is_empty() {
            continue;
        }
        let is_opened = |pair: &&PairedTrials| pair.trials.with.is_some_and(|id| opened.get(&id) == Some(&true));
        tasks.extend(
            group
                .tasks
                .iter()
                .map(|task| task.pairs.iter().filter(is_opened).filter_map(|pair| pair.flip).collect::<PairCounts>()),
        );
    }
    let estimate = delta(&tasks, Alpha::FIVE_PERCENT)?;
    Some(ActivatedOnly {
        tasks: estimate.n_tasks,
        pairs: estimate.counts.pairs(),
        delta: estimate.delta,
        delta_ci: estimate.ci,
        warning: "Selection-biased: the agent chose when to open the skill. Secondary to Δ over all pairs.".to_owned(),
    })
}
