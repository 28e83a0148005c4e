//! What one evaluation shows beyond its totals: by group of tasks, with tasks of one repository taken together, in the other unit, with the
//! activated pairs alone, and what more tasks or more repeats would do.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::group::Group;
use super::rows::by_cluster;
use super::tasks::activated_only;
use super::{ActivatedOnly, ClusteredDelta, ErrorRates, TestCaseTotals, cases};
use crate::id::TaskId;
use crate::report::totals::{counts, token_sums};
use crate::report::{EvaluationReport, TaskReport, TrialRecord};
use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::delta::{CiMethod, TestMethod, delta};
use crate::stats::gain::{complier_effect, normalized_gain};
use crate::stats::interval::Interval;
use crate::stats::ratio::{RatioEstimate, ratio};
use crate::stats::variance::VarianceSplit;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};

/// What a task shares with others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLabels {
    /// Its category, to group by.
    pub category: Option<String>,
    /// What makes it alike others, such as its repository: its cluster.
    pub repository: Option<String>,
}

impl TaskLabels {
    /// The group that the task stands in on pages: its repository, else its category.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.repository.as_deref().or(self.category.as_deref())
    }
}

/// Δ and ρ of the tasks of one group. Descriptive: groups are many, and nobody planned to test each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupDelta {
    /// Its name; `None` for tasks that have no group.
    pub name: Option<String>,
    /// Tasks with a complete pair.
    pub tasks: u32,
    /// Their complete pairs.
    pub counts: PairCounts,
    /// Δ over them.
    pub delta: f64,
    /// Its interval.
    pub delta_ci: Interval,
    /// By p and interval, unadjusted.
    pub verdict: DeltaVerdict,
    /// Token overhead over them.
    pub rho: Option<f64>,
    /// Its interval.
    pub rho_ci: Option<Interval>,
}

/// Where the noise of Δ comes from, and the interval that other plans would have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MoreOf {
    /// The split.
    pub split: VarianceSplit,
    /// Half the interval's width as planned, a share.
    pub now: f64,
    /// The same with twice as many tasks.
    pub twice_the_tasks: f64,
    /// The same with twice as many repeats.
    pub twice_the_repeats: f64,
}

/// The whole detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultDetail {
    /// Where Δ's interval comes from; `None` without a complete pair.
    pub ci_method: Option<CiMethod>,
    /// Where its p comes from.
    pub test: Option<TestMethod>,
    /// Group by group, largest first; empty with fewer than two groups.
    pub groups: Vec<GroupDelta>,
    /// With tasks of one repository taken together; `None` where every task stands alone.
    pub clustered: Option<ClusteredDelta>,
    /// Token overhead with both its intervals, or why there is none.
    pub rho: Option<RatioEstimate>,
    /// Δ ÷ what could be gained (statistics F14); `null` at ceiling.
    pub normalized_gain: Option<f64>,
    /// Secondary and selection-biased: pairs whose with-skill trial opened the skill.
    pub activated_only: Option<ActivatedOnly>,
    /// Δ ÷ activation rate.
    pub complier_effect: Option<f64>,
    /// The other unit, where verifiers tell of test cases.
    pub test_cases: Option<TestCaseTotals>,
    /// Whether trouble hit both arms alike; `None` where nothing was in trouble.
    pub error_rates: Option<ErrorRates>,
    /// Whether more tasks or more repeats would help; `None` without tasks that were repeated.
    pub more: Option<MoreOf>,
}

