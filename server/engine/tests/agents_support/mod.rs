//! What the tests of real agents share: an executor on the real engine, two tiny tasks in which one skill is decisive, and the check that
//! the two arms come out as the scripted model plays them.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

#[path = "../sandbox_support/mod.rs"]
pub mod sandbox_support;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::attempt::{AttemptResult, BlobRef};
use domain::condition::{Condition, Pair};
use domain::hash::ContentHash;
use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::order::{Happening, TrialEvent, TrialOrder};
use domain::path::RelPath;
use domain::plan::{AgentRef, ModelRef, RunSettings, SkillDelivery};
use domain::skill::{SkillManifest, SkillPackage};
use domain::spending::Spending;
use domain::task::Task;
use domain::time::Timestamp;
use domain::trace::{Trace, TraceStep};
use domain::tree::{LoadedFile, LoadedTree};
use domain::usage::TokenUsage;
use engine::agent::installed::from_tree;
use engine::blobs::Blobs;
use engine::image::{ImageConfig, Images};
use engine::network::Networks;
use engine::sandbox::Redactor;
use engine::trees::{InstalledTree, Trees};
use engine::trial::{EVENTS_AHEAD, Executor, ExecutorParts};
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{Gateway, RetryPolicy, Upstream};
use repos::{Repositories, RepositoriesConfig};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use sandbox_support::Rig;

pub const MODEL: &str = "claude-sonnet-4-5";
/// The skill's words, without white lines.
pub const BODY: &str = "# Counting\nThe sheep of the picture are 42.\nThe goats of the picture are 43 of them.\n";
pub const DESCRIPTION: &str = "How many animals a picture holds. Use whenever animals are counted.";

/// Short, so that an outage is over for the gateway before a test's patience is. The agents' own tries come on top.
pub const PATIENCE: RetryPolicy = RetryPolicy {
    within: Duration::from_secs(2),
    first_delay: Duration::from_millis(250),
    max_delay: Duration::from_secs(1),
    first_byte: Duration::from_secs(3),
    idle: Duration::from_secs(3),
};

/// One installation at a time: they share what they build with. Those that failed, with why: a registry that does not answer is asked once.
static INSTALLING: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
/// Tells the containers of tests that run at the same time apart.
static BENCHES: AtomicUsize = AtomicUsize::new(0);

/// The tree of an agent, built by the first test that wants it and kept in the target folder; `None`, with the reason printed, where the
/// registries' clients are not on this machine.
pub fn tree(agent: &str) -> Option<InstalledTree> {
    let works = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !works("npm") || !works("apt-get") {
        println!("skipped: npm or apt-get is not on this machine, so {agent} cannot be installed");
        return None;
    }
    let mut failed = INSTALLING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(reason) = failed.get(agent) {
        panic!("{agent} could not be installed: {reason}");
    }
    let trees = Trees::new(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/agents")));
    match trees.install(agent, None, &|text| println!("{agent}: {text}")) {
        Ok(tree) => Some(tree),
        Err(error) => {
            failed.insert(agent.to_owned(), error.to_string());
            drop(failed);
            panic!("{error}");
        }
    }
}

/// Contents in memory.
#[derive(Default)]
pub struct MemoryBlobs(Mutex<HashMap<ContentHash, Vec<u8>>>);

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn get(&self, hash: ContentHash) -> std::io::Result<Vec<u8>> {
        self.get_now(hash)
    }

    fn get_now(&self, hash: ContentHash) -> std::io::Result<Vec<u8>> {
        let found = self.0.lock().unwrap().get(&hash).cloned();
        found.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    }

    async fn put(&self, bytes: Vec<u8>) -> std::io::Result<BlobRef> {
        let (hash, size) = (ContentHash::of(&bytes), bytes.len() as u64);
        self.0.lock().unwrap().insert(hash, bytes);
        Ok(BlobRef { hash, size })
    }
}

