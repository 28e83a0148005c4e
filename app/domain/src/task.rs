//! A task: an instruction, an environment, a verifier, limits, metadata. It never names the skill.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::path::RelPath;
use crate::skill::SkillPackage;
use crate::tree::Tree;

/// Which family of files a task was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaskLayout {
    /// `instruction.md`, `task.toml`, `solution/`, `tests/` (SkillsBench v1.0, Harbor).
    #[serde(rename = "skillsbench-1.0")]
    SkillsBench10,
    /// `task.md`, `oracle/`, `verifier/` (SkillsBench v1.1).
    #[serde(rename = "skillsbench-1.1")]
    SkillsBench11,
}

impl TaskLayout {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SkillsBench10 => "skillsbench-1.0",
            Self::SkillsBench11 => "skillsbench-1.1",
        }
    }
}

/// Everything that a trial of a task needs, resolved from whichever layout it came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Folder name; unique within a task set.
    pub name: String,
    /// Where it came from.
    pub layout: TaskLayout,
    /// What the agent is told.
    pub instruction: String,
    /// The container it works in.
    pub environment: Environment,
    /// The agent's phase.
    pub agent: AgentPhase,
    /// The verifier's phase.
    pub verifier: VerifierPhase,
    /// Its own solution, where there is one.
    pub oracle: Option<OraclePhase>,
    /// The skills bundled with it (`task's own` treatment).
    pub bundled_skills: Vec<SkillPackage>,
    /// What helps to find and group it.
    pub metadata: TaskMetadata,
    /// Every file of the task's folder.
    pub tree: Tree,
}

impl Task {
    /// The task version: the hash of its files.
    #[must_use]
    pub fn version(&self) -> ContentHash {
        self.tree.hash()
    }
}

/// The container that a task runs in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// How its image is had.
    pub image: ImageSource,
    /// Set in every phase; literal values only.
    pub env: BTreeMap<String, String>,
    /// Working folder; `None` = the image's own.
    pub workdir: Option<String>,
    /// CPUs; may be a fraction.
    pub cpus: f64,
    /// MiB.
    pub memory_mb: u64,
    /// MiB; told, not enforced by every engine.
    pub storage_mb: u64,
    /// Number of GPUs asked for.
    pub gpus: u32,
    /// Longest image build.
    pub build_timeout: Duration,
    /// Network in the agent's phase, unless that says otherwise.
    pub network: NetworkPolicy,
}

/// How a task's image is had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// Built from a folder of the task which holds a `Dockerfile`; normally `environment`.
    Build {
        /// The build context, relative to the task.
        context: RelPath,
    },
    /// An image by name.
    Named {
        /// Such as `python:3.12-slim`.
        image: String,
    },
}

/// What a phase may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkPolicy {
    /// Everything.
    Public,
    /// Nothing (an agent still reaches the model gateway).
    None,
    /// These hosts only.
    Allowlist {
        /// Host names.
        hosts: Vec<String>,
    },
}

/// The agent's phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPhase {
    /// Longest run.
    pub timeout: Duration,
    /// User in the container; `None` = the image's own.
    pub user: Option<String>,
    /// `None` = as the environment says.
    pub network: Option<NetworkPolicy>,
}

/// The verifier's phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifierPhase {
    /// The folder of the task that holds `test.sh`: `tests` or `verifier`.
    pub folder: RelPath,
    /// Longest run.
    pub timeout: Duration,
    /// Literal values.
    pub env: BTreeMap<String, String>,
    /// Variables whose value a person has to approve (`${NAME}` templates): variable name by the name asked for.
    pub env_from_host: BTreeMap<String, String>,
    /// User in the container; `None` = root.
    pub user: Option<String>,
    /// `None` = as the environment says.
    pub network: Option<NetworkPolicy>,
    /// Least reward that counts as a pass; 1.0 unless the task set says otherwise.
    pub pass_mark: f64,
}

/// The task's own solution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OraclePhase {
    /// The folder of the task that holds `solve.sh`: `solution` or `oracle`.
    pub folder: RelPath,
    /// Longest run; `None` = the agent's.
    pub timeout: Option<Duration>,
    /// Literal values.
    pub env: BTreeMap<String, String>,
    /// Whether the solution needs the bundled skills in place (v1.0 solutions may import them).
    pub needs_skills: bool,
}

/// What helps to find and group a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMetadata {
    /// Such as `medium`; free text.
    pub difficulty: Option<String>,
    /// Free text.
    pub category: Option<String>,
    /// Free text.
    pub tags: Vec<String>,
}
