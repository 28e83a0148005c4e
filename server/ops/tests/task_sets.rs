//! Task sets over a real store: made once, named by what they hold, never changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use domain::id::TaskId;
use domain::listing::{AgentChoice, BaselineRequest, PlanRequest};
use domain::network::NetworkChoice;
use domain::plan::{AgentRef, PromptIntake, SkillDelivery};
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::time::Timestamp;
use ops::{Ops, OpsConfig, OpsError, Upload};
use store::Store;

async fn ops() -> Ops {
    let agent = AgentChoice {
        agent: AgentRef::new("nop", "1"),
        about: String::new(),
        needs_model: false,
        calls_from_container: false,
        skill_obstacle: None,
        prompt: PromptIntake::Any,
    };
    let config = OpsConfig { agents: vec![agent], upload_limit: 1 << 20, ..OpsConfig::default() };
    Ops::new(Store::temp().await.unwrap(), Arc::new(|| Timestamp(1_772_323_200_000)), config)
}

async fn request(ops: &Ops) -> PlanRequest {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let tasks = ops.add_task_folders(&[examples.join("tasks")], domain::task::DataVersion::Auto).await.unwrap();
    let skills = ops.upload_skills("me", Upload::Path(examples.join("skills/bookkeeping-conventions"))).await.unwrap();
    PlanRequest {
        title: String::new(),
        skills: skills.accepted.iter().map(|skill| skill.version_id).collect(),
        tasks: tasks.accepted.iter().map(|task| task.id).collect(),
        baseline: BaselineRequest::NoSkill,
        distractors: Vec::new(),
        task_set: None,
        agent: "nop".into(),
        model: String::new(),
        upstream: String::new(),
        repeats: 1,
        concurrency: 1,
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

#[tokio::test]
async fn a_plan_names_the_set_that_it_asks_for_or_that_holds_exactly_its_tasks() {
    let ops = ops().await;
    let all = request(&ops).await;
    let part = PlanRequest { tasks: all.tasks[1..].to_vec(), ..all.clone() };
    let named = |request: &PlanRequest| PlanRequest { task_set: Some("books".into()), ..request.clone() };
    assert_eq!(ops.resolve(&all).await.unwrap().task_set, None, "there is no set yet");
    assert!(matches!(ops.resolve(&named(&all)).await, Err(OpsError::NotFound { what: "task set", .. })));

    ops.ensure_task_set("books", &all.tasks).await.unwrap();
    for (request, set) in [(all.clone(), Some("books")), (named(&part), Some("books")), (part.clone(), None)] {
        assert_eq!(ops.resolve(&request).await.unwrap().task_set.as_deref(), set, "{:?}", request.tasks);
    }
}

#[tokio::test]
async fn a_set_stays_as_it_was_made() {
    let ops = ops().await;
    let all = request(&ops).await;
    ops.ensure_task_set("books", &all.tasks[1..]).await.unwrap();
    ops.ensure_task_set("books", &all.tasks).await.unwrap();
    let refused = ops.resolve(&PlanRequest { task_set: Some("books".into()), ..all.clone() }).await.unwrap_err();
    assert!(refused.to_string().contains("choose another name"), "{refused}");
    for name in ["", "  ", "two\nlines", &"x".repeat(101)] {
        let refused = ops.ensure_task_set(name, &[TaskId(1)]).await;
        assert!(matches!(refused, Err(OpsError::Invalid { .. })), "{name:?}");
    }
}
