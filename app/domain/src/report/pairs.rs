//! Trials put into pairs, task by task.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::TrialRecord;
use crate::condition::{Condition, Flip, Pair};
use crate::id::{TaskId, TrialId};
use crate::plan::TaskRef;
use crate::stats::counts::PairCounts;

/// Trials by task, arm and repeat.
pub type TrialIndex<'a> = HashMap<(TaskId, Condition, u32), &'a TrialRecord>;

/// The two trials of one task and repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedTrials {
    /// From 1.
    pub repeat: u32,
    /// Their rows.
    pub trials: Pair<Option<TrialId>>,
    /// Passed or not; `None` where not scored, or not yet.
    pub passed: Pair<Option<bool>>,
    /// Rewards.
    pub reward: Pair<Option<f64>>,
    /// Total tokens.
    pub tokens: Pair<Option<u64>>,
    /// What the pair says; `None` while it is incomplete.
    pub flip: Option<Flip>,
    /// Why it is void although both arms were scored; counts as incomplete.
    pub void: Option<String>,
}

/// One task's pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// The task's name.
    pub task: String,
    /// Its row.
    pub task_id: TaskId,
    /// Repeat by repeat.
    pub pairs: Vec<PairedTrials>,
    /// Complete pairs.
    pub pairs_complete: u64,
    /// Share of complete pairs whose with-skill trial passed.
    pub pass_rate_with: Option<f64>,
    /// Share of complete pairs whose no-skill trial passed.
    pub pass_rate_without: Option<f64>,
    /// Difference of the two.
    pub delta: Option<f64>,
    /// Mean tokens of the with-skill trials, over complete pairs with both counts known.
    pub tokens_with: Option<f64>,
    /// Mean tokens of the no-skill trials, over the same pairs.
    pub tokens_without: Option<f64>,
    /// Whether the agent opened the skill in any with-skill trial that was scored; `None` where that cannot be told.
    pub activated: Option<bool>,
}

impl PairedTrials {
    fn of(repeat: u32, without: Option<&TrialRecord>, with: Option<&TrialRecord>) -> Self {
        let trials = Pair { without, with };
        let passed = trials.map(|trial| trial.and_then(TrialRecord::scored));
        let tokens = |trial: Option<&TrialRecord>| trial?.result.as_ref()?.usage.total();
        let void = with.and_then(unseen);
        let flip = match (passed.without, passed.with, &void) {
            (Some(without), Some(with), None) => Some(Flip::of(Pair { without, with })),
            _ => None,
        };
        Self {
            repeat,
            trials: trials.map(|trial| trial.map(|trial| trial.id)),
            passed,
            reward: trials.map(|trial| trial.and_then(|trial| trial.result.as_ref()?.reward)),
            tokens: trials.map(tokens),
            flip,
            void,
        }
    }

    /// Total tokens of both arms, where the pair is complete, both are known and the baseline's are not 0: a finished run with zero tokens
    /// is suspect, and nothing can be divided by it.
    #[must_use]
    pub fn comparable_tokens(&self) -> Option<Pair<u64>> {
        self.flip?;
        match (self.tokens.without?, self.tokens.with?) {
            (0, _) | (_, 0) => None,
            (without, with) => Some(Pair { without, with }),
        }
    }
}

fn unseen(with: &TrialRecord) -> Option<String> {
    let result = with.result.as_ref()?;
    result.activation.is_unavailable().then(|| "skill not available: the agent did not list it to its model".to_owned())
}

impl TaskReport {
    /// Puts the trials of one task into pairs.
    #[must_use]
    pub fn of(task: &TaskRef, repeats: u32, trials: &TrialIndex<'_>) -> Self {
        let find = |condition, repeat| trials.get(&(task.id, condition, repeat)).copied();
        let pairs: Vec<PairedTrials> = (1..=repeats)
            .map(|repeat| {
                PairedTrials::of(repeat, find(Condition::NoSkill, repeat), find(Condition::WithSkill, repeat))
            })
            .collect();
        let flips: Vec<Flip> = pairs.iter().filter_map(|pair| pair.flip).collect();
        let share = |passed: fn(Flip) -> bool| {
            let n = flips.iter().filter(|flip| passed(**flip)).count();
            (!flips.is_empty()).then(|| n as f64 / flips.len() as f64)
        };
        let pass_rate_with = share(|flip| matches!(flip, Flip::Both | Flip::Rescued));
        let pass_rate_without = share(|flip| matches!(flip, Flip::Both | Flip::Broken));
        let tokens: Vec<Pair<u64>> = pairs.iter().filter_map(PairedTrials::comparable_tokens).collect();
        let mean = |of: fn(&Pair<u64>) -> u64| {
            let sum: u64 = tokens.iter().map(of).sum();
            (!tokens.is_empty()).then(|| sum as f64 / tokens.len() as f64)
        };
        let scored = |repeat| find(Condition::WithSkill, repeat).filter(|trial| trial.scored().is_some());
        let opened = (1..=repeats).filter_map(|repeat| scored(repeat)?.result.as_ref()?.activation.opened);
        Self {
            task: task.name.clone(),
            task_id: task.id,
            pairs_complete: flips.len() as u64,
            pass_rate_with,
            pass_rate_without,
            delta: pass_rate_with.zip(pass_rate_without).map(|(with, without)| with - without),
            tokens_with: mean(|pair| pair.with),
            tokens_without: mean(|pair| pair.without),
            activated: opened.fold(None, |any, one| Some(any.unwrap_or(false) || one)),
            pairs,
        }
    }

