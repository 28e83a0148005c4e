//! Real agents against a provider that fails, a model that declines, and limits that they run into: whatever an agent makes of it in its
//! words and exit codes, each ends in its own class (design §5.3), and before the task's limit of 170 s, or at the limit that is meant. The
//! gateway bears an outage for 2 s here; the agents' own tries come on top.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod agents_support;

use agents_support::{Bench, Ended};
use domain::condition::Condition;
use domain::verdict::{FailReason, InfraClass, Verdict};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

/// Trials at the same time.
const TOGETHER: usize = 3;

/// How a trial must end.
#[derive(Clone, Copy)]
enum Class {
    /// Not scored; the words that must occur.
    Provider(&'static str),
    /// Not scored, and not tried again; the words that must occur.
    Denied(&'static str),
    Refused,
    OutOfMemory,
    /// Stopped at this limit, in milliseconds.
    Deadline(u64),
}

/// What an agent that must run into its limit gets of its 170 s.
const SHORT: f64 = 0.1;

/// Fills the container's memory after it has made the agent's own processes the ones to be killed for it.
const EAT: &str = "for p in /proc/[0-9]*; do case \"$(readlink $p/exe)\" in /opt/agents/*) echo 1000 >$p/oom_score_adj;; esac; done; \
                   head -c 4G /dev/zero | tail";

/// Name, what the model does from its first answer on, and how that must end.
fn cases() -> Vec<(&'static str, Value, Class)> {
    let error = |status: u16, kind: &str| json!([{"error": {"status": status, "type": kind, "message": "planted"}}]);
    let runs = |command: &str| json!({"tools": [{"name": "bash", "input": {"command": command}}]});
    let fault = |fault: &str| json!([{"text": "Half of an answer that never ends.", "fault": fault}]);
    vec![
        ("e401", error(401, "authentication_error"), Class::Denied("401")),
        ("e429", error(429, "rate_limit_error"), Class::Provider("429")),
        ("e500", error(500, "api_error"), Class::Provider("500")),
        ("e529", error(529, "overloaded_error"), Class::Provider("529")),
        ("unreachable", fault("unreachable"), Class::Provider("cannot be reached")),
        ("hang", fault("hang"), Class::Provider("sent nothing")),
        ("cut", fault("cut"), Class::Provider("cut off")),
        ("refusal", json!([{"text": "I will not.", "stop_reason": "refusal"}]), Class::Refused),
        // Whatever the agent's own patience with a command is: the model has it wait for more.
        ("memory", json!([runs(EAT), runs("tail -f /dev/null")]), Class::OutOfMemory),
        ("deadline", json!([runs("tail -f /dev/null")]), Class::Deadline(17_000)),
        (
            "later",
            json!([runs("ls"), {"error": {"status": 529, "type": "overloaded_error", "message": "planted"}}]),
            Class::Provider("529"),
        ),
    ]
}

fn check(agent: &str, name: &str, class: Class, ended: &Ended) {
    let verdict = &ended.result.verdict;
    let is_right = match (class, verdict) {
        (Class::Provider(words), Verdict::InfraError { class: InfraClass::Provider, message }) => {
            message.contains(words)
        }
        (Class::Denied(words), Verdict::InfraError { class: InfraClass::ProviderDenied, message }) => {
            message.contains(words)
        }
        (Class::Refused, Verdict::Fail { reason: FailReason::Refused }) => true,
        (Class::Deadline(limit), Verdict::Fail { reason: FailReason::TimedOut { limit_ms } }) => *limit_ms == limit,
        (Class::OutOfMemory, Verdict::Fail { reason: FailReason::OutOfMemory { limit_mb } }) => *limit_mb == 2048,
        _ => false,
    };
    assert!(is_right, "{agent}, {name}: {verdict:?}\n{}\n{:#?}", ended.log, ended.result.findings);
    assert!(ended.result.phases.agent.unwrap() < 170_000, "{agent}, {name}: it was stopped at its limit");
}

async fn all(agent: &str) {
    let rules: Vec<Value> = cases()
        .into_iter()
        .map(|(name, turns, _)| json!({"when": {"task_contains": format!("Count the {name} of")}, "turns": turns}))
        .collect();
    let side = json!({"turns": [{"text": "A title"}]});
    let model = json!({"schema": "skilldelta-model-1", "rules": rules.into_iter().chain([side]).collect::<Vec<_>>()});
    let Some(bench) = Bench::new(agent, &model, "").await else { return };
    let trials = stream::iter(cases()).map(|(name, _, class)| {
        let bench = &bench;
        async move {
            let ended = match class {
                Class::Deadline(_) => bench.hurried_trial(name, SHORT).await,
                _ => bench.trial(name, 1, Condition::NoSkill).await,
            };
            (name, class, ended)
        }
    });
    let ended: Vec<_> = trials.buffer_unordered(TOGETHER).collect().await;
    for (name, class, ended) in &ended {
        check(agent, name, *class, ended);
    }
    bench.finish().await;
}

#[tokio::test]
async fn claude_code() {
    all("claude-code").await;
}

#[tokio::test]
async fn codex() {
    all("codex").await;
}
