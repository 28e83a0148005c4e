//! Ending an evaluation before all of its trials: chosen with the plan, decided by a rule that keeps the level however often it looks (F18,
//! statistics rule 7). The unit is the task: a task speaks once, when its last pair is over.

use serde::{Deserialize, Serialize};

use crate::stats::alpha::Alpha;
use crate::stats::counts::PairCounts;
use crate::stats::delta::p_value;
use crate::stats::evalue::EValue;
use crate::stats::verdict::{Adjustment, tasks_needed};
use crate::time::Timestamp;

/// When an evaluation may end early. Part of the plan, since a rule chosen after a look keeps no level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StopRule {
    /// When no outcome of what is left could reach the level.
    pub futility: bool,
    /// When the e-value reaches 1/α. The verdict then rests on the e-value, whether or not it came to a stop.
    pub evidence: bool,
}

impl StopRule {
    /// Whether everything is run.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Why an evaluation was ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// No outcome of what was left could reach the level.
    Futility,
    /// The e-value reached 1/α.
    Evidence,
    /// The plan's time was over. Looks at no outcome, so the test of a fixed number of tasks keeps its level.
    OutOfTime,
    /// A person cancelled it, who may have looked at the outcome.
    ByHand,
    /// The model's provider denied access in both arms, and no trial had a score. Looks at no outcome either.
    ProviderDenied,
}

/// An early end, as it was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Why.
    pub why: StopReason,
    /// When.
    pub at: Timestamp,
    /// What was known then.
    pub seen: Seen,
    /// What was in the way and what to do, in the words of the trial that met it; `None` where the plan's own rule ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl Stopped {
    /// That a person cancelled it; what was known then is in the trials.
    #[must_use]
    pub const fn by_hand(at: Timestamp) -> Self {
        Self { why: StopReason::ByHand, at, seen: Seen::NOTHING, told: None }
    }
}

/// What the tasks that were over said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Tasks whose pairs were all over, with at least one complete.
    pub tasks: u32,
    /// Of them, those that went for the skill.
    pub rescued: u32,
    /// Of them, those that went against it.
    pub broken: u32,
    /// Evidence that the one is likelier than the other (F18, Jeffreys' mixture); 1 = none.
    pub e_value: f64,
}

/// How far one task is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskSoFar {
    /// Its complete pairs.
    pub counts: PairCounts,
    /// Pairs that may still become complete.
    pub open: u32,
}

impl TaskSoFar {
    /// It, if every open pair goes one way.
    fn if_open(self, rescued: bool) -> PairCounts {
        let mut counts = self.counts;
        let side = if rescued { &mut counts.rescued } else { &mut counts.broken };
        *side = side.saturating_add(self.open);
        counts
    }
}

impl Seen {
    /// Before any task is over.
    pub const NOTHING: Self = Self { tasks: 0, rescued: 0, broken: 0, e_value: 1.0 };

    /// What tasks say of which all pairs are over.
    #[must_use]
    pub fn of(tasks: &[TaskSoFar]) -> Self {
        Self::of_counts(tasks.iter().filter(|task| task.open == 0).map(|task| task.counts))
    }

    /// What tasks say that are over.
    pub(crate) fn of_counts(tasks: impl IntoIterator<Item = PairCounts>) -> Self {
        tasks.into_iter().fold(Self::NOTHING, Self::and)
    }

    /// With one more task that is over.
    fn and(mut self, task: PairCounts) -> Self {
        self.tasks += u32::from(task.pairs() > 0);
        self.rescued += u32::from(task.net_rescued() > 0);
        self.broken += u32::from(task.net_rescued() < 0);
        Self { e_value: EValue::jeffreys(self.rescued, self.broken).value(), ..self }
    }

    /// The most evidence seen at any time, as tasks ended one after the other.
    #[must_use]
    pub fn most(in_order: impl IntoIterator<Item = PairCounts>) -> Self {
        let (_, most) = in_order.into_iter().fold((Self::NOTHING, Self::NOTHING), |(so_far, most), task| {
            let now = so_far.and(task);
            (now, most.or(now))
        });
        most
    }

    /// The one with more evidence, the first of two equals.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.e_value > self.e_value { other } else { self }
    }

    /// The tasks that went for and against the skill.
    #[must_use]
    pub const fn signs(&self) -> [u32; 2] {
        [self.rescued, self.broken]
    }

    /// Whether the evidence suffices: E ≥ 1/α.
    #[must_use]
    pub fn suffices(&self, alpha: Alpha) -> bool {
        EValue::jeffreys(self.rescued, self.broken).may_stop(alpha)
    }
}

