//! What a plan takes and what it can show, before anything is spent: trials, tokens and time from history; the smallest Δ it resolves; what would help.

mod amount;
mod power;
mod wanted;

use serde::{Deserialize, Serialize};

pub use amount::{Expected, PastAmount, expected};
pub use power::{Needed, Noise, PowerPlan, PowerPoint, WANTED_POWER};
pub use wanted::Wanted;

use crate::report::number;
use crate::report::{TaskReport, TrialRecord};
use crate::stats::counts::PairCounts;
use crate::stats::variance::VarianceSplit;

/// A plan as the planner sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedRun {
    /// Tasks, by name where they are known; a plan on paper has only a number of them.
    pub tasks: Vec<Option<String>>,
    /// Repeats of each task in each arm.
    pub repeats: u32,
    /// Trials at the same time.
    pub concurrency: u32,
}

/// What earlier evaluations tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastRuns {
    /// Tokens of trials.
    pub tokens: Vec<PastAmount>,
    /// Seconds of trials, all phases.
    pub seconds: Vec<PastAmount>,
    /// Complete pairs, task by task.
    pub pairs: Vec<PairCounts>,
}

/// What a plan takes and can show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanEstimate {
    /// Tasks × repeats × 2.
    pub trials: u64,
    /// Tokens of all trials; `None` without history.
    pub tokens: Option<Expected>,
    /// Seconds from start to end at the given concurrency; `None` without history.
    pub seconds: Option<Expected>,
    /// Past trials that tokens and seconds rest on.
    pub past_trials: u64,
    /// What it can show.
    pub power: PowerPlan,
    /// What it takes to find the one effect that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// All of it in words.
    pub advice: String,
}

impl PastRuns {
    /// Adds one evaluation.
    pub fn add(&mut self, tasks: &[TaskReport], trials: &[TrialRecord]) {
        for trial in trials.iter().filter(|trial| trial.scored().is_some()) {
            let Some(result) = &trial.result else { continue };
            let phases = [result.phases.preparing, result.phases.agent, result.phases.verifying];
            let seconds =
                result.phases.agent.map(|_| phases.into_iter().flatten().fold(0, u64::saturating_add) as f64 / 1000.0);
            let amount = |value: f64| PastAmount { task: trial.task.clone(), value };
            self.seconds.extend(seconds.map(amount));
            // A finished run without a token is suspect, and no guide.
            self.tokens.extend(result.usage.total().filter(|tokens| *tokens > 0).map(|tokens| amount(tokens as f64)));
        }
        self.pairs.extend(crate::report::totals::counts(tasks));
    }

    /// How noisy such pairs are: the share that the skill broke, and how much of the noise lies within tasks.
    #[must_use]
    pub fn noise(&self) -> Option<Noise> {
        let counts: PairCounts = self.pairs.iter().copied().sum();
        if counts.pairs() == 0 {
            return None;
        }
        let split = VarianceSplit::of(&self.pairs);
        Some(Noise {
            // Half a pair more in each cell, so that none seen is not taken for none there.
            broken_rate: (f64::from(counts.broken) + 0.5) / (counts.pairs() as f64 + 2.0),
            within_share: split.and_then(|split| {
                let one = split.between + split.per_repeat;
                (one > 0.0).then(|| (split.per_repeat / one).clamp(0.0, 1.0))
            }),
        })
    }
}

impl PlanEstimate {
    /// Estimates a plan; `noise` overrides what history says.
    #[must_use]
    pub fn of(run: &PlannedRun, past: &PastRuns, noise: Option<Noise>) -> Self {
        let tasks = u32::try_from(run.tasks.len()).unwrap_or(u32::MAX);
        let per_task = f64::from(run.repeats) * 2.0;
        let seconds = expected(&run.tasks, per_task, &past.seconds)
            .map(|seconds| seconds.divided_by(f64::from(run.concurrency.max(1))));
        let noise = noise.or_else(|| past.noise());
        let power = PowerPlan::of(tasks, run.repeats, noise);
        let estimate = Self {
            trials: u64::from(tasks) * u64::from(run.repeats) * 2,
            tokens: expected(&run.tasks, per_task, &past.tokens),
            seconds,
            past_trials: past.seconds.len().max(past.tokens.len()) as u64,
            advice: String::new(),
            wanted: None,
            power,
        };
        let words = [advice(&estimate.power), estimate.expectation()];
        Self { advice: words.join(" ").trim_end().to_owned(), ..estimate }
    }
}

impl PlanEstimate {
    /// The same for somebody who wants to find a Δ of this share.
    #[must_use]
    pub fn wanting(self, delta: f64) -> Self {
        let wanted = Wanted::of(&self.power, delta);
        let advice = format!("{} {}", wanted.words(&self.power), self.advice);
        Self { wanted: Some(wanted), advice, ..self }
    }

