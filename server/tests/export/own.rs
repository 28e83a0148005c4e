//! An evaluation of our own in a data folder, made by the store without any container.

use std::path::Path;
use std::time::Duration;

use domain::attempt::{AttemptResult, PhaseTimes};
use domain::comparison::Comparison;
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::id::EvaluationId;
use domain::order::{Happening, TrialEvent};
use domain::path::RelPath;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, TaskRef, Treatment};
use domain::task::{
    AgentPhase, Environment, ImageSource, NetworkPolicy, ResultPlace, Scoring, Task, TaskLayout, TaskMetadata,
    VerifierPhase,
};
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::trace::{Source, Trace, TraceStep};
use domain::tree::{Tree, TreeEntry};
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use store::{Claim, DataDir, Store};

use crate::home::SECRET;

fn at(seconds: i64) -> Timestamp {
    Timestamp(1_772_323_200_000 + seconds * 1000)
}

fn task(name: &str) -> Task {
    let bytes = name.as_bytes();
    let entry = TreeEntry { executable: false, size: bytes.len() as u64, hash: ContentHash::of(bytes) };
    let timeout = Duration::from_secs(30);
    Task {
        name: name.to_owned(),
        layout: TaskLayout::SkillsBench10,
        instruction: "Count the sheep.".to_owned(),
        environment: Environment {
            image: ImageSource::Named { image: "debian:bookworm".to_owned() },
            repository: None,
            env: Default::default(),
            workdir: None,
            cpus: 1.0,
            memory_mb: 256,
            storage_mb: 512,
            gpus: 0,
            build_timeout: timeout,
            network: NetworkPolicy::None,
        },
        agent: AgentPhase { timeout, user: None, network: None },
        verifier: VerifierPhase {
            folder: RelPath::new("tests").unwrap(),
            timeout,
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
        bundled_skills: Vec::new(),
        metadata: TaskMetadata::default(),
        tree: [(RelPath::new("instruction.md").unwrap(), entry)].into_iter().collect::<Tree>(),
    }
}

/// Two tasks: the skill rescues one and breaks the verifier of the other, after a first attempt that the engine failed.
pub async fn own_evaluation(data: &Path) -> EvaluationId {
    let store = Store::open(&DataDir::open(data).unwrap()).await.unwrap();
    let mut tasks = Vec::new();
    for name in ["count-sheep", "name <b>clouds</b>|=1"] {
        let task = task(name);
        let (id, _) = store.put_task(&task, &[], "tests", at(0)).await.unwrap();
        tasks.push(TaskRef { id, name: name.to_owned(), version: task.version() });
    }
    let plan = EvaluationPlan {
        title: format!("Sheep {SECRET}"),
        treatment: Treatment::TasksOwn,
        comparison: Comparison::default(),
        tasks,
        task_set: None,
        agent: AgentRef::new("bash", "1"),
        model: Some(ModelRef { name: "test-model-1".to_owned(), upstream: "scripted".to_owned(), scripted: true }),
        repeats: 1,
        seed: 7,
        settings: RunSettings::default(),
        kind: Default::default(),
    };
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let first = plan.tasks[0].id;
    let mut failed_once = false;
    while let Some(claim) = store.claim_next(at(2), at(90), 1).await.unwrap() {
        let verdict = match (claim.trial.task == first, claim.trial.condition) {
            (true, Condition::NoSkill) => Verdict::Fail { reason: FailReason::WrongResult },
            (true, Condition::WithSkill) if !failed_once => {
                failed_once = true;
                Verdict::InfraError { class: InfraClass::Engine, message: format!("no answer to {SECRET}") }
            }
            (true, Condition::WithSkill) | (false, Condition::NoSkill) => Verdict::Pass,
            (false, Condition::WithSkill) => Verdict::VerifierError { message: "no reward".to_owned() },
        };
        end(&store, &claim, verdict).await;
    }
    store.close().await;
    id
}

async fn end(store: &Store, claim: &Claim, verdict: Verdict) {
    let said = format!("I was told {SECRET}");
    let trace = Trace { steps: vec![TraceStep::said(Source::User, "Count."), TraceStep::said(Source::Agent, &said)] };
    let passed = verdict == Verdict::Pass;
    let tests = vec![TestCase {
        name: "test_count".to_owned(),
        status: if passed { TestStatus::Passed } else { TestStatus::Failed },
        duration_ms: Some(12),
        message: Some(said.clone()),
    }];
    let tokens = Some(if claim.trial.condition == Condition::WithSkill { 120 } else { 100 });
    let result = AttemptResult {
        reward: verdict.scored().map(|passed| f64::from(u8::from(passed))),
        tests,
        usage: TokenUsage { input: tokens, cache_read: Some(0), cache_write: Some(0), output: Some(5) },
        phases: PhaseTimes { preparing: Some(1_000), agent: Some(2_000), verifying: Some(500) },
        trace: Some(store.blobs().put(serde_json::to_vec(&trace).unwrap()).await.unwrap()),
        agent_log: Some(store.blobs().put(said.clone().into_bytes()).await.unwrap()),
        verifier_log: Some(store.blobs().put([said.as_bytes(), b"\xff"].concat()).await.unwrap()),
        ..AttemptResult::bare(verdict)
    };
    let event = TrialEvent { attempt: claim.attempt, at: at(60), what: Happening::Ended { result: Box::new(result) } };
    assert!(store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap().is_yes());
}
