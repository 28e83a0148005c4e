//! Evaluations in a store as a run would leave them, without any container.

use std::time::Duration;

use domain::attempt::{AttemptResult, PhaseTimes};
use domain::comparison::Comparison;
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, TrialHistory};
use domain::id::{EvaluationId, TaskId, TrialId};
use domain::imported::{Imported, ResultFormat};
use domain::order::{Happening, TrialEvent};
use domain::path::RelPath;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillRef, TaskRef, Treatment};
use domain::skill::{SkillManifest, SkillPackage};
use domain::skill_audit::{Activation, FoundSkill, SkillAudit};
use domain::task::{
    AgentPhase, Environment, ImageSource, NetworkPolicy, ResultPlace, Task, TaskLayout, TaskMetadata, VerifierPhase,
};
use domain::time::Timestamp;
use domain::tree::{Tree, TreeEntry};
use domain::trial::TrialState;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use store::{Claim, Store, Wanted};

/// Seconds after an arbitrary instant.
fn at(seconds: i64) -> Timestamp {
    Timestamp(1_772_323_200_000 + seconds * 1000)
}

/// A task of a category.
fn task(name: &str, category: &str) -> Task {
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
            scoring: Default::default(),
            pass_mark: 1.0,
        },
        result_place: ResultPlace::Anywhere,
        oracle: None,
        bundled_skills: Vec::new(),
        metadata: TaskMetadata { category: Some(category.to_owned()), ..TaskMetadata::default() },
        tree: tree("instruction.md", name),
    }
}

fn skill(name: &str) -> SkillPackage {
    let description = "Counts sheep. Use when sheep are to be counted.".to_owned();
    SkillPackage {
        manifest: SkillManifest { name: name.to_owned(), description, license: None },
        tree: tree("SKILL.md", name),
    }
}

fn tree(path: &str, text: &str) -> Tree {
    let hash = ContentHash::of(text.as_bytes());
    let entry = TreeEntry { executable: false, size: text.len() as u64, hash };
    [(RelPath::new(path).unwrap(), entry)].into_iter().collect()
}

/// A plan of these tasks (name, category).
pub async fn plan(store: &Store, title: &str, tasks: &[(String, &str)], repeats: u32) -> EvaluationPlan {
    let mut planned = Vec::new();
    for (name, category) in tasks {
        let task = task(name, category);
        let (id, _) = store.put_task(&task, &[], "tests", at(0)).await.unwrap();
        planned.push(TaskRef { id, name: name.clone(), version: task.version() });
    }
    let package = skill("count-sheep");
    let put = store.put_skill_version("ada", &package, &[], Wanted::Itself, at(0)).await.unwrap();
    let skill = SkillRef { id: put.version, name: package.manifest.name.clone(), version: package.version() };
    EvaluationPlan {
        title: title.to_owned(),
        treatment: Treatment::Skills { versions: vec![skill] },
        tasks: planned,
        comparison: Comparison::default(),
        task_set: None,
        agent: AgentRef::new("claude-code", "2.0.76"),
        model: Some(ModelRef {
            name: "claude-sonnet-4-5".to_owned(),
            upstream: "anthropic".to_owned(),
            scripted: false,
        }),
        repeats,
        seed: 7,
        settings: RunSettings::default(),
        kind: domain::plan::PlanKind::Evaluation,
    }
}