/// The detail of `report`, whose trials are `records`.
#[must_use]
pub fn detail(
    report: &EvaluationReport,
    records: Vec<TrialRecord>,
    labels: &HashMap<TaskId, TaskLabels>,
) -> ResultDetail {
    let totals = &report.totals;
    let estimate = delta(&counts(&report.tasks), Alpha::FIVE_PERCENT);
    let repository = |task: &TaskReport| labels.get(&task.task_id).and_then(|labels| labels.repository.clone());
    let group = Group::of_evaluation(report.tasks.clone(), report.tasks.iter().map(repository).collect(), records);
    let opened = (totals.activation_known > 0).then(|| totals.activated as f64 / totals.activation_known as f64);
    ResultDetail {
        ci_method: estimate.map(|estimate| estimate.ci_method),
        test: estimate.map(|estimate| estimate.test),
        groups: groups(&report.tasks, labels),
        clustered: estimate.as_ref().and_then(|estimate| by_cluster(&group, "repository", estimate)),
        rho: ratio(&token_sums(&report.tasks), Alpha::FIVE_PERCENT),
        normalized_gain: totals
            .pass_rate_without
            .zip(totals.pass_rate_with)
            .and_then(|(without, with)| normalized_gain(without, with)),
        activated_only: activated_only(std::slice::from_ref(&group)),
        complier_effect: totals.delta.zip(opened).and_then(|(delta, rate)| complier_effect(delta, rate)),
        test_cases: cases::test_cases([&group]),
        error_rates: ErrorRates::of(&group.records),
        more: MoreOf::of(&report.tasks, report.repeats),
    }
}

fn groups(tasks: &[TaskReport], labels: &HashMap<TaskId, TaskLabels>) -> Vec<GroupDelta> {
    let mut members: BTreeMap<Option<&str>, Vec<TaskReport>> = BTreeMap::new();
    for task in tasks {
        let name = labels.get(&task.task_id).and_then(TaskLabels::group);
        members.entry(name).or_default().push(task.clone());
    }
    if members.len() < 2 {
        return Vec::new();
    }
    let mut groups: Vec<GroupDelta> =
        members.into_iter().filter_map(|(name, tasks)| GroupDelta::of(name, &tasks)).collect();
    groups.sort_by_key(|group| (group.name.is_none(), std::cmp::Reverse(group.tasks)));
    groups
}

impl GroupDelta {
    fn of(name: Option<&str>, tasks: &[TaskReport]) -> Option<Self> {
        let estimate = delta(&counts(tasks), Alpha::FIVE_PERCENT)?;
        let overhead = ratio(&token_sums(tasks), Alpha::FIVE_PERCENT);
        Some(Self {
            name: name.map(str::to_owned),
            tasks: estimate.n_tasks,
            counts: estimate.counts,
            delta: estimate.delta,
            delta_ci: estimate.ci,
            verdict: DeltaVerdict::raw(&estimate, &VerdictRule::default()),
            rho: overhead.map(|overhead| overhead.rho),
            rho_ci: overhead.and_then(|overhead| overhead.interval()),
        })
    }
}

impl MoreOf {
    /// `None` where fewer than two tasks were repeated, or where nothing varies.
    fn of(tasks: &[TaskReport], repeats: u32) -> Option<Self> {
        let counts = counts(tasks);
        let split = VarianceSplit::of(&counts)?;
        let n = u32::try_from(counts.len()).ok()?;
        let half = |tasks: u32, repeats: u32| Some(Alpha::FIVE_PERCENT.z() * split.planned_se(tasks, repeats)?);
        let now = half(n, repeats)?;
        let (twice_the_tasks, twice_the_repeats) =
            (half(n.saturating_mul(2), repeats)?, half(n, repeats.saturating_mul(2))?);
        (now > 0.0).then_some(Self { split, now, twice_the_tasks, twice_the_repeats })
    }

