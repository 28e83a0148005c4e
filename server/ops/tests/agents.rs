//! What an agent cannot do is said before anything is stored.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use domain::listing::{AgentChoice, BaselineRequest, PlanRequest};
use domain::network::NetworkChoice;
use domain::plan::{AgentRef, PromptIntake, SkillDelivery};
use domain::spending::SpendingCaps;
use domain::stop::StopRule;
use domain::time::Timestamp;
use ops::{Ops, OpsConfig, OpsError, Priced, Upload, UpstreamChoice};
use store::Store;

fn agent(name: &str, skill_obstacle: Option<&str>, prompt: PromptIntake) -> AgentChoice {
    AgentChoice {
        agent: AgentRef::new(name, "1"),
        about: String::new(),
        needs_model: false,
        calls_from_container: name == "inside",
        skill_obstacle: skill_obstacle.map(str::to_owned),
        prompt,
    }
}

async fn ops() -> Ops {
    let agents = vec![
        agent("inside", None, PromptIntake::Any),
        agent("blind", Some("it looks for no skills"), PromptIntake::Any),
        agent("deaf", None, PromptIntake::Unread),
        agent("brief", None, PromptIntake::AtMost { bytes: 100 }),
        agent("narrow", None, PromptIntake::AtMost { bytes: 1000 }),
    ];
    let calling = AgentChoice { needs_model: true, ..agent("calling", None, PromptIntake::Any) };
    let agents = agents.into_iter().chain([calling]).collect();
    let upstreams = vec![UpstreamChoice { name: "bare".to_owned(), scripted: false }];
    let config = OpsConfig {
        agents,
        upstreams,
        unusable_upstreams: vec![("keyless".to_owned(), "the environment variable K is not set".to_owned())],
        priced: Priced::new(Arc::new(|model| model == "dear")),
        upload_limit: 1 << 20,
        ..OpsConfig::default()
    };
    Ops::new(Store::temp().await.unwrap(), Arc::new(|| Timestamp(1_772_323_200_000)), config)
}

async fn request(ops: &Ops) -> PlanRequest {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let tasks = ops.add_task_folders(&[examples.join("tasks")], domain::task::DataVersion::Auto).await.unwrap();
    let skills = ops.upload_skills("me", Upload::Path(examples.join("skills/bookkeeping-conventions"))).await.unwrap();
    PlanRequest {
        title: String::new(),
        skills: skills.accepted.iter().map(|skill| skill.version_id).collect(),
        baseline: BaselineRequest::NoSkill,
        distractors: Vec::new(),
        tasks: tasks.accepted.iter().map(|task| task.id).collect(),
        task_set: None,
        agent: String::new(),
        model: String::new(),
        upstream: String::new(),
        repeats: 1,
        concurrency: 1,
        seed: Some(1),
        timeout_multiplier: 1.0,
        token_cap: None,
        rebuild_images: false,
        spending: SpendingCaps::default(),
        skill_delivery: SkillDelivery::Discovered,
        network: NetworkChoice::default(),
        agent_seconds: None,
        verifier_seconds: None,
        stop: StopRule::default(),
    }
}

#[tokio::test]
async fn an_agent_is_refused_for_what_it_cannot_do() {
    let ops = ops().await;
    let request = request(&ops).await;
    let (discovered, in_prompt) = (SkillDelivery::Discovered, SkillDelivery::InPrompt);
    for (agent, skill_delivery, want) in [
        ("blind", discovered, Err("it looks for no skills")),
        ("blind", in_prompt, Ok("blind 1 + skills in the prompt")),
        ("deaf", discovered, Ok("deaf 1")),
        ("deaf", in_prompt, Err("reads no prompt")),
        ("brief", discovered, Err("takes at most 100")),
        ("narrow", discovered, Ok("narrow 1")),
        ("narrow", in_prompt, Err("bytes of skills, and the agent 'narrow' takes at most 1000")),
    ] {
        let request = PlanRequest { agent: agent.to_owned(), skill_delivery, ..request.clone() };
        let got = ops.resolve(&request).await.map(|plan| plan.agent.title());
        match (got, want) {
            (Ok(title), Ok(want)) => assert_eq!(title, want),
            (Err(OpsError::Invalid { message, .. }), Err(want)) => {
                assert!(message.contains(want), "{agent}: {message}")
            }
            (got, want) => panic!("{agent} {skill_delivery:?}: {got:?}, not {want:?}"),
        }
    }
}

