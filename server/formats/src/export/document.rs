//! Our own JSON of an evaluation, `skilldelta.export.v1`: what is written is exactly what is read back. `docs/export.md` says it in words.

use std::collections::BTreeMap;

use domain::attempt::BlobRef;
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::history::AttemptHistory;
use domain::imported::Imported;
use domain::plan::{AgentRef, ModelRef, RunSettings};
use domain::report::EvaluationReport;
use domain::stop::Stopped;
use domain::time::Timestamp;
use domain::verdict::Verdict;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// Version of the shape. A change that a reader must know raises its last number.
pub const SCHEMA: &str = "skilldelta.export.v1";

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// What was compared.
    pub evaluation: EvaluationPart,
    /// Where it came from, if others ran it.
    #[serde(default)]
    pub imported: Option<Imported>,
    /// In the plan's order.
    pub trials: Vec<TrialPart>,
    /// Content of the traces and logs that attempts name, by SHA-256.
    #[serde(default)]
    pub files: BTreeMap<ContentHash, FilePart>,
    /// Files that attempts name and `files` lacks.
    #[serde(default)]
    pub files_left_out: Vec<LeftOut>,
    /// The result, for readers. Import computes it anew and does not look at it.
    #[serde(default, deserialize_with = "skipped")]
    pub report: Option<EvaluationReport>,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationPart {
    /// Its row where it was exported, for reference.
    #[serde(default)]
    pub id: Option<i64>,
    /// What people call it.
    pub title: String,
    /// Milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// What the with-skill arm got.
    pub treatment: TreatmentPart,
    /// What the baseline arm got; absent = no skill.
    #[serde(default)]
    pub baseline: BaselinePart,
    /// What lay in both arms.
    #[serde(default)]
    pub distractors: Vec<VersionPart>,
    /// On which tasks.
    pub tasks: Vec<VersionPart>,
    /// The task set that they are taken from, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_set: Option<String>,
    /// Who solved them.
    pub agent: AgentRef,
    /// With which model; `null` for agents that call none.
    pub model: Option<ModelRef>,
    /// Repeats of each task in each arm, from 1.
    pub repeats: u32,
    /// Of the order; `null` where another runner did not tell.
    pub seed: Option<u64>,
    /// Limits and ways; `null` where another runner did not tell.
    pub settings: Option<RunSettings>,
    /// Why it was ended before all of its trials; absent = it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

/// What the with-skill arm got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TreatmentPart {
    /// These skills, the same for every task.
    Skills {
        /// At least one.
        versions: Vec<VersionPart>,
    },
    /// The skills bundled with each task.
    TasksOwn,
    /// No skill in either arm.
    Nothing,
}

/// What the baseline arm got.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BaselinePart {
    /// No skill.
    #[default]
    NoSkill,
    /// Earlier versions of the treatment's skills.
    PreviousVersion {
        /// At least one.
        versions: Vec<VersionPart>,
    },
    /// Skills that have nothing to do with the tasks.
    Control {
        /// At least one.
        versions: Vec<VersionPart>,
    },
    /// The same as the other arm.
    Same,
}

/// A task or skill with its exact bytes' address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionPart {
    /// Its name.
    pub name: String,
    /// Its tree's hash; `null` where another runner did not tell.
    pub version: Option<ContentHash>,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialPart {
    /// Its task's name, for readers.
    pub task: String,
    /// Its task's place in `evaluation.tasks`, from 0.
    pub task_index: usize,
    /// Its arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// `finished`, or how far it was when it was exported.
    pub state: String,
    /// `null` until it is finished.
    pub verdict: Option<Verdict>,
    /// `null` until it is finished.
    pub finished_at: Option<Timestamp>,
    /// All of them; the last one counts.
    pub attempts: Vec<AttemptHistory>,
}

/// A file that an attempt names: `text`, or `base64` where it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilePart {
    /// Its content.
    Text(String),
    /// The same, encoded.
    Base64(String),
}

/// A file that is named but not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which.
    pub file: BlobRef,
    /// Why.
    pub reason: String,
}

fn skipped<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EvaluationReport>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}