    /// What to do first, in words. More tasks always narrow the interval by the same factor; more repeats only as far as they cause the noise.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        let share = self.split.within / (self.split.within + self.split.between).max(f64::MIN_POSITIVE);
        match share {
            share if share < 0.2 => "More repeats would hardly help: the tasks differ from one another, so add tasks.",
            share if share < 0.6 => "Both help; new tasks help more than new repeats of these.",
            _ => {
                "Most of the noise is between repeats of the same task: more repeats help nearly as much as more tasks."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::hash::ContentHash;
    use crate::id::{EvaluationId, TrialId};
    use crate::plan::{AgentRef, EvaluationPlan, RunSettings, TaskRef, Treatment};
    use crate::time::Timestamp;
    use crate::trial::TrialState;
    use crate::verdict::{FailReason, Verdict};

    /// The detail of tasks that each passed in so many of `repeats` repeats, without and with the skill.
    fn of(tasks: &[(u32, u32)], repeats: u32, label: impl Fn(usize) -> TaskLabels) -> ResultDetail {
        let ids = || (0..tasks.len()).map(|i| TaskId(i as i64));
        let plan = EvaluationPlan {
            title: String::new(),
            treatment: Treatment::TasksOwn,
            tasks: ids().map(|id| TaskRef { id, name: id.to_string(), version: ContentHash::of(&[]) }).collect(),
            comparison: crate::comparison::Comparison::default(),
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats,
            seed: 0,
            settings: RunSettings::default(),
            kind: crate::plan::PlanKind::Evaluation,
        };
        let mut trials = Vec::new();
        for (id, (without, with)) in ids().zip(tasks) {
            for repeat in 1..=repeats {
                for (condition, passes) in [(Condition::NoSkill, without), (Condition::WithSkill, with)] {
                    let fail = Verdict::Fail { reason: FailReason::WrongResult };
                    let verdict = if repeat <= *passes { Verdict::Pass } else { fail };
                    trials.push(TrialRecord {
                        id: TrialId(trials.len() as i64),
                        task_id: id,
                        task: id.to_string(),
                        condition,
                        repeat,
                        state: TrialState::Finished { attempts: 1, verdict, at: Timestamp(0) },
                        result: None,
                    });
                }
            }
        }
        let report = EvaluationReport::compute(EvaluationId(1), Timestamp(0), &plan, &trials);
        let labels = ids().map(|id| (id, label(id.0 as usize))).collect();
        detail(&report, trials, &labels)
    }

    fn repository(name: String) -> TaskLabels {
        TaskLabels { category: Some("any".to_owned()), repository: Some(name) }
    }

    #[test]
    fn tasks_of_few_repositories_are_told_with_a_warning_and_of_many_without() {
        let tasks = [(0, 1); 12];
        let few = of(&tasks, 1, |i| repository(format!("r{}", i % 2)));
        let clustered = few.clustered.unwrap();
        assert_eq!((clustered.clusters, clustered.too_few, clustered.unit.as_str()), (2, true, "repository"));
        assert!(clustered.warning().starts_with("Only 2 repositories:"), "{}", clustered.warning());
        assert_eq!(few.groups.iter().map(|group| group.name.clone().unwrap()).collect::<Vec<_>>(), ["r0", "r1"]);
        let many = of(&tasks, 1, |i| repository(format!("r{i}"))).clustered.unwrap();
        assert_eq!((many.clusters, many.too_few), (12, false));
        let none = of(&tasks, 1, |_| TaskLabels::default());
        assert_eq!((none.clustered, none.groups.len()), (None, 0));
    }

    #[test]
    fn groups_stand_by_size_and_those_without_a_name_last() {
        let category = |i: usize| TaskLabels {
            category: [None, Some("a"), Some("b"), Some("b")][i % 4].map(str::to_owned),
            repository: None,
        };
        let groups = of(&[(0, 1), (1, 1), (1, 0), (0, 0), (0, 0)], 1, category).groups;
        let told: Vec<(Option<&str>, u32, f64)> =
            groups.iter().map(|group| (group.name.as_deref(), group.tasks, group.delta)).collect();
        assert_eq!(told, [(Some("b"), 2, -0.5), (Some("a"), 1, 0.0), (None, 2, 0.5)]);
    }

    #[test]
    fn what_would_help_follows_from_where_the_noise_is() {
        let sure = of(&[(0, 4), (0, 0), (4, 4), (4, 0)], 4, |_| TaskLabels::default()).more.unwrap();
        assert!((sure.twice_the_repeats - sure.now).abs() < 1e-12 && sure.twice_the_tasks < sure.now * 0.72);
        assert!(sure.advice().contains("add tasks"), "{}", sure.advice());
        let noisy = of(&[(2, 2), (2, 2), (2, 3), (2, 2)], 4, |_| TaskLabels::default()).more.unwrap();
        assert!((noisy.twice_the_repeats - noisy.twice_the_tasks).abs() < 1e-12, "{noisy:?}");
        assert!(noisy.advice().contains("more repeats help nearly as much"), "{}", noisy.advice());
        assert_eq!(of(&[(0, 1), (1, 0)], 1, |_| TaskLabels::default()).more, None);
    }
}
