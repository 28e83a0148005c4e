//! The evaluation plan: what is compared, on what, how often, in which order.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::comparison::Comparison;
use crate::condition::Condition;
use crate::draw::Draw;
use crate::hash::ContentHash;
use crate::id::{SkillVersionId, TaskId};
use crate::network::NetworkChoice;
use crate::spending::SpendingCaps;
use crate::stop::StopRule;

/// What a plan may multiply its tasks' limits by.
pub const TIMEOUT_MULTIPLIERS: RangeInclusive<f64> = 0.1..=20.0;

/// What the with-skill arm gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Treatment {
    /// These skill versions, the same for every task.
    Skills {
        /// At least one.
        versions: Vec<SkillRef>,
    },
    /// The skills bundled with each task.
    TasksOwn,
    /// No skill in either arm, to see how much the tasks alone vary (A/A).
    Nothing,
}

/// A skill version as a plan names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillRef {
    /// Its row.
    pub id: SkillVersionId,
    /// The skill's name.
    pub name: String,
    /// The version's address.
    pub version: ContentHash,
}

/// A task as a plan names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    /// Its row.
    pub id: TaskId,
    /// The task's name.
    pub name: String,
    /// The task version's address.
    pub version: ContentHash,
}

/// The program that solves the tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRef {
    /// Adapter name, such as `bash`.
    pub name: String,
    /// Version of the agent program.
    pub version: String,
    /// How it comes to know the treatment's skills.
    #[serde(default, skip_serializing_if = "SkillDelivery::is_discovered")]
    pub skills: SkillDelivery,
}

impl AgentRef {
    /// An agent that discovers skills by itself.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), skills: SkillDelivery::Discovered }
    }

    /// As shown wherever a number names its actor: `mini-swe-agent 2.4.6 + skills in the prompt`.
    #[must_use]
    pub fn title(&self) -> String {
        let title = format!("{} {}", self.name, self.version);
        match self.skills {
            SkillDelivery::Discovered => title.trim().to_owned(),
            SkillDelivery::InPrompt => format!("{} + {}", title.trim(), SkillDelivery::IN_PROMPT),
        }
    }
}

/// How an agent comes to know the treatment's skills. Part of the actor: results of one way say nothing about the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillDelivery {
    /// They lie where it looks for skills, and it finds, lists and opens them or not.
    #[default]
    Discovered,
    /// Their text stands in its prompt, before the task: chosen for agents that look for no skills.
    InPrompt,
}

impl SkillDelivery {
    /// [`SkillDelivery::InPrompt`] in words.
    pub const IN_PROMPT: &str = "skills in the prompt";

    /// Whether it is the usual way.
    #[must_use]
    pub const fn is_discovered(&self) -> bool {
        matches!(self, Self::Discovered)
    }
}

/// How an agent takes the text of its task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PromptIntake {
    /// Whole, whatever its length.
    #[default]
    Any,
    /// As one argument of a command line.
    AtMost {
        /// Longest, in bytes of UTF-8.
        bytes: u64,
    },
    /// It does not read it.
    Unread,
}

/// The model that the agent calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// Name as the provider knows it.
    pub name: String,
    /// Configured upstream that serves it.
    pub upstream: String,
    /// Whether its answers come from a file: marked everywhere and never ranked.
    pub scripted: bool,
}