/// An attempt that ended in `verdict` and used so many tokens.
pub fn ended(verdict: Verdict, condition: Condition, tokens: u64) -> AttemptResult {
    let with = condition == Condition::WithSkill;
    let path = "/root/.claude/skills/count-sheep/SKILL.md".to_owned();
    let found = with.then(|| FoundSkill { path: path.clone(), name: "count-sheep".to_owned() });
    AttemptResult {
        reward: verdict.scored().map(|passed| f64::from(u8::from(passed))),
        usage: TokenUsage {
            input: Some(tokens / 10),
            cache_read: Some(tokens - tokens / 10 - tokens / 20),
            cache_write: Some(0),
            output: Some(tokens / 20),
        },
        model_calls: Some(tokens / 4_000 + 1),
        cost: Some(tokens as f64 / 1e6),
        prices: Some("USD 2026-01-15".to_owned()),
        audit: Some(SkillAudit {
            looked_in: vec!["/root/.claude/skills".to_owned()],
            found: found.into_iter().collect(),
            removed: Vec::new(),
        }),
        activation: Activation {
            listed: Some(with),
            opened: Some(with),
            files_read: if with { vec![path] } else { Vec::new() },
            ..Activation::default()
        },
        phases: PhaseTimes { preparing: Some(1_000), agent: Some(62_000), verifying: Some(500) },
        ..AttemptResult::bare(verdict)
    }
}

/// Pass or fail.
pub fn verdict(passed: bool) -> Verdict {
    if passed { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } }
}

/// Trouble that is not the agent's.
pub fn trouble() -> Verdict {
    Verdict::InfraError {
        class: InfraClass::Image,
        message:
            "the image could not be built: no route to the package mirror; build it again when the network is back"
                .to_owned(),
    }
}

/// Runs a plan: `result` says how the trial of a task (its place), arm and repeat ends; `None` = it stays under way.
pub async fn run(
    store: &Store,
    plan: &EvaluationPlan,
    result: impl Fn(usize, Condition, u32) -> Option<AttemptResult>,
) -> EvaluationId {
    let id = store.create_evaluation(plan, at(1)).await.unwrap();
    while let Some(claim) = store.claim_next(at(2), at(9_999_999), 1_000_000).await.unwrap() {
        let place = plan.tasks.iter().position(|task| task.id == claim.trial.task).unwrap();
        if let Some(result) = result(place, claim.trial.condition, claim.trial.repeat) {
            end(store, &claim, result).await;
        }
    }
    id
}

async fn end(store: &Store, claim: &Claim, result: AttemptResult) {
    let event = TrialEvent { attempt: claim.attempt, at: at(60), what: Happening::Ended { result: Box::new(result) } };
    assert!(store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap().is_yes());
}

/// An evaluation of others, as large as one likes: it is stored in one piece.
pub async fn import(store: &Store, tasks: usize, repeats: u32) -> EvaluationId {
    let names: Vec<String> = (0..tasks).map(|i| format!("task-{i:03}")).collect();
    let planned = names.iter().zip(1_i64..).map(|(name, id)| TaskRef {
        id: TaskId(-id),
        name: name.clone(),
        version: ContentHash::UNKNOWN,
    });
    let empty = plan(store, "Large", &[], repeats).await;
    let plan = EvaluationPlan { tasks: planned.collect(), ..empty };
    let mut trials = Vec::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        for repeat in 1..=repeats {
            for condition in Condition::BOTH {
                let lucky =
                    (place * 7 + repeat as usize * 3) % 10 < if condition == Condition::WithSkill { 6 } else { 5 };
                let verdict = verdict(lucky);
                let result = ended(verdict.clone(), condition, 10_000 + place as u64 * 100);
                trials.push(TrialHistory {
                    id: TrialId(-(trials.len() as i64) - 1),
                    task: task.id,
                    condition,
                    repeat,
                    state: TrialState::Finished { attempts: 1, verdict: verdict.clone(), at: at(9) },
                    attempts: vec![AttemptHistory {
                        number: 1,
                        started_at: None,
                        ended_at: None,
                        verdict: Some(verdict),
                        result: Some(result),
                        told: None,
                    }],
                });
            }
        }
    }
    let imported = Imported {
        format: ResultFormat::Harbor,
        source: "job-1".to_owned(),
        hash: ContentHash::of(b"job-1"),
        at: at(9),
        findings: Vec::new(),
        before: None,
    };
    store.put_imported(&plan, &trials, &imported, 0, at(1), None).await.unwrap().0
}
