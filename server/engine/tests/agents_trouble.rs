//! How runs of real agents end that do not end well: each in its own class, within its time, whatever the agent says of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod agents_support;

use agents_support::{Bench, Ended, script};
use domain::condition::Condition;
use domain::verdict::{FailReason, InfraClass, Verdict};
use serde_json::{Value, json};

/// A model that answers every request with an error.
fn failing(status: u16, kind: &str) -> Value {
    let error = json!({"status": status, "type": kind, "message": "planted"});
    json!({"schema": "skilldelta-model-1", "rules": [{"turns": [{"error": error}]}]})
}

/// A model that has one command run, and then is done.
fn runs(command: &str) -> Value {
    json!({"schema": "skilldelta-model-1", "rules": [{"turns": [
        {"text": "I run it.", "tools": [{"name": "bash", "input": {"command": command}}]},
        {"text": "Done."},
    ]}]})
}

/// One trial without the skill, in which the agent has 170 s times `time`.
async fn trial(model: &Value, time: f64) -> Option<Ended> {
    let mut bench = Bench::new("claude-code", model, "").await?;
    bench.time = time;
    let ended = bench.trial("sheep", 42, Condition::NoSkill).await;
    bench.finish().await;
    Some(ended)
}

/// Enough for an agent to start, and short enough for a test that waits for the limit.
const SHORT: f64 = 0.15;

/// What no later try can mend is told at once, and is not the agent's fault.
#[tokio::test]
async fn a_provider_that_refuses_the_key_is_an_infra_error() {
    let Some(ended) = trial(&failing(401, "authentication_error"), 1.0).await else { return };
    let Verdict::InfraError { class: InfraClass::ProviderDenied, message } = &ended.result.verdict else {
        panic!("{:?}\n{}", ended.result.verdict, ended.log)
    };
    assert!(message.contains("401"), "{message}");
}

#[tokio::test]
async fn a_request_that_the_provider_finds_wrong_is_the_agents_own() {
    let Some(ended) = trial(&failing(400, "invalid_request_error"), 1.0).await else { return };
    let reason = match &ended.result.verdict {
        Verdict::Fail { reason: FailReason::AgentError { message } } => message.clone(),
        other => panic!("{other:?}\n{}", ended.log),
    };
    assert!(reason.contains("400") || reason.contains("planted"), "{reason}");
}

#[tokio::test]
async fn an_agent_that_does_not_end_is_stopped_at_its_limit() {
    let Some(ended) = trial(&runs("tail -f /dev/null"), SHORT).await else { return };
    assert!(
        matches!(ended.result.verdict, Verdict::Fail { reason: FailReason::TimedOut { .. } }),
        "{:?}",
        ended.result.verdict
    );
    assert!(ended.trace.steps.iter().any(|step| step.text == "I run it."), "what was done up to then is kept");
    assert_eq!(ended.result.model_calls, Some(1));
}

/// While the provider fails nobody is slow but the provider.
#[tokio::test]
async fn an_outage_until_the_limit_is_not_the_agents_slowness() {
    let Some(ended) = trial(&failing(529, "overloaded_error"), SHORT).await else { return };
    let Verdict::InfraError { class: InfraClass::Provider, message } = &ended.result.verdict else {
        panic!("{:?}\n{}", ended.result.verdict, ended.log)
    };
    assert!(message.contains("529"), "{message}");
}

/// What an agent has written must not ask the model while it is judged.
#[tokio::test]
async fn the_way_to_the_model_is_shut_before_the_verifier_starts() {
    let ask =
        "exec 3<>/dev/tcp/127.0.0.1/8420 && printf 'HEAD / HTTP/1.0\\r\\n\\r\\n' >&3 && head -c 4 <&3 | grep -q HTTP";
    let Some(bench) = Bench::new("claude-code", &runs(&format!("bash -c \"{ask}\" && touch asked")), "").await else {
        return;
    };
    let ended = bench.trial_judged_by(&format!("test -e asked && ! timeout 10 bash -c \"{ask}\"")).await;
    assert!(ended.passed(), "{}\n{:#?}", ended.log, ended.trace);
    bench.finish().await;
}

/// A user without rights works in the same tree, with a home of its own.
#[tokio::test]
async fn an_agent_runs_as_an_ordinary_user() {
    let skill_file = "/home/tester/.claude/skills/count-animals/SKILL.md";
    let Some(bench) = Bench::new("claude-code", &script(), "user = \"tester\"").await else { return };
    let with = bench.trial("sheep", 42, Condition::WithSkill).await;
    assert!(with.passed(), "{}\n{:#?}", with.log, with.result);
    assert_eq!(with.result.activation.files_read, [skill_file]);
    assert!(
        with.finding("agent_preflight").unwrap().ends_with("home /home/tester"),
        "{:?}",
        with.finding("agent_preflight")
    );
    bench.finish().await;
}