/// Limits and ways that hold for every trial of an evaluation, alike in both arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Trials that run at the same time.
    pub concurrency: u32,
    /// Multiplies the tasks' agent and verifier limits.
    pub timeout_multiplier: f64,
    /// Seconds that agents get in place of their tasks' own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_seconds: Option<u64>,
    /// Seconds that verifiers get in place of their tasks' own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier_seconds: Option<u64>,
    /// Most tokens a trial may use; `None` = no cap.
    pub token_cap: Option<u64>,
    /// Attempts at a trial in all, the first included; those that were interrupted by a stop of the server do not count.
    pub max_attempts: u32,
    /// Images are built again without the engine's cache.
    pub rebuild_images: bool,
    /// Further limits on what the model may cost.
    #[serde(default, skip_serializing_if = "SpendingCaps::is_none")]
    pub spending: SpendingCaps,
    /// What the phases may reach, where that is not as the tasks say.
    #[serde(default, skip_serializing_if = "NetworkChoice::is_none")]
    pub network: NetworkChoice,
    /// When not all of it need be run.
    #[serde(default, skip_serializing_if = "StopRule::is_none")]
    pub stop: StopRule,
    /// Variables of this machine that verifiers get, as a person approved; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Approval>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            concurrency: 2,
            timeout_multiplier: 1.0,
            agent_seconds: None,
            verifier_seconds: None,
            token_cap: None,
            max_attempts: 3,
            rebuild_images: false,
            spending: SpendingCaps::default(),
            network: NetworkChoice::default(),
            stop: StopRule::default(),
            approved: Vec::new(),
        }
    }
}

/// What the two arms of a plan are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanKind {
    /// Without and with the treatment, by the same agent.
    #[default]
    Evaluation,
    /// A task audit: the plan's agent is `nop` and makes the no-skill trials; the with-skill trials are the oracle's, with those skills of the
    /// task that its solution needs. No statement about a skill follows from it.
    Audit {
        /// Runs the tasks' own solutions.
        oracle: AgentRef,
        /// The tasks that bring a solution; the others get no oracle trial.
        solved: Vec<TaskId>,
    },
}

impl PlanKind {
    /// Whether it compares without and with a skill.
    #[must_use]
    pub const fn is_evaluation(&self) -> bool {
        matches!(self, Self::Evaluation)
    }
}

/// The thing a user starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationPlan {
    /// What people call it.
    pub title: String,
    /// What the with-skill arm gets.
    pub treatment: Treatment,
    /// What the baseline arm gets, and what lies in both.
    #[serde(default, skip_serializing_if = "Comparison::is_plain")]
    pub comparison: Comparison,
    /// On which tasks; each once.
    pub tasks: Vec<TaskRef>,
    /// The task set that they are taken from, by name; `None` = they are a set of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_set: Option<String>,
    /// Who solves them.
    pub agent: AgentRef,
    /// With which model; `None` for agents that call none.
    pub model: Option<ModelRef>,
    /// Repeats of each task in each arm, from 1.
    pub repeats: u32,
    /// Draws the order.
    pub seed: u64,
    /// Limits and ways.
    pub settings: RunSettings,
    /// What the arms are.
    #[serde(default, skip_serializing_if = "PlanKind::is_evaluation")]
    pub kind: PlanKind,
}

/// One planned trial, at its place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Index into [`EvaluationPlan::tasks`].
    pub task: usize,
    /// From 1.
    pub repeat: u32,
    /// The arm.
    pub condition: Condition,
}

impl EvaluationPlan {
    /// All trials in the order in which they are to start: the pairs are shuffled by the seed, and the two trials of a pair stand side by
    /// side, a coin deciding which comes first. So neither arm runs as a block, and what changes during the run hits both alike.
    #[must_use]
    pub fn order(&self) -> Vec<Slot> {
        let mut draw = Draw::from_seed(self.seed);
        let mut pairs: Vec<(usize, u32)> =
            (1..=self.repeats).flat_map(|repeat| (0..self.tasks.len()).map(move |task| (task, repeat))).collect();
        draw.shuffle(&mut pairs);
        let mut order = Vec::with_capacity(pairs.len() * 2);
        for (task, repeat) in pairs {
            let mut arms = Condition::BOTH;
            if draw.coin() {
                arms.reverse();
            }
            order.extend(
                arms.map(|condition| Slot { task, repeat, condition }).into_iter().filter(|slot| self.has(slot)),
            );
        }
        order
    }

    /// Number of trials: tasks × repeats × 2, less the oracle trials of tasks without a solution.
    #[must_use]
    pub fn trials(&self) -> usize {
        let of_arms = match &self.kind {
            PlanKind::Evaluation => self.tasks.len() * 2,
            PlanKind::Audit { .. } => {
                self.tasks.len() + self.tasks.iter().filter(|task| self.is_solved(task.id)).count()
            }
        };
        of_arms * self.repeats as usize
    }