fn tree_of(files: &[(&str, &str)]) -> LoadedTree {
    let file = |text: &str| LoadedFile { executable: text.starts_with("#!"), bytes: text.as_bytes().to_vec() };
    files.iter().map(|(path, text)| (RelPath::new(path).unwrap(), file(text))).collect()
}

/// A task with one right answer, which only the skill tells.
fn count_task(animal: &str, answer: u32, rig: &Rig, user: &str) -> (LoadedTree, Task) {
    let right = format!("[ \"$(cat answer.txt 2>/dev/null)\" = {answer} ]");
    task(&format!("count-{animal}"), animal, &right, rig, user)
}

/// `right` = a shell command that succeeds where the work is right.
fn task(name: &str, animal: &str, right: &str, rig: &Rig, user: &str) -> (LoadedTree, Task) {
    let test = format!("#!/bin/bash\nif {right}; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n");
    let settings = format!(
        "version = \"1.0\"\n[metadata]\ndifficulty = \"easy\"\ncategory = \"counting\"\ntags = []\n[verifier]\ntimeout_sec = 60\n[agent]\ntimeout_sec = 170\n{user}\n[environment]\nbuild_timeout_sec = 300\ncpus = 2\nmemory = \"2G\"\nstorage = \"2G\"\nallow_internet = false\n"
    );
    let dockerfile = format!(
        "FROM {}\nRUN useradd -m tester 2>/dev/null || true; mkdir -p /app && chmod 777 /app\nWORKDIR /app\nLABEL test={}\n",
        rig.image, rig.instance
    );
    let files = tree_of(&[
        ("instruction.md", &format!("Count the {animal} of the picture and write their number to answer.txt.\n")),
        ("task.toml", &settings),
        ("environment/Dockerfile", &dockerfile),
        ("tests/test.sh", &test),
    ]);
    let loaded = formats::task::load(name, files.clone(), Vec::new());
    (files, loaded.task.unwrap_or_else(|| panic!("{:?}", loaded.findings)))
}

fn skill() -> (LoadedTree, SkillPackage) {
    let text = format!("---\nname: count-animals\ndescription: {DESCRIPTION}\n---\n{BODY}");
    let files = tree_of(&[("SKILL.md", &text), ("references/rules.md", "# Rules\n")]);
    let manifest =
        SkillManifest { name: "count-animals".to_owned(), description: DESCRIPTION.to_owned(), license: None };
    let tree = files.summary();
    (files, SkillPackage { manifest, tree })
}

fn usage(input: u64, cache_write: u64, cache_read: u64, output: u64) -> Value {
    json!({"input": input, "cache_write": cache_write, "cache_read": cache_read, "output": output})
}

/// What the scripted model does: with the skill it opens it and writes the right number, without it guesses.
pub fn script() -> Value {
    let turns = |animal: &str, answer: u32| {
        json!({"name": format!("{animal}, with the skill"), "when": {"skill_listed": DESCRIPTION, "task_contains": format!("Count the {animal}")}, "turns": [
            {"text": "There is a skill for this.", "usage": usage(11, 1000, 0, 21), "tools": [{"open_skill": "count-animals"}]},
            {"text": "It tells the number.", "usage": usage(12, 200, 1000, 22), "tools": [{"name": "bash", "input": {"command": format!("printf {answer} > answer.txt")}}]},
            {"text": "Done.", "usage": usage(13, 30, 1200, 23)},
        ]})
    };
    let guess = json!({"name": "without", "when": {"task_contains": "of the picture"}, "turns": [
        {"text": "I guess.", "usage": usage(14, 900, 0, 24), "tools": [{"name": "bash", "input": {"command": "printf 7 > answer.txt"}}]},
        {"text": "Done.", "usage": usage(15, 40, 900, 25)},
    ]});
    let other = json!({"turns": [{"text": "Animals", "usage": usage(1, 0, 0, 1)}]});
    json!({"schema": "skilldelta-model-1", "rules": [turns("sheep", 42), turns("goats", 43), guess, other]})
}