/// Whether an evaluation that stands so is to end now. Nothing is left to decide where no pair is open.
#[must_use]
pub fn decide(rule: StopRule, tasks: &[TaskSoFar], alpha: Alpha) -> Option<StopReason> {
    if tasks.iter().all(|task| task.open == 0) {
        None
    } else if rule.evidence && Seen::of(tasks).suffices(alpha) {
        Some(StopReason::Evidence)
    } else if rule.futility && is_futile(rule, tasks, alpha) {
        Some(StopReason::Futility)
    } else {
        None
    }
}

/// Whether no outcome of the open pairs can reach the level in the test that the verdict rests on. It is enough to look at the two ends: the
/// one-sided p of McNemar's and of the sign-flip test falls as any one task's difference rises, and so does E rise once it points that way.
fn is_futile(rule: StopRule, tasks: &[TaskSoFar], alpha: Alpha) -> bool {
    [true, false].into_iter().all(|rescued| {
        let end: Vec<PairCounts> = tasks.iter().map(|task| task.if_open(rescued)).collect();
        if rule.evidence {
            !Seen::of_counts(end).suffices(alpha)
        } else {
            p_value(&end).is_none_or(|p| p > alpha.value())
        }
    })
}

/// Fewest tasks that reach the level where all go one way and `rule` decides.
#[must_use]
pub fn tasks_least(rule: StopRule, alpha: Alpha) -> u32 {
    tasks_needed(if rule.evidence { Adjustment::Anytime } else { Adjustment::Raw }, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUTILITY: StopRule = StopRule { futility: true, evidence: false };
    const EVIDENCE: StopRule = StopRule { futility: false, evidence: true };
    const BOTH: StopRule = StopRule { futility: true, evidence: true };

    /// Single-pair tasks: rescued, broken, tied, open.
    fn single(rescued: u32, broken: u32, tied: u32, open: u32) -> Vec<TaskSoFar> {
        let one = PairCounts::default();
        let kinds = [
            (rescued, TaskSoFar { counts: PairCounts { rescued: 1, ..one }, open: 0 }),
            (broken, TaskSoFar { counts: PairCounts { broken: 1, ..one }, open: 0 }),
            (tied, TaskSoFar { counts: PairCounts { both: 1, ..one }, open: 0 }),
            (open, TaskSoFar { counts: one, open: 1 }),
        ];
        kinds.into_iter().flat_map(|(n, task)| std::iter::repeat_n(task, n as usize)).collect()
    }

    #[test]
    fn the_rules_stop_where_they_say() {
        for (rule, [rescued, broken, tied, open], want) in [
            // C(2m, m)/2^m is 14.4 at 6 and 26.8 at 7.
            (EVIDENCE, [6, 0, 3, 9], None),
            (EVIDENCE, [7, 0, 3, 9], Some(StopReason::Evidence)),
            (EVIDENCE, [0, 7, 3, 9], Some(StopReason::Evidence)),
            (EVIDENCE, [7, 0, 3, 0], None),
            (EVIDENCE, [0, 0, 30, 1], None),
            (FUTILITY, [7, 0, 3, 9], None),
            (FUTILITY, [3, 0, 9, 3], None),
            (FUTILITY, [3, 0, 9, 2], Some(StopReason::Futility)),
            (FUTILITY, [3, 3, 9, 6], Some(StopReason::Futility)),
            (FUTILITY, [3, 0, 9, 0], None),
            // Six of six would do for McNemar's test, and not for the e-value.
            (BOTH, [3, 0, 9, 3], Some(StopReason::Futility)),
            (BOTH, [3, 0, 9, 4], None),
            (BOTH, [8, 0, 0, 1], Some(StopReason::Evidence)),
            (StopRule::default(), [20, 0, 0, 20], None),
            (BOTH, [0, 0, 0, 0], None),
        ] {
            let tasks = single(rescued, broken, tied, open);
            assert_eq!(decide(rule, &tasks, Alpha::FIVE_PERCENT), want, "{rule:?} {rescued} {broken} {tied} {open}");
        }
    }

    /// Every outcome of the open pairs, tried.
    fn reachable(rule: StopRule, done: &[TaskSoFar], open: &[TaskSoFar]) -> bool {
        let Some((task, rest)) = open.split_first() else {
            let end: Vec<PairCounts> = done.iter().map(|task| task.counts).collect();
            return match rule.evidence {
                true => Seen::of_counts(end).suffices(Alpha::FIVE_PERCENT),
                false => p_value(&end).is_some_and(|p| p <= 0.05),
            };
        };
        if task.open == 0 {
            return reachable(rule, &[done, &[*task]].concat(), rest);
        }
        let one_less = TaskSoFar { open: task.open - 1, ..*task };
        [crate::condition::Flip::Rescued, crate::condition::Flip::Broken, crate::condition::Flip::Both].into_iter().any(
            |flip| {
                let mut next = one_less;
                next.counts.record(flip);
                reachable(rule, done, &[&[next], rest].concat())
            },
        )
    }

    #[test]
    fn futile_is_what_no_outcome_can_mend() {
        let mut futile = [0, 0];
        for rescued in 0..=5 {
            for broken in 0..=3 {
                for open in 1..=4 {
                    for (i, rule) in [FUTILITY, BOTH].into_iter().enumerate() {
                        let tasks = single(rescued, broken, 1, open);
                        let want = !reachable(rule, &[], &tasks);
                        assert_eq!(
                            is_futile(rule, &tasks, Alpha::FIVE_PERCENT),
                            want,
                            "{rule:?} {rescued} {broken} {open}"
                        );
                        futile[i] += u32::from(want);
                    }
                }
            }
        }
        assert!(futile.iter().all(|n| (20..90).contains(n)), "{futile:?}");
    }

    /// The same with two repeats, where the sign-flip test of task means decides.
    #[test]
    fn futile_is_so_with_repeats_as_well() {
        let pair = |rescued: u32, broken: u32, both: u32| PairCounts { rescued, broken, both, ..PairCounts::default() };
        for sure in 3..=7 {
            let done = std::iter::repeat_n(TaskSoFar { counts: pair(2, 0, 0), open: 0 }, sure);
            for mixed in [pair(0, 1, 0), pair(1, 0, 0), pair(0, 0, 1), pair(0, 0, 0)] {
                let open = 2 - u32::try_from(mixed.pairs()).unwrap();
                let tasks: Vec<TaskSoFar> = done.clone().chain([TaskSoFar { counts: mixed, open }; 2]).collect();
                for rule in [FUTILITY, BOTH] {
                    let want = !reachable(rule, &[], &tasks);
                    assert_eq!(is_futile(rule, &tasks, Alpha::FIVE_PERCENT), want, "{rule:?} {sure} {mixed:?}");
                }
            }
        }
    }

    #[test]
    fn a_task_speaks_once_when_its_last_repeat_is_over() {
        let two = PairCounts { rescued: 2, ..PairCounts::default() };
        let mut tasks = vec![TaskSoFar { counts: two, open: 1 }; 9];
        assert_eq!(Seen::of(&tasks), Seen::NOTHING);
        tasks.iter_mut().take(7).for_each(|task| task.open = 0);
        assert_eq!((Seen::of(&tasks).tasks, Seen::of(&tasks).rescued), (7, 7));
        assert_eq!(decide(EVIDENCE, &tasks, Alpha::FIVE_PERCENT), Some(StopReason::Evidence));
        // One more repeat that is left cannot turn the sign of the others.
        assert!(decide(FUTILITY, &tasks, Alpha::FIVE_PERCENT).is_none());
    }

    #[test]
    fn the_most_evidence_counts_even_if_it_passed() {
        let one = PairCounts::default();
        let up = std::iter::repeat_n(PairCounts { rescued: 1, ..one }, 8);
        let down = std::iter::repeat_n(PairCounts { broken: 1, ..one }, 8);
        let most = Seen::most(up.chain(down));
        assert_eq!((most.tasks, most.rescued, most.broken), (8, 8, 0));
        // Golden file: e(8, 0), Jeffreys.
        assert!((most.e_value - 50.273_437_5).abs() < 1e-9 && most.suffices(Alpha::FIVE_PERCENT));
        assert_eq!(Seen::most([]), Seen::NOTHING);
    }

    #[test]
    fn the_least_tasks_are_those_of_the_deciding_test() {
        let least = [StopRule::default(), FUTILITY, EVIDENCE, BOTH].map(|rule| tasks_least(rule, Alpha::FIVE_PERCENT));
        assert_eq!(least, [6, 6, 7, 7]);
    }
}
