//! A plan's card before and after there is history, in a real store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use domain::attempt::{AttemptResult, PhaseTimes};
use domain::condition::Condition;
use domain::id::EvaluationId;
use domain::listing::{AgentChoice, BaselineRequest, PlanRequest};
use domain::network::NetworkChoice;
use domain::order::{Happening, TrialEvent};
use domain::plan::{AgentRef, PromptIntake, SkillDelivery};
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::time::Timestamp;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, Verdict};
use ops::{Ops, OpsConfig, OpsError, Upload};
use store::Store;

const NOW: Timestamp = Timestamp(1_772_323_200_000);

async fn ops() -> Ops {
    let agent = |name: &str| AgentChoice {
        agent: AgentRef::new(name, "1"),
        about: String::new(),
        needs_model: false,
        calls_from_container: false,
        skill_obstacle: None,
        prompt: PromptIntake::Any,
    };
    let config = OpsConfig { agents: vec![agent("one"), agent("other")], ..OpsConfig::default() };
    Ops::new(Store::temp().await.unwrap(), Arc::new(|| NOW), config)
}

/// The tasks and the skill of the examples, twice each, by an agent.
async fn request(ops: &Ops, agent: &str) -> PlanRequest {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let tasks = ops.add_task_folders(&[examples.join("tasks")], domain::task::DataVersion::Auto).await.unwrap();
    let skill = Upload::Path(examples.join("skills/bookkeeping-conventions"));
    let skills = ops.upload_skills("me", skill).await.unwrap();
    PlanRequest {
        title: String::new(),
        skills: skills.accepted.iter().map(|skill| skill.version_id).collect(),
        baseline: BaselineRequest::NoSkill,
        distractors: Vec::new(),
        tasks: tasks.accepted.iter().map(|task| task.id).collect(),
        task_set: None,
        agent: agent.into(),
        model: String::new(),
        upstream: String::new(),
        repeats: 2,
        concurrency: 4,
        seed: Some(1),
        timeout_multiplier: 1.0,
        agent_seconds: None,
        verifier_seconds: None,
        token_cap: None,
        rebuild_images: false,
        spending: SpendingCaps::default(),
        skill_delivery: SkillDelivery::Discovered,
        network: NetworkChoice::default(),
        stop: StopRule::default(),
    }
}

/// Ends every trial: with the skill all pass, without only the first repeat; each takes a minute and 1000 tokens, 1500 with the skill.
async fn run(ops: &Ops, id: EvaluationId) {
    while let Some(claim) = ops.store().claim_next(NOW, NOW.plus_ms(60_000), 1000).await.unwrap() {
        let with = claim.trial.condition == Condition::WithSkill;
        let passed = with || claim.trial.repeat == 1;
        let verdict = if passed { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
        let mut result = AttemptResult::bare(verdict);
        result.usage = TokenUsage { input: Some(if with { 1500 } else { 1000 }), ..TokenUsage::ZERO };
        result.phases = PhaseTimes { preparing: Some(10_000), agent: Some(45_000), verifying: Some(5_000) };
        let what = Happening::Ended { result: Box::new(result) };
        let event = TrialEvent { attempt: claim.attempt, at: NOW, what };
        ops.store().record_event(id, claim.trial.id, &event).await.unwrap();
    }
}

#[tokio::test]
async fn history_fills_the_card_and_only_that_of_the_same_agent() {
    let ops = ops().await;
    let request = request(&ops, "one").await;
    let card = ops.plan(&request).await.unwrap();
    let before = card.estimate.unwrap();
    assert_eq!((before.tokens, before.seconds, before.past_trials, before.power.guessed), (None, None, 0, true));
    assert_eq!(before.trials, card.trials);
    assert_eq!(card.smallest_delta, before.power.smallest_possible);

    let id = ops.start(&request).await.unwrap();
    let open = ops.past_runs(&[id]).await.unwrap_err();
    assert!(matches!(&open, OpsError::Invalid { .. }) && open.to_string().contains("no complete pair"), "{open}");
    run(&ops, id).await;
    let after = ops.plan(&request).await.unwrap();
    let estimate = after.estimate.unwrap();
    let tokens = estimate.tokens.unwrap();
    assert!((tokens.expected - 1250.0 * after.trials as f64).abs() < 1e-6, "{tokens:?}");
    assert!((estimate.seconds.unwrap().expected - 60.0 * after.trials as f64 / 4.0).abs() < 1e-6);
    assert_eq!((estimate.past_trials, estimate.power.guessed), (after.trials, false));
    assert_eq!(estimate.power.noise.within_share, Some(1.0));
    assert!(
        after.advice.contains("past trials it will take about") && after.advice.contains("twice the repeats"),
        "{}",
        after.advice
    );

    let other = PlanRequest { agent: "other".into(), ..request };
    assert_eq!(ops.plan(&other).await.unwrap().estimate.unwrap().past_trials, 0);
    assert_eq!(ops.past_runs(&[id]).await.unwrap().pairs.len(), after.tasks as usize);
    assert!(matches!(ops.past_runs(&[EvaluationId(99)]).await, Err(OpsError::NotFound { .. })));
}

/// Repeat 1 agrees in both arms and repeat 2 differs, in every task: half of the pairs flip.
#[tokio::test]
async fn an_a_a_evaluation_is_the_noise_floor_of_results_on_its_tasks() {
    let ops = ops().await;
    let plain = request(&ops, "one").await;
    let result = ops.start(&plain).await.unwrap();
    run(&ops, result).await;
    assert_eq!(ops.report(result).await.unwrap().noise_floor, None);

    let alike = PlanRequest { baseline: BaselineRequest::Nothing, tasks: plain.tasks[1..].to_vec(), ..plain.clone() };
    let alike = ops.start(&alike).await.unwrap();
    assert_eq!(ops.report(result).await.unwrap().noise_floor, None, "one that is not over tells nothing yet");
    run(&ops, alike).await;
    let floor = ops.report(result).await.unwrap().noise_floor.unwrap();
    let (tasks, pairs) = (plain.tasks.len() as u64, 2 * (plain.tasks.len() as u64 - 1));
    assert_eq!((&floor.evaluations, floor.tasks_seen, floor.tasks), (&vec![alike], tasks - 1, tasks));
    assert_eq!((floor.pairs, floor.flip_share), (pairs, 0.5));
    let share = (pairs as f64 / 2.0 + 0.5) / (pairs as f64 + 1.0);
    assert!((floor.sd_delta - (share / (tasks * 2) as f64).sqrt()).abs() < 1e-12, "{floor:?}");
    let own = ops.report(alike).await.unwrap().noise_floor.unwrap();
    assert_eq!((own.evaluations, own.tasks), (vec![alike], tasks - 1));

    let other = ops.start(&PlanRequest { agent: "other".into(), ..plain }).await.unwrap();
    run(&ops, other).await;
    assert_eq!(ops.report(other).await.unwrap().noise_floor, None, "another agent has its own noise");
}