/// An executor that knows one agent, and what it takes to order trials from it.
pub struct Bench {
    pub rig: Rig,
    pub tree: InstalledTree,
    executor: Executor,
    blobs: Arc<MemoryBlobs>,
    folder: tempfile::TempDir,
    user: &'static str,
    /// Multiplies the task's limits: 170 s for the agent, 60 s for the verifier.
    pub time: f64,
    /// How the agent comes to know the skill.
    pub delivery: SkillDelivery,
    attempts: AtomicI64,
}

/// A trial that has ended.
pub struct Ended {
    pub result: AttemptResult,
    pub trace: Trace,
    /// Steps that were told while the agent ran.
    pub told: Vec<TraceStep>,
    /// What it had spent, each time that was told.
    pub spending: Vec<Spending>,
    pub log: String,
}

impl Bench {
    /// `script` = the model's file; `user` = a line of the task's `[agent]` settings.
    pub async fn new(agent: &str, script: &Value, user: &'static str) -> Option<Self> {
        let upstream = ScriptedUpstream::parse("scripted", "test", script.to_string().as_bytes());
        Self::with(agent, Arc::new(upstream.unwrap_or_else(|error| panic!("{error}"))), user).await
    }

    pub async fn with(agent: &str, upstream: Arc<dyn Upstream>, user: &'static str) -> Option<Self> {
        let tree = {
            let agent = agent.to_owned();
            tokio::task::spawn_blocking(move || tree(&agent)).await.unwrap()?
        };
        let rig = Rig::new(&format!("{agent}-{}", BENCHES.fetch_add(1, Ordering::Relaxed))).await;
        let folder = tempfile::tempdir().unwrap();
        let blobs = Arc::new(MemoryBlobs::default());
        let executor = Executor::new(ExecutorParts {
            engine: Arc::new(rig.engine.clone()),
            images: Images::new(rig.engine.clone(), ImageConfig::default()),
            repositories: Repositories::new(RepositoriesConfig::at(folder.path().join("repositories"))),
            gateway: Gateway::new(vec![upstream]).with_retry(PATIENCE),
            networks: Networks::new(rig.engine.clone(), folder.path().join("run")),
            agents: vec![from_tree(tree.clone()).unwrap()],
            blobs: Arc::clone(&blobs) as Arc<dyn Blobs>,
            clock: Arc::new(|| Timestamp(1)),
            instance: rig.instance.clone(),
            redactor: Redactor::new(Vec::<String>::new()),
            host_values: Arc::new(|_| Err(domain::approval::Withheld::NotSet)),
        });
        let (time, delivery) = (1.0, SkillDelivery::Discovered);
        let attempts = AtomicI64::new(1);
        Some(Self { rig, tree, executor, blobs, folder, user, time, delivery, attempts })
    }

    pub async fn trial(&self, animal: &str, answer: u32, condition: Condition) -> Ended {
        let (files, task) = count_task(animal, answer, &self.rig, self.user);
        self.run(files, task, condition).await
    }

    /// A trial without the skill in which the agent has 170 s times `time`.
    pub async fn hurried_trial(&self, animal: &str, time: f64) -> Ended {
        let (files, task) = count_task(animal, 1, &self.rig, self.user);
        self.order(&files, task, Condition::NoSkill, Vec::new(), time).await
    }

    /// A trial without the skill whose instruction is that of [`Bench::trial`] with more behind it.
    pub async fn long_trial(&self, animal: &str, answer: u32, more: &str) -> Ended {
        let (files, mut task) = count_task(animal, answer, &self.rig, self.user);
        task.instruction.push_str(more);
        self.run(files, task, Condition::NoSkill).await
    }

    /// A trial without the skill whose work is right where a shell command says so.
    pub async fn trial_judged_by(&self, right: &str) -> Ended {
        let (files, task) = task("judged", "sheep", right, &self.rig, self.user);
        self.run(files, task, Condition::NoSkill).await
    }

