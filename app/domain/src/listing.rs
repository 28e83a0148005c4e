//! What pages and tables show of stored things: the answers of `ops`, in a form that crosses to the browser.

mod evaluation;
mod pair;
mod standing;
mod task;
mod trace_page;

use serde::{Deserialize, Serialize};

pub use evaluation::{EvaluationListing, EvaluationsPage, ShortHeadline, TrialCounts};
pub use pair::{ArmDetail, AttemptListing, LiveEvent, PairDetail, files_in_order};
pub use task::{AcceptedTask, AuditRequest, TaskDetail, TaskIntake, TaskListing};
pub use trace_page::{DiffLine, LineSide, RowFilter, SpentAt, StepPart, TracePage, TraceRow, TraceSize, TraceView};

use crate::finding::{Finding, Severity};
use crate::hash::ContentHash;
use crate::id::{SkillId, SkillVersionId, TaskId};
use crate::network::NetworkChoice;
use crate::plan::{AgentRef, ModelRef, PromptIntake, SkillDelivery};
use crate::planner::PlanEstimate;
use crate::skill::SkillManifest;
use crate::spending::SpendingCaps;
use crate::stop::StopRule;
use crate::time::Timestamp;
use crate::tree::Tree;

/// How many findings of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// Stops a run.
    pub errors: u32,
    /// Likely to mislead.
    pub warnings: u32,
    /// Worth knowing.
    pub notes: u32,
}

impl FindingCounts {
    /// Counts `findings`.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        findings.iter().fold(Self::default(), |mut counts, finding| {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
            counts
        })
    }
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillListing {
    /// Its row.
    pub id: SkillId,
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Of the newest version.
    pub description: String,
    /// Row of the newest version.
    pub version_id: SkillVersionId,
    /// The newest version.
    pub version: ContentHash,
    /// How many versions there are.
    pub versions: u32,
    /// Of the newest version.
    pub findings: FindingCounts,
    /// When the newest version came.
    pub created_at: Timestamp,
}

/// A skill with all its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillDetail {
    /// Its row.
    pub id: SkillId,
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Newest first; those that came only to be compared with stand last.
    pub versions: Vec<SkillVersionDetail>,
    /// The newest version's `SKILL.md`, as text.
    pub skill_md: String,
}

/// One version of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillVersionDetail {
    /// Its row.
    pub id: SkillVersionId,
    /// Its address.
    pub version: ContentHash,
    /// From its `SKILL.md`.
    pub manifest: SkillManifest,
    /// Its files.
    pub tree: Tree,
    /// From the check at intake.
    pub findings: Vec<Finding>,
    /// Whether it came only to be compared with: as an earlier version, a control or a distractor.
    #[serde(default)]
    pub only_compared: bool,
    /// When it came.
    pub created_at: Timestamp,
}

/// The answer to an upload of skills: nothing is dropped in silence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillIntake {
    /// What went in.
    pub accepted: Vec<AcceptedSkill>,
    /// What did not, and why.
    pub refused: Vec<Refused>,
    /// Files left out on purpose, such as `.DS_Store`.
    pub left_out: Vec<String>,
    /// About the upload as a whole.
    pub findings: Vec<Finding>,
}

/// A skill that went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedSkill {
    /// Where it lay in the upload.
    pub path: String,
    /// The skill's row.
    pub skill: SkillId,
    /// The version's row.
    pub version_id: SkillVersionId,
    /// Its name.
    pub name: String,
    /// Its address.
    pub version: ContentHash,
    /// `false` = these very bytes were already there.
    pub is_new: bool,
    /// What the check has to say.
    pub findings: Vec<Finding>,
}

/// Something that did not go in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it lay.
    pub path: String,
    /// At least one error.
    pub findings: Vec<Finding>,
}

/// What can be chosen for an evaluation on this server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// Agents with a word on each.
    pub agents: Vec<AgentChoice>,
    /// Configured models.
    pub models: Vec<ModelRef>,
    /// Folders below which task folders may lie.
    pub task_roots: Vec<String>,
    /// Largest upload, in bytes.
    pub upload_limit: u64,
}

