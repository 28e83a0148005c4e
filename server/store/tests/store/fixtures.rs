//! Builders: small skills, tasks and plans that are in a store.

use std::time::Duration;

use domain::attempt::AttemptResult;
use domain::comparison::Comparison;
use domain::hash::ContentHash;
use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::order::{Happening, TrialEvent};
use domain::path::RelPath;
use domain::plan::{AgentRef, EvaluationPlan, RunSettings, TaskRef, Treatment};
use domain::skill::{SkillManifest, SkillPackage};
use domain::task::{
    AgentPhase, Environment, ImageSource, NetworkPolicy, ResultPlace, Scoring, Task, TaskLayout, TaskMetadata,
    VerifierPhase,
};
use domain::time::Timestamp;
use domain::tree::{Tree, TreeEntry};
use domain::trial::Phase;
use domain::verdict::{InfraClass, Verdict};
use store::{Claim, Moved, Store};

/// The instant `seconds` after the tests' midnight.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp(1_772_323_200_000 + seconds * 1000)
}

pub fn tree(path: &str, text: &str) -> Tree {
    let hash = ContentHash::of(text.as_bytes());
    let entry = TreeEntry { executable: false, size: text.len() as u64, hash };
    [(RelPath::new(path).unwrap(), entry)].into_iter().collect()
}

pub fn skill(name: &str, text: &str) -> SkillPackage {
    let manifest = SkillManifest { name: name.into(), description: "Counts sheep.".into(), license: None };
    SkillPackage { manifest, tree: tree("SKILL.md", text) }
}

pub fn task(name: &str, text: &str) -> Task {
    Task {
        name: name.into(),
        layout: TaskLayout::SkillsBench10,
        instruction: "Count the sheep.".into(),
        environment: Environment {
            image: ImageSource::Named { image: "debian:bookworm".into() },
            repository: None,
            env: [("LANG".to_owned(), "C.UTF-8".to_owned())].into(),
            workdir: None,
            cpus: 0.5,
            memory_mb: 256,
            storage_mb: 512,
            gpus: 0,
            build_timeout: Duration::from_secs(60),
            network: NetworkPolicy::None,
        },
        agent: AgentPhase { timeout: Duration::from_secs(30), user: None, network: None },
        verifier: VerifierPhase {
            folder: RelPath::new("tests").unwrap(),
            timeout: Duration::from_secs(30),
            env: Default::default(),
            env_from_host: Default::default(),
            user: None,
            network: None,
            keeps_test_settings: false,
            pass_mark: 1.0,
            scoring: Scoring::Reward,
        },
        result_place: ResultPlace::Anywhere,
        oracle: None,
        bundled_skills: vec![skill("sheep", "bundled")],
        metadata: TaskMetadata { difficulty: Some("easy".into()), category: None, tags: vec!["sheep".into()] },
        tree: tree("instruction.md", text),
    }
}

/// A plan over tasks `t0`, `t1`, … that are in the store, with their own skills.
pub async fn plan(store: &Store, tasks: usize, repeats: u32) -> EvaluationPlan {
    let mut refs = Vec::new();
    for i in 0..tasks {
        let task = task(&format!("t{i}"), &format!("task {i}"));
        let (id, _) = store.put_task(&task, &[], "tests", at(0)).await.unwrap();
        refs.push(TaskRef { id, name: task.name.clone(), version: task.version() });
    }
    EvaluationPlan {
        title: "Sheep".into(),
        treatment: Treatment::TasksOwn,
        comparison: Comparison::default(),
        tasks: refs,
        task_set: None,
        agent: AgentRef::new("nop", "1"),
        model: None,
        repeats,
        seed: 7,
        settings: RunSettings { concurrency: 2, max_attempts: 3, ..RunSettings::default() },
        kind: Default::default(),
    }
}

/// A store with one evaluation of one task and one repeat: two trials.
pub async fn one_pair() -> (Store, EvaluationId) {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let evaluation = store.create_evaluation(&plan, at(0)).await.unwrap();
    (store, evaluation)
}

/// Claims the next trial at `seconds` for a minute.
pub async fn claim(store: &Store, seconds: i64) -> Option<Claim> {
    store.claim_next(at(seconds), at(seconds + 60), 100).await.unwrap()
}

pub fn ended(attempt: AttemptId, seconds: i64, result: AttemptResult) -> TrialEvent {
    TrialEvent { attempt, at: at(seconds), what: Happening::Ended { result: Box::new(result) } }
}

pub fn log(attempt: AttemptId, seconds: i64, text: &str) -> TrialEvent {
    TrialEvent { attempt, at: at(seconds), what: Happening::Log { phase: Phase::Agent, text: text.into() } }
}

pub fn reached(attempt: AttemptId, seconds: i64, phase: Phase) -> TrialEvent {
    TrialEvent { attempt, at: at(seconds), what: Happening::PhaseReached { phase } }
}

pub fn infra() -> Verdict {
    Verdict::InfraError { class: InfraClass::Engine, message: "the engine does not answer".into() }
}

/// Ends a claim with a verdict and nothing else.
pub async fn end(store: &Store, claim: &Claim, seconds: i64, verdict: Verdict) -> Moved {
    let event = ended(claim.attempt, seconds, AttemptResult::bare(verdict));
    store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap()
}

pub async fn word(store: &Store, trial: TrialId) -> &'static str {
    store.trial(trial).await.unwrap().state.word()
}