    /// Who makes the trials of an arm.
    #[must_use]
    pub const fn agent_of(&self, condition: Condition) -> &AgentRef {
        match (&self.kind, condition) {
            (PlanKind::Audit { oracle, .. }, Condition::WithSkill) => oracle,
            (PlanKind::Evaluation | PlanKind::Audit { .. }, _) => &self.agent,
        }
    }

    /// Whether an audit runs a solution of this task.
    #[must_use]
    pub fn is_solved(&self, task: TaskId) -> bool {
        matches!(&self.kind, PlanKind::Audit { solved, .. } if solved.contains(&task))
    }

    fn has(&self, slot: &Slot) -> bool {
        let is_oracle = !self.kind.is_evaluation() && slot.condition == Condition::WithSkill;
        !is_oracle || self.tasks.get(slot.task).is_some_and(|task| self.is_solved(task.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(tasks: usize, repeats: u32, seed: u64) -> EvaluationPlan {
        let task = |i: usize| TaskRef { id: TaskId(i as i64), name: format!("t{i}"), version: ContentHash::of(&[]) };
        EvaluationPlan {
            title: String::new(),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            tasks: (0..tasks).map(task).collect(),
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats,
            seed,
            settings: RunSettings::default(),
            kind: PlanKind::default(),
        }
    }

    #[test]
    fn every_pair_is_planned_once_and_side_by_side() {
        let order = plan(7, 3, 42).order();
        assert_eq!(order.len(), plan(7, 3, 42).trials());
        let mut seen = std::collections::BTreeSet::new();
        for pair in order.chunks(2) {
            assert_eq!((pair[0].task, pair[0].repeat), (pair[1].task, pair[1].repeat));
            assert_ne!(pair[0].condition, pair[1].condition);
            assert!(seen.insert((pair[0].task, pair[0].repeat)));
        }
        assert_eq!(seen.len(), 21);
    }

    /// A plan stored before a baseline could be chosen: a skill against none.
    #[test]
    fn an_older_plan_is_still_read_and_written_alike() {
        let json = serde_json::to_value(plan(2, 1, 3)).unwrap();
        assert!(json.get("comparison").is_none(), "{json}");
        assert_eq!(serde_json::from_value::<EvaluationPlan>(json).unwrap(), plan(2, 1, 3));
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(plan(9, 2, 1).order(), plan(9, 2, 1).order());
        assert_ne!(plan(9, 2, 1).order(), plan(9, 2, 2).order());
    }

    #[test]
    fn neither_arm_always_goes_first() {
        let first_with = plan(500, 1, 7).order().chunks(2).filter(|p| p[0].condition == Condition::WithSkill).count();
        assert!((200..=300).contains(&first_with), "{first_with} of 500");
    }

    #[test]
    fn an_audit_runs_the_oracle_where_there_is_a_solution() {
        let oracle = AgentRef::new("oracle", "1");
        let kind = PlanKind::Audit { oracle: oracle.clone(), solved: vec![TaskId(0), TaskId(2)] };
        let audit = EvaluationPlan { kind, ..plan(3, 2, 5) };
        let order = audit.order();
        assert_eq!((order.len(), audit.trials()), (10, 10));
        let solved = order.iter().filter(|slot| slot.condition == Condition::WithSkill);
        assert!(solved.clone().count() == 4 && solved.clone().all(|slot| slot.task != 1));
        assert_eq!((audit.agent_of(Condition::WithSkill), audit.agent_of(Condition::NoSkill)), (&oracle, &audit.agent));
        assert_eq!(plan(1, 1, 1).agent_of(Condition::WithSkill), &audit.agent);
    }

    #[test]
    fn an_evaluation_is_stored_as_before_there_were_other_kinds() {
        let json = serde_json::to_value(plan(1, 1, 1)).unwrap();
        assert_eq!(json.get("kind"), None);
        assert_eq!(serde_json::from_value::<EvaluationPlan>(json).unwrap(), plan(1, 1, 1));
    }
}