    /// A trial of a plan without any skill, as an audit of a task is.
    pub async fn plain_trial(&self, animal: &str, answer: u32) -> Ended {
        let (files, task) = count_task(animal, answer, &self.rig, self.user);
        self.order(&files, task, Condition::NoSkill, Vec::new(), self.time).await
    }

    async fn run(&self, files: LoadedTree, task: Task, condition: Condition) -> Ended {
        let (skill_files, skill) = skill();
        for (_, file) in skill_files.iter() {
            self.blobs.put(file.bytes.clone()).await.unwrap();
        }
        self.order(&files, task, condition, vec![skill], self.time).await
    }

    async fn order(
        &self,
        files: &LoadedTree,
        task: Task,
        condition: Condition,
        skills: Vec<SkillPackage>,
        time: f64,
    ) -> Ended {
        for (_, file) in files.iter() {
            self.blobs.put(file.bytes.clone()).await.unwrap();
        }
        let order = TrialOrder {
            evaluation: EvaluationId(1),
            trial: TrialId(1),
            attempt: AttemptId(self.attempts.fetch_add(1, Ordering::Relaxed)),
            task,
            condition,
            repeat: 1,
            skills: Pair { without: Vec::new(), with: skills },
            distractors: Vec::new(),
            agent: AgentRef {
                skills: self.delivery,
                ..AgentRef::new(&self.tree.label.agent, &self.tree.label.version)
            },
            model: Some(ModelRef { name: MODEL.to_owned(), upstream: "scripted".to_owned(), scripted: true }),
            spent: Spending::default(),
            settings: RunSettings { timeout_multiplier: time, ..RunSettings::default() },
        };
        let (mut told, mut spending, mut log, mut result) = (Vec::new(), Vec::new(), String::new(), None);
        for event in run_and_hear(&self.executor, order).await {
            match event.what {
                Happening::StepDone { step } => told.push(*step),
                Happening::Log { text, .. } => log.push_str(&text),
                Happening::Ended { result: ended } => result = Some(*ended),
                Happening::Spent { spent } => spending.push(spent),
                Happening::PhaseReached { .. } => {}
            }
        }
        let result = result.expect("every attempt ends");
        let trace = match result.trace {
            Some(blob) => serde_json::from_slice(&self.blobs.get_now(blob.hash).unwrap()).unwrap(),
            None => Trace::default(),
        };
        Ended { result, trace, told, spending, log }
    }

    pub async fn finish(self) {
        drop(self.executor);
        self.rig.remove_images().await;
        self.rig.finish().await;
        drop(self.folder);
    }
}

/// Runs a trial to its end, and answers all that was heard of it.
pub async fn run_and_hear(executor: &Executor, order: TrialOrder) -> Vec<TrialEvent> {
    let (events, mut received) = mpsc::channel(EVENTS_AHEAD);
    let running = executor.run(order, events, CancellationToken::new());
    let hearing = async {
        let mut heard = Vec::new();
        while let Some(event) = received.recv().await {
            heard.push(event);
        }
        heard
    };
    tokio::join!(running, hearing).1
}

pub fn tokens(input: u64, cache_write: u64, cache_read: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input: Some(input),
        cache_read: Some(cache_read),
        cache_write: Some(cache_write),
        output: Some(output),
    }
}

impl Ended {
    pub fn passed(&self) -> bool {
        let scored = self.result.verdict.scored();
        scored
            .unwrap_or_else(|| panic!("no score: {:?}\n{}\n{:#?}", self.result.verdict, self.log, self.result.findings))
    }

    /// Names of the tools that were called.
    pub fn calls(&self) -> Vec<&str> {
        self.trace.steps.iter().flat_map(|step| &step.calls).map(|call| call.name.as_str()).collect()
    }

    pub fn finding(&self, code: &str) -> Option<&str> {
        self.result.findings.iter().find(|finding| finding.code == code).map(|finding| finding.message.as_str())
    }
}