    /// Its complete pairs by kind.
    #[must_use]
    pub fn counts(&self) -> PairCounts {
        self.pairs.iter().filter_map(|pair| pair.flip).collect()
    }

    /// What its pairs say: the flip where there is one pair, else how many there are of each kind.
    #[must_use]
    pub fn flips_in_words(&self) -> String {
        let word = |flip: Option<Flip>| flip.map_or("incomplete", Flip::word);
        if let [pair] = self.pairs.as_slice() {
            return word(pair.flip).to_owned();
        }
        let count = |flip: Option<Flip>| self.pairs.iter().filter(|pair| pair.flip == flip).count();
        [Some(Flip::Rescued), Some(Flip::Broken), Some(Flip::Both), Some(Flip::Neither), None]
            .into_iter()
            .filter(|flip| count(*flip) > 0)
            .map(|flip| format!("{} {}", count(flip), word(flip)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::AttemptResult;
    use crate::skill_audit::Activation;
    use crate::time::Timestamp;
    use crate::trial::TrialState;
    use crate::verdict::Verdict;

    /// Case H17: what was not there was not on trial; what was there and not used counts, and the use is shown beside it.
    #[test]
    fn a_skill_that_was_not_available_voids_its_pair_and_one_that_was_not_used_does_not() {
        let trial = |condition, activation| TrialRecord {
            id: TrialId(1),
            task_id: TaskId(1),
            task: "t".to_owned(),
            condition,
            repeat: 1,
            state: TrialState::Finished { attempts: 1, verdict: Verdict::Pass, at: Timestamp(0) },
            result: Some(AttemptResult { activation, ..AttemptResult::bare(Verdict::Pass) }),
        };
        let without = trial(Condition::NoSkill, Activation::default());
        for (name, listed, opened, counts) in [
            ("seen", Some(true), Some(true), true),
            ("unseen", Some(false), Some(false), false),
            ("unseen, and nobody knows whether opened", Some(false), None, false),
            ("listed-not-used", Some(true), Some(false), true),
            ("found without a listing", Some(false), Some(true), true),
            ("an agent that cannot tell", None, None, true),
        ] {
            let with = trial(Condition::WithSkill, Activation { listed, opened, ..Activation::default() });
            let pair = PairedTrials::of(1, Some(&without), Some(&with));
            assert_eq!((pair.flip.is_some(), pair.void.is_none()), (counts, counts), "{name}: {pair:?}");
        }
    }

    #[test]
    fn a_task_of_which_no_trial_was_scored_tells_nothing_of_the_skill() {
        let task = TaskRef { id: TaskId(1), name: "t".to_owned(), version: crate::hash::ContentHash::UNKNOWN };
        let trouble = Verdict::VerifierError { message: "no reward".to_owned() };
        for (verdicts, opened, said) in [
            ([Verdict::Pass, Verdict::Pass], [Some(true), Some(false)], Some(true)),
            ([Verdict::Pass, trouble.clone()], [Some(false), Some(true)], Some(false)),
            ([trouble.clone(), trouble.clone()], [Some(true), Some(true)], None),
            ([Verdict::Pass, trouble], [None, Some(true)], None),
        ] {
            let trials: Vec<TrialRecord> = (1..=2)
                .zip(verdicts.into_iter().zip(opened))
                .map(|(repeat, (verdict, opened))| TrialRecord {
                    id: TrialId(i64::from(repeat)),
                    task_id: TaskId(1),
                    task: "t".to_owned(),
                    condition: Condition::WithSkill,
                    repeat,
                    state: TrialState::Finished { attempts: 1, verdict: verdict.clone(), at: Timestamp(0) },
                    result: Some(AttemptResult {
                        activation: Activation { opened, ..Activation::default() },
                        ..AttemptResult::bare(verdict)
                    }),
                })
                .collect();
            let report = TaskReport::of(&task, 2, &crate::report::index(&trials));
            assert_eq!(report.activated, said, "{trials:?}");
        }
    }
}
