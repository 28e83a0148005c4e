//! What the tests of whole trials share: an executor on the real engine whose agent is a script, and tasks of a few lines.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

#[path = "../agents_support/mod.rs"]
mod agents_support;

use std::sync::Arc;

use domain::attempt::AttemptResult;
use domain::condition::{Condition, Pair};
use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::order::{Happening, TrialOrder};
use domain::path::RelPath;
use domain::plan::{AgentRef, RunSettings};
use domain::spending::Spending;
use domain::task::{ResultPlace, Task};
use domain::time::Timestamp;
use domain::tree::{LoadedFile, LoadedTree};
use domain::trial::Phase;
use engine::agent::Agent;
use engine::agent::command::CommandAgent;
use engine::blobs::Blobs;
use engine::image::{ImageConfig, Images};
use engine::network::{Networks, Outside};
use engine::sandbox::{Engine, Redactor};
use engine::trial::{Executor, ExecutorParts};
use gateway::Gateway;
use repos::{Mirrors, Repositories, RepositoriesConfig};

pub use agents_support::sandbox_support::{Rig, run, text};
pub use agents_support::{MemoryBlobs, run_and_hear};

/// The agent that runs a task's instruction as a script.
const SCRIPT_AGENT: &str = "exec sh \"$INSTRUCTION_FILE\"";

/// An executor that knows one agent: a script.
pub struct Bench {
    pub rig: Rig,
    pub blobs: Arc<MemoryBlobs>,
    pub executor: Executor,
    pub agent: AgentRef,
    folder: tempfile::TempDir,
}

/// A task of a few lines.
pub struct Case<'a> {
    /// What the agent does.
    pub agent: &'a str,
    /// Lines of the Dockerfile after `WORKDIR /app`.
    pub image: &'a str,
    /// The body of `tests/test.sh`.
    pub test: &'a str,
    /// Further files of the task.
    pub files: &'a [(&'a str, &'a str)],
    /// Further lines of `[environment]`.
    pub environment: &'a str,
    pub place: ResultPlace,
    pub settings: RunSettings,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            agent: "true\n",
            image: "",
            test: "echo 1 > /logs/verifier/reward.txt\n",
            files: &[],
            environment: "allow_internet = false",
            place: ResultPlace::Anywhere,
            settings: RunSettings::default(),
        }
    }
}

/// A trial that has ended.
pub struct Ended {
    pub result: AttemptResult,
    /// What agent and verifier printed.
    pub agent: String,
    pub verifier: String,
}

impl Ended {
    pub fn finding(&self, code: &str) -> Option<&str> {
        self.result.findings.iter().find(|finding| finding.code == code).map(|finding| finding.message.as_str())
    }
}

/// A task of these files, as it is read from a folder.
pub fn repository_task(files: &[(&str, &str)]) -> (LoadedTree, Task) {
    let file = |text: &str| LoadedFile { executable: false, bytes: text.as_bytes().to_vec() };
    let files: LoadedTree = files.iter().map(|(path, text)| (RelPath::new(path).unwrap(), file(text))).collect();
    let loaded = formats::task::load("pinned", files, Vec::new());
    let task = loaded.task.unwrap_or_else(|| panic!("{:?}", loaded.findings));
    (loaded.files, task)
}

pub fn workspace() -> ResultPlace {
    ResultPlace::Workspace { path: "/app".to_owned() }
}

impl Bench {
    pub async fn new(name: &str) -> Self {
        Self::with(name, Outside::INTERNET).await
    }

    /// With an idea of its own of what lies outside.
    pub async fn with(name: &str, outside: Outside) -> Self {
        Self::made(name, outside, Mirrors::default()).await
    }

    /// With places that repositories are fetched from.
    pub async fn with_mirrors(name: &str, mirrors: Mirrors) -> Self {
        Self::made(name, Outside::INTERNET, mirrors).await
    }

    async fn made(name: &str, outside: Outside, mirrors: Mirrors) -> Self {
        let agent = Arc::new(CommandAgent::new(SCRIPT_AGENT));
        Self::of(name, outside, mirrors, agent, Gateway::new(Vec::new())).await
    }

    /// With an agent of the test's own, and the models that it may ask.
    pub async fn of_agent(name: &str, agent: Arc<dyn Agent>, gateway: Gateway) -> Self {
        Self::of(name, Outside::INTERNET, Mirrors::default(), agent, gateway).await
    }

