//! A task: an instruction, an environment, a verifier, limits, metadata. It never names the skill.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::path::RelPath;
use crate::repository::TargetRepository;
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
    /// `task.toml` with a `[repository]`, `requirement.md`, `tests/`: our own form of a repository task.
    #[serde(rename = "repository")]
    Repository,
    /// `config/benchmark_config.yaml`, `tasks/batch*/`, `tests/batch*/` (SWE-Skills-Bench).
    #[serde(rename = "swe-skills-bench")]
    SweSkillsBench,
    /// A case of an `evals.json` (agentskills.io, skill-creator).
    #[serde(rename = "evals")]
    Evals,
}

impl TaskLayout {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SkillsBench10 => "skillsbench-1.0",
            Self::SkillsBench11 => "skillsbench-1.1",
            Self::Repository => "repository",
            Self::SweSkillsBench => "swe-skills-bench",
            Self::Evals => "evals",
        }
    }
}

/// Which of SkillsBench's two layouts tasks are read in. The words are those of AgentCompass and EvalScope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DataVersion {
    /// As each task is; the newer one where it has both.
    #[default]
    Auto,
    /// `task.md`.
    V11,
    /// `instruction.md` with `task.toml`.
    V10,
}

impl DataVersion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::V11, Self::V10];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::V11 => "1.1",
            Self::V10 => "1.0",
        }
    }

    /// Whether a task in this layout is what was asked for.
    #[must_use]
    pub fn takes(self, layout: TaskLayout) -> bool {
        match self {
            Self::Auto => true,
            Self::V11 => layout == TaskLayout::SkillsBench11,
            Self::V10 => layout == TaskLayout::SkillsBench10,
        }
    }
}

impl fmt::Display for DataVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for DataVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // AgentCompass names the older one by its commit.
        let found = Self::ALL.into_iter().find(|version| version.word() == text);
        let found = found.or_else(|| (text == "1.0-17dec32").then_some(Self::V10));
        found.ok_or_else(|| format!("there is no layout {text:?}; there are: auto, 1.1, 1.0"))
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
    /// Where its result lies.
    #[serde(default)]
    pub result_place: ResultPlace,
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

    /// What the task lets its agent reach.
    #[must_use]
    pub fn agent_network(&self) -> &NetworkPolicy {
        self.agent.network.as_ref().unwrap_or(&self.environment.network)
    }

    /// What the task lets its verifier reach: where nothing is said, nothing for a workspace that is judged by itself, else its
    /// container's.
    #[must_use]
    pub fn verifier_network(&self) -> &NetworkPolicy {
        match (&self.verifier.network, &self.result_place) {
            (Some(own), _) => own,
            (None, ResultPlace::Workspace { .. }) => &NetworkPolicy::None,
            (None, ResultPlace::Artifacts { container, .. }) => &container.network,
            (None, ResultPlace::Anywhere) => &self.environment.network,
        }
    }
}

/// Where a task's result lies, and so in which container it is judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultPlace {
    /// Anywhere in the container: the verifier gets that container, with the agent's processes ended.
    #[default]
    Anywhere,
    /// In one folder: the verifier gets a fresh container with that folder, so that nothing else of what the agent did is left.
    Workspace {
        /// Absolute path in the container.
        path: String,
    },
    /// In these files and folders: the verifier gets a container of its own image, which holds the tests, with them at their places and nothing
    /// else of what the agent did (Harbor's separate verifiers).
    Artifacts {
        /// What is taken along.
        artifacts: Vec<Artifact>,
        /// What the verifier works in.
        container: Box<Environment>,
    },
}

impl ResultPlace {
    /// Whether the verifier gets another container than the agent had.
    #[must_use]
    pub const fn is_fresh(&self) -> bool {
        match self {
            Self::Anywhere => false,
            Self::Workspace { .. } | Self::Artifacts { .. } => true,
        }
    }
}

/// A file or folder that goes from the agent's container to the verifier's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Absolute path, the same in both.
    pub path: String,
    /// Names of files and folders in it that stay, wherever they lie.
    pub exclude: Vec<String>,
}

/// The container that a task runs in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// How its image is had.
    pub image: ImageSource,
    /// What is put into that image: the repository that a repository task works in.
    #[serde(default)]
    pub repository: Option<TargetRepository>,
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
    /// Nothing (a task's agent still reaches the model gateway).
    None,
    /// The model gateway.
    ModelOnly,
    /// These hosts only.
    Allowlist {
        /// Each `NAME` or `NAME:PORT`; a name may begin with `*.`. See [`crate::network::AllowList`].
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
    /// Whether settings of test runners that the agent changed stay as it left them: for tasks whose result they are.
    #[serde(default)]
    pub keeps_test_settings: bool,
    /// Least reward that counts as a pass; 1.0 unless the task set says otherwise.
    pub pass_mark: f64,
    /// Where the reward comes from.
    #[serde(default)]
    pub scoring: Scoring,
}

/// Where the reward of a verifier run comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// Its script writes it.
    #[default]
    Reward,
    /// It is the share of test cases that passed, of all there are: skipped ones count against it. A build check that fails makes the
    /// run a fail whatever the share.
    PassRate,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn task(extra: &str) -> Task {
        let empty_tree = serde_json::to_string(&Tree::default()).unwrap();
        let text = format!(
            r#"{{"name":"t","layout":"skillsbench-1.0","instruction":"","environment":{{"image":{{"named":{{"image":"i"}}}},"env":{{}},
            "workdir":null,"cpus":1.0,"memory_mb":1,"storage_mb":1,"gpus":0,"build_timeout":{{"secs":1,"nanos":0}},"network":"public"}},
            "agent":{{"timeout":{{"secs":1,"nanos":0}},"user":null,"network":null}},
            "verifier":{{"folder":"tests","timeout":{{"secs":1,"nanos":0}},"env":{{}},"env_from_host":{{}},"user":null,"network":null,
            "pass_mark":1.0}},"oracle":null,"bundled_skills":[],"metadata":{{"difficulty":null,"category":null,"tags":[]}},"tree":{empty_tree}{extra}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_task_stored_before_there_were_places_is_judged_in_its_own_container() {
        let old = task("");
        assert_eq!(old.result_place, ResultPlace::Anywhere);
        assert_eq!(old.verifier_network(), &NetworkPolicy::Public);
    }

    #[test]
    fn a_workspace_is_judged_without_a_network_unless_the_task_says_otherwise() {
        let mut task = task(r#","result_place":{"workspace":{"path":"/app"}}"#);
        assert_eq!(task.result_place, ResultPlace::Workspace { path: "/app".into() });
        assert_eq!((task.agent_network(), task.verifier_network()), (&NetworkPolicy::Public, &NetworkPolicy::None));
        task.verifier.network = Some(NetworkPolicy::Public);
        assert_eq!(task.verifier_network(), &NetworkPolicy::Public);
    }
}