#[tokio::test]
async fn a_network_that_a_phase_cannot_work_in_is_refused() {
    let ops = ops().await;
    let plain = PlanRequest { agent: "inside".into(), ..request(&ops).await };
    let chosen = |agent: &str, verifier: &str| {
        let policy = |word: &str| (!word.is_empty()).then(|| word.parse().unwrap());
        PlanRequest { network: NetworkChoice { agent: policy(agent), verifier: policy(verifier) }, ..plain.clone() }
    };
    for (agent, verifier, part) in
        [("none", "", "choose model-only"), ("", "model-only", "the verifier has no way to a model")]
    {
        let refused = ops.resolve(&chosen(agent, verifier)).await.unwrap_err().to_string();
        assert!(refused.contains(part), "{agent} {verifier}: {refused}");
    }
    let request = chosen("model-only", "allow:a.org:8443");
    assert_eq!(ops.resolve(&request).await.unwrap().settings.network, request.network);
    let found = ops.plan(&request).await.unwrap().findings;
    let codes: Vec<&str> =
        found.iter().filter(|finding| finding.file == "network").map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["network_changed", "network_opened"], "the tasks have no network: {found:?}");
    let outside = PlanRequest { agent: "narrow".into(), ..chosen("none", "none") };
    assert!(ops.resolve(&outside).await.is_ok());
}

/// An upstream that comes from the environment lists no models: any can be asked for by name.
#[tokio::test]
async fn a_model_is_asked_of_an_upstream_that_is_there() {
    let ops = ops().await;
    let plain = PlanRequest { agent: "calling".into(), ..request(&ops).await };
    for (upstream, model, want) in [
        ("bare", "m", Ok("m")),
        ("bare", "", Err("name a model that the upstream 'bare' serves")),
        ("", "m", Err("name an upstream and a model; there are: bare")),
        ("bear", "m", Err("there is no upstream 'bear'; there are: bare")),
        ("keyless", "m", Err("the upstream 'keyless' cannot be asked: the environment variable K is not set")),
        ("", "", Err("there are: bare, and 'keyless' cannot be asked: the environment variable K is not set")),
    ] {
        let asked = PlanRequest { upstream: upstream.into(), model: model.into(), ..plain.clone() };
        match (ops.resolve(&asked).await, want) {
            (Ok(plan), Ok(want)) => assert_eq!(plan.model.unwrap().name, want),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{upstream}/{model}: {error}"),
            (got, want) => panic!("{upstream}/{model}: {got:?}, not {want:?}"),
        }
    }
}

#[tokio::test]
async fn money_is_capped_only_where_it_can_be_counted() {
    let ops = ops().await;
    let plain = request(&ops).await;
    let (trial, all) = (Some(1.0), Some(1.0));
    for (agent, model, trial_money, evaluation_money, refused) in [
        ("calling", "m", trial, None, true),
        ("calling", "m", None, all, true),
        ("calling", "m", None, None, false),
        ("calling", "dear", trial, all, false),
        ("inside", "", trial, all, false),
    ] {
        let spending = SpendingCaps { trial_money, evaluation_money, ..SpendingCaps::default() };
        let asked = PlanRequest {
            agent: agent.into(),
            upstream: "bare".into(),
            model: model.into(),
            spending,
            ..plain.clone()
        };
        match ops.plan(&asked).await {
            Ok(_) => assert!(!refused, "{agent} {model:?} {spending:?}"),
            Err(error) => assert!(refused && error.to_string().contains("the price of the model 'm'"), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_stop_that_would_end_it_before_it_began_is_refused() {
    let ops = ops().await;
    let eight = PlanRequest { agent: "inside".into(), ..request(&ops).await };
    let five = PlanRequest { tasks: eight.tasks[..5].to_vec(), ..eight.clone() };
    let futility = StopRule { futility: true, ..StopRule::default() };
    let refused = ops.plan(&PlanRequest { stop: futility, ..five.clone() }).await.unwrap_err().to_string();
    assert!(
        refused.contains("with 5 tasks no outcome could be told from chance") && refused.contains("take 6"),
        "{refused}"
    );
    assert!(ops.plan(&PlanRequest { stop: futility, ..eight }).await.is_ok());
    assert!(ops.plan(&five).await.is_ok());
}

#[tokio::test]
async fn times_that_no_clock_can_count_are_refused() {
    let ops = ops().await;
    let plain = PlanRequest { agent: "inside".into(), ..request(&ops).await };
    let spending = |trial_seconds, evaluation_seconds| SpendingCaps {
        trial_seconds,
        evaluation_seconds,
        ..SpendingCaps::default()
    };
    for seconds in [0, 604_801, u64::MAX] {
        for asked in [
            PlanRequest { agent_seconds: Some(seconds), ..plain.clone() },
            PlanRequest { verifier_seconds: Some(seconds), ..plain.clone() },
            PlanRequest { spending: spending(Some(seconds), None), ..plain.clone() },
            PlanRequest { spending: spending(None, Some(seconds)), ..plain.clone() },
        ] {
            let refused = ops.plan(&asked).await.unwrap_err().to_string();
            assert!(refused.contains("must be from 1 to 604800"), "{refused}");
        }
    }
    for timeout_multiplier in [0.0, -1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY] {
        let refused = ops.plan(&PlanRequest { timeout_multiplier, ..plain.clone() }).await.unwrap_err().to_string();
        assert!(refused.contains("from 0.1 to 20"), "{refused}");
    }
    assert!(ops.plan(&PlanRequest { agent_seconds: Some(604_800), timeout_multiplier: 20.0, ..plain }).await.is_ok());
}