/// A skill version that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionChoice {
    /// Its row.
    pub id: SkillVersionId,
    /// The skill's name.
    pub name: String,
    /// The version's address.
    pub version: ContentHash,
    /// From 1, in the order in which they came.
    pub number: u32,
    /// Whether it is the last that was uploaded or on trial.
    pub newest: bool,
    /// Whether it came only to be compared with.
    #[serde(default)]
    pub only_compared: bool,
}

/// An agent that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentChoice {
    /// Name and version.
    pub agent: AgentRef,
    /// One line for people.
    pub about: String,
    /// Whether it calls a model.
    pub needs_model: bool,
    /// Whether it calls its model from inside the container.
    #[serde(default)]
    pub calls_from_container: bool,
    /// Why skills cannot be evaluated with it; `None` where they can.
    #[serde(default)]
    pub skill_obstacle: Option<String>,
    /// How it takes its task.
    #[serde(default)]
    pub prompt: PromptIntake,
}

/// What a person wants the treatment to be compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BaselineRequest {
    /// No skill.
    #[default]
    NoSkill,
    /// Earlier versions of the same skills.
    PreviousVersion {
        /// At least one.
        versions: Vec<SkillVersionId>,
    },
    /// Skills that have nothing to do with the tasks.
    Control {
        /// At least one.
        versions: Vec<SkillVersionId>,
    },
    /// Itself (A/A): the treatment in both arms.
    Itself,
    /// Nothing with nothing (A/A): no skill in either arm, whatever the treatment says.
    Nothing,
}

/// What a person asks for when planning an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRequest {
    /// Empty = made from skill and tasks.
    pub title: String,
    /// The skill versions of the treatment; empty = each task's own skills.
    pub skills: Vec<SkillVersionId>,
    /// What it is compared with.
    #[serde(default)]
    pub baseline: BaselineRequest,
    /// Skill versions that lie in both arms.
    #[serde(default)]
    pub distractors: Vec<SkillVersionId>,
    /// At least one.
    pub tasks: Vec<TaskId>,
    /// The task set that they are taken from; `None` = the one that holds exactly them, if there is one.
    #[serde(default)]
    pub task_set: Option<String>,
    /// Adapter name.
    pub agent: String,
    /// Model name; empty for agents that call none.
    pub model: String,
    /// Upstream that serves the model.
    pub upstream: String,
    /// From 1.
    pub repeats: u32,
    /// Trials at the same time.
    pub concurrency: u32,
    /// `None` = drawn.
    pub seed: Option<u64>,
    /// Multiplies the tasks' limits.
    pub timeout_multiplier: f64,
    /// Seconds that agents get in place of their tasks' own limit.
    #[serde(default)]
    pub agent_seconds: Option<u64>,
    /// Seconds that verifiers get in place of their tasks' own limit.
    #[serde(default)]
    pub verifier_seconds: Option<u64>,
    /// Most tokens per trial.
    pub token_cap: Option<u64>,
    /// Build images again without the engine's cache.
    pub rebuild_images: bool,
    /// Further limits on what the model may cost.
    #[serde(default)]
    pub spending: SpendingCaps,
    /// How the agent is to come to know the skills.
    #[serde(default)]
    pub skill_delivery: SkillDelivery,
    /// What the phases may reach, where that is not as the tasks say.
    #[serde(default)]
    pub network: NetworkChoice,
    /// When not all of it need be run.
    #[serde(default)]
    pub stop: StopRule,
}

impl PlanRequest {
    /// Whether any arm gets a skill.
    #[must_use]
    pub fn places_skills(&self) -> bool {
        self.baseline != BaselineRequest::Nothing || !self.distractors.is_empty()
    }
}

/// What a plan will take and what it can tell, before anything is spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanCard {
    /// Tasks × repeats × 2.
    pub trials: u64,
    /// Number of tasks, the unit of inference.
    pub tasks: u64,
    /// What is compared, in words.
    #[serde(default)]
    pub compared: String,
    /// Longest that the trials may take, in seconds, at the given concurrency.
    pub longest_seconds: u64,
    /// The smallest |Δ| that could be told from nothing if every flip went one way; `None` = no outcome can.
    pub smallest_delta: Option<f64>,
    /// The same in words, with what would help, and what past trials lead to expect.
    pub advice: String,
    /// Tokens, time and power in numbers; `None` from a server that gives none.
    #[serde(default)]
    pub estimate: Option<PlanEstimate>,
    /// Anything that a person should see before starting.
    pub findings: Vec<Finding>,
}
