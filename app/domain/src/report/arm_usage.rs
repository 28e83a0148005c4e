//! What the trials of each arm used: tokens by class as counted on the wire, model calls, money, the skill. Over complete pairs, so that the arms
//! compare.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{TaskReport, TrialIndex};
use crate::attempt::AttemptResult;
use crate::condition::{Condition, Pair};
use crate::stats::cost::cost_per_solve;
use crate::usage::TokenUsage;

/// Sums over the trials of one arm in complete pairs. A sum is unknown as soon as it is of one trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmUsage {
    /// How many trials.
    pub trials: u64,
    /// Tokens by class.
    pub usage: TokenUsage,
    /// Calls to the model.
    pub model_calls: Option<u64>,
    /// List price of the tokens.
    pub cost: Option<f64>,
    /// `cost` ÷ passed trials; `None` without a pass.
    pub cost_per_pass: Option<f64>,
}

/// What both arms used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EvaluationUsage {
    /// Arm by arm.
    pub arms: Pair<ArmUsage>,
    /// The price tables that the costs are by (currency and date), each once; empty where trials name none.
    pub prices: Vec<String>,
    /// How far the with-skill trials used the skill.
    pub skill: SkillUse,
}

/// Of how many trials something is true, among those that can tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// In so many it is.
    pub yes: u64,
    /// So many can tell.
    pub known: u64,
}

/// Use of the skill in the with-skill trials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillUse {
    /// The agent offered it to its model.
    pub listed: Told,
    /// The agent opened it.
    pub opened: Told,
    /// Its files that were read, and in how many trials; most read first.
    pub files: Vec<(String, u64)>,
}

/// Files of the skill that are named.
const MOST_FILES: usize = 50;

impl EvaluationUsage {
    /// Adds up the complete pairs of `tasks`, whose trials stand in `trials`.
    #[must_use]
    pub fn of(tasks: &[TaskReport], trials: &TrialIndex<'_>) -> Self {
        let results = |condition: Condition| -> Vec<&AttemptResult> {
            let complete = tasks.iter().flat_map(|task| {
                task.pairs.iter().filter(|pair| pair.flip.is_some()).map(move |pair| (task.task_id, pair.repeat))
            });
            complete.filter_map(|(task, repeat)| trials.get(&(task, condition, repeat))?.result.as_ref()).collect()
        };
        let results = Pair { without: results(Condition::NoSkill), with: results(Condition::WithSkill) };
        let mut prices: Vec<String> = [&results.without, &results.with]
            .into_iter()
            .flatten()
            .filter_map(|result| result.prices.clone())
            .collect();
        prices.sort();
        prices.dedup();
        let skill = SkillUse::of(&results.with);
        Self { arms: results.map(|results| ArmUsage::of(&results)), prices, skill }
    }
}

impl SkillUse {
    fn of(results: &[&AttemptResult]) -> Self {
        let told = |fact: fn(&AttemptResult) -> Option<bool>| {
            let known = results.iter().filter_map(|result| fact(result));
            known.fold(Told::default(), |told, yes| Told { yes: told.yes + u64::from(yes), known: told.known + 1 })
        };
        let mut read: BTreeMap<&str, u64> = BTreeMap::new();
        for file in results.iter().flat_map(|result| &result.activation.files_read) {
            *read.entry(file).or_default() += 1;
        }
        let mut files: Vec<(String, u64)> = read.into_iter().map(|(file, n)| (file.to_owned(), n)).collect();
        files.sort_by_key(|(_, trials)| std::cmp::Reverse(*trials));
        files.truncate(MOST_FILES);
        Self { listed: told(|result| result.activation.listed), opened: told(|result| result.activation.opened), files }
    }
}

impl ArmUsage {
    fn of(results: &[&AttemptResult]) -> Self {
        if results.is_empty() {
            return Self::default();
        }
        let passes = results.iter().filter(|result| result.verdict.scored() == Some(true)).count() as u64;
        let cost = results.iter().try_fold(0.0, |sum, result| Some(sum + result.cost?));
        Self {
            trials: results.len() as u64,
            usage: results.iter().fold(TokenUsage::ZERO, |sum, result| sum.plus(&result.usage)),
            model_calls: results.iter().try_fold(0_u64, |sum, result| Some(sum.saturating_add(result.model_calls?))),
            cost,
            cost_per_pass: cost.and_then(|cost| cost_per_solve(cost, passes)),
        }
    }

    /// A sum per trial; `None` where it is unknown or there is no trial.
    #[must_use]
    pub fn per_trial(&self, sum: Option<f64>) -> Option<f64> {
        (self.trials > 0).then_some(sum? / self.trials as f64)
    }
}