    /// What past trials lead to expect, in words; empty without history.
    fn expectation(&self) -> String {
        let range = |amount: Expected, shown: fn(f64) -> String| {
            format!("{} ({} to {})", shown(amount.expected), shown(amount.low), shown(amount.high))
        };
        let tokens = self.tokens.map(|tokens| range(tokens, |tokens| number::tokens(Some(tokens))) + " tokens");
        let time =
            self.seconds.map(|seconds| range(seconds, |seconds| number::duration(Some((seconds * 1000.0) as u64))));
        let parts: Vec<String> = tokens.into_iter().chain(time).collect();
        if parts.is_empty() {
            return String::new();
        }
        format!("By {} past trials it will take about {}.", self.past_trials, parts.join(" and "))
    }
}

/// What the power says, in words.
fn advice(plan: &PowerPlan) -> String {
    let Some(possible) = plan.smallest_possible else {
        return format!(
            "With {} no outcome can be told from chance: add {} more.",
            number::counted(plan.tasks, "task"),
            number::counted(plan.tasks_least.saturating_sub(plan.tasks), "task"),
        );
    };
    let points = |delta: f64| number::points(Some(delta)).trim_start_matches('+').to_owned();
    let mut words = format!(
        "The smallest Δ that can be told from chance is {}, if {} tasks flip the same way and none back.",
        points(possible),
        plan.tasks_least
    );
    words += &match plan.smallest_delta {
        Some(delta) => {
            format!(" It will be found in 4 of 5 such evaluations if the true Δ is {} or more.", points(delta))
        }
        None => " No true Δ is found in 4 of 5 such evaluations.".to_owned(),
    };
    let smaller =
        plan.needed.iter().rev().find(|needed| plan.smallest_delta.is_none_or(|delta| needed.delta < delta - 0.005));
    if let Some((delta, tasks)) = smaller.and_then(|needed| Some((needed.delta, needed.tasks?))) {
        words += &format!(" For {} it takes about {tasks} tasks", points(delta));
        words += &match smaller.and_then(|needed| needed.repeats) {
            Some(repeats) => format!(", or {repeats} repeats of these."),
            None => ".".to_owned(),
        };
    }
    words += &match plan.repeats_gain {
        Some(repeats) => format!(
            " Twice the tasks would narrow the interval of Δ by {}, twice the repeats by {}.",
            number::percent(Some(plan.tasks_gain)),
            number::percent(Some(repeats))
        ),
        None if plan.repeats > 1 => {
            " How much repeats help is not known yet; counted on is that they do not.".to_owned()
        }
        None => String::new(),
    };
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tasks: usize, repeats: u32) -> PlannedRun {
        PlannedRun { tasks: vec![None; tasks], repeats, concurrency: 2 }
    }

    #[test]
    fn a_plan_that_can_show_nothing_says_what_it_lacks() {
        let estimate = PlanEstimate::of(&run(4, 3), &PastRuns::default(), None);
        assert_eq!((estimate.trials, estimate.tokens, estimate.seconds, estimate.past_trials), (24, None, None, 0));
        assert_eq!(estimate.advice, "With 4 tasks no outcome can be told from chance: add 2 tasks more.");
        assert!(estimate.power.curve.iter().all(|point| point.power == 0.0));
    }

    #[test]
    fn history_tells_tokens_time_and_noise() {
        let amount = |task: &str, value: f64| PastAmount { task: task.to_owned(), value };
        let past = PastRuns {
            tokens: vec![amount("a", 1000.0), amount("a", 1200.0), amount("b", 3000.0), amount("b", 3400.0)],
            seconds: vec![amount("a", 60.0), amount("b", 120.0)],
            pairs: vec![PairCounts { both: 2, broken: 2, ..PairCounts::default() }; 4],
        };
        let planned = PlannedRun { tasks: vec![Some("a".into()), Some("b".into())], repeats: 2, concurrency: 4 };
        let estimate = PlanEstimate::of(&planned, &past, None);
        let tokens = estimate.tokens.unwrap();
        assert!((tokens.expected - 4.0 * (1100.0 + 3200.0)).abs() < 1e-6, "{tokens:?}");
        assert!(tokens.low < tokens.expected && tokens.expected < tokens.high && tokens.low > 0.0);
        assert!((estimate.seconds.unwrap().expected - 4.0 * 180.0 / 4.0).abs() < 1e-6);
        assert!(estimate.advice.contains(" By 4 past trials it will take about 17.2k ("), "{}", estimate.advice);
        assert_eq!(past.noise().unwrap().within_share, Some(1.0));
        assert!((past.noise().unwrap().broken_rate - 8.5 / 18.0).abs() < 1e-12);
    }

    #[test]
    fn words_and_numbers_agree() {
        let estimate =
            PlanEstimate::of(&run(20, 1), &PastRuns::default(), Some(Noise { broken_rate: 0.0, within_share: None }));
        assert!((estimate.power.smallest_delta.unwrap() - 0.366).abs() < 0.001);
        assert_eq!(
            estimate.advice,
            "The smallest Δ that can be told from chance is 30 pp, if 6 tasks flip the same way and none back. It will be found in 4 of 5 such evaluations if the true Δ is 37 pp or more. For 30 pp it takes about 25 tasks."
        );
    }
}