    async fn of(name: &str, outside: Outside, mirrors: Mirrors, agent: Arc<dyn Agent>, gateway: Gateway) -> Self {
        let rig = Rig::new(name).await;
        let folder = tempfile::tempdir().unwrap();
        let blobs = Arc::new(MemoryBlobs::default());
        let named = AgentRef::new(agent.name(), agent.version());
        let executor = Executor::new(ExecutorParts {
            engine: Arc::new(rig.engine.clone()),
            images: Images::new(rig.engine.clone(), ImageConfig::default()),
            repositories: Repositories::new(RepositoriesConfig {
                mirrors,
                search_path: std::env::var_os("PATH"),
                ..RepositoriesConfig::at(folder.path().join("repositories"))
            }),
            gateway,
            networks: Networks::with_outside(rig.engine.clone(), folder.path().join("run"), outside),
            agents: vec![agent],
            blobs: Arc::clone(&blobs) as Arc<dyn Blobs>,
            clock: Arc::new(|| Timestamp(1)),
            instance: rig.instance.clone(),
            redactor: Redactor::new(Vec::<String>::new()),
            host_values: Arc::new(|_| Err(domain::approval::Withheld::NotSet)),
        });
        Self { rig, blobs, executor, agent: named, folder }
    }

    fn task(&self, case: &Case<'_>) -> (LoadedTree, Task) {
        let settings = format!(
            "version = \"1.0\"\n[metadata]\ndifficulty = \"easy\"\n[verifier]\ntimeout_sec = 60\n[agent]\ntimeout_sec = 60\n\
             [environment]\nbuild_timeout_sec = 300\ncpus = 2\nmemory = \"512M\"\nstorage = \"1G\"\n{}\n",
            case.environment
        );
        let (base, mark) = (&self.rig.image, &self.rig.instance);
        let dockerfile = format!("FROM {base}\nWORKDIR /app\n{}\nLABEL test={mark}\n", case.image);
        let test = format!("#!/bin/bash\n{}", case.test);
        let own = [
            ("instruction.md", case.agent),
            ("task.toml", &settings),
            ("environment/Dockerfile", &dockerfile),
            ("tests/test.sh", &test),
        ];
        let file = |text: &str| LoadedFile { executable: false, bytes: text.as_bytes().to_vec() };
        let all = own.iter().chain(case.files);
        let files: LoadedTree = all.map(|(path, text)| (RelPath::new(path).unwrap(), file(text))).collect();
        let loaded = formats::task::load("isolated", files.clone(), Vec::new());
        let mut task = loaded.task.unwrap_or_else(|| panic!("{:?}", loaded.findings));
        task.result_place = case.place.clone();
        (files, task)
    }

    pub async fn order(&self, case: &Case<'_>) -> TrialOrder {
        self.order_of(self.task(case), case.settings.clone()).await
    }

    async fn order_of(&self, (files, task): (LoadedTree, Task), settings: RunSettings) -> TrialOrder {
        for (_, file) in files.iter() {
            self.blobs.put(file.bytes.clone()).await.unwrap();
        }
        TrialOrder {
            evaluation: EvaluationId(1),
            trial: TrialId(1),
            attempt: AttemptId(1),
            task,
            condition: Condition::NoSkill,
            repeat: 1,
            skills: Pair::default(),
            distractors: Vec::new(),
            agent: self.agent.clone(),
            model: None,
            spent: Spending::default(),
            settings,
        }
    }

    pub async fn trial(&self, case: &Case<'_>) -> Ended {
        self.run(self.order(case).await).await
    }

    /// A trial of a task that stands by itself, whose files are `task.0`.
    pub async fn trial_of(&self, task: (LoadedTree, Task)) -> Ended {
        self.run(self.order_of(task, RunSettings::default()).await).await
    }

    /// Removes an image that a trial has built, which has no label of the test's.
    pub async fn remove_image(&self, image: Option<&str>) {
        let Some(image) = image else { return };
        self.rig.engine.settle().await;
        let options = bollard::query_parameters::RemoveImageOptions { force: true, ..Default::default() };
        self.rig.docker.remove_image(image, Some(options), None).await.unwrap();
    }

    /// A trial as it is ordered.
    pub async fn run(&self, order: TrialOrder) -> Ended {
        let (mut agent, mut verifier, mut result) = (String::new(), String::new(), None);
        for event in run_and_hear(&self.executor, order).await {
            match event.what {
                Happening::Log { phase: Phase::Agent, text } => agent.push_str(&text),
                Happening::Log { phase: Phase::Verifying, text } => verifier.push_str(&text),
                Happening::Ended { result: ended } => result = Some(*ended),
                Happening::Log { .. }
                | Happening::StepDone { .. }
                | Happening::Spent { .. }
                | Happening::PhaseReached { .. } => {}
            }
        }
        Ended { result: result.expect("every attempt ends"), agent, verifier }
    }

    pub async fn finish(self) {
        drop(self.executor);
        self.rig.remove_images().await;
        self.rig.finish().await;
        drop(self.folder);
    }
}
