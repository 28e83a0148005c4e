//! The other agents that install here and discover skills, each in both arms against the same scripted model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod agents_support;

use agents_support::{Bench, DESCRIPTION, Ended, script};
use domain::condition::Condition;
use domain::plan::SkillDelivery;
use domain::trace::Source;
use domain::usage::TokenUsage;
use serde_json::{Value, json};

/// What an agent shows of the use of a skill.
struct Shows {
    /// Tools of the with-skill arm, as the agent calls them; `None` where its record does not hold them.
    calls: Option<[&'static str; 2]>,
    /// Calls beside the task's own, such as for a title.
    side_calls: u64,
    /// Whether its record proves that the skill was opened.
    opened: Option<bool>,
}

/// Both arms of both tasks. The scripted turns cost the same for every agent; what the provider has no class for is in its input.
async fn check(agent: &str, shows: Shows) {
    let Some(bench) = Bench::new(agent, &script(), "").await else { return };
    for (animal, answer) in [("sheep", 42), ("goats", 43)] {
        let without = bench.trial(animal, answer, Condition::NoSkill).await;
        let with = bench.trial(animal, answer, Condition::WithSkill).await;
        assert!(with.passed(), "{agent}: {}\n{:#?}", with.log, with.result);
        assert!(!without.passed(), "{agent}: {}", without.log);
        let (seen, absent) = (&with.result.activation, &without.result.activation);
        assert_eq!((seen.listed, seen.opened), (Some(true), shows.opened), "{agent}: {:?}", with.calls());
        assert_eq!(absent.listed, Some(false), "{agent}");
        assert_ne!(absent.opened, Some(true), "{agent}");
        if let Some(calls) = shows.calls {
            assert_eq!(with.calls(), calls, "{agent}");
        }
        assert_eq!(with.result.model_calls, Some(3 + shows.side_calls), "{agent}: {}", with.log);
        assert_eq!(without.result.model_calls, Some(2 + shows.side_calls), "{agent}");
        if shows.side_calls == 0 {
            assert_eq!(all(&with.result.usage), (36 + 1230 + 2200, 66), "{agent}");
            assert_eq!(all(&without.result.usage), (29 + 940 + 900, 49), "{agent}");
        }
        assert!(with.finding("agent_preflight").is_some() && with.finding("agent_tree").is_some(), "{agent}");
    }
    bench.finish().await;
}

/// Prompt and output.
fn all(usage: &TokenUsage) -> (u64, u64) {
    let prompt = [usage.input, usage.cache_read, usage.cache_write].map(Option::unwrap_or_default).iter().sum();
    (prompt, usage.output.unwrap())
}

#[tokio::test]
async fn codex() {
    check(
        "codex",
        Shows { calls: Some(["command_execution", "command_execution"]), side_calls: 0, opened: Some(true) },
    )
    .await;
}

#[tokio::test]
async fn opencode() {
    check("opencode", Shows { calls: Some(["skill", "bash"]), side_calls: 1, opened: Some(true) }).await;
}

#[tokio::test]
async fn gemini_cli() {
    check(
        "gemini-cli",
        Shows { calls: Some(["activate_skill", "run_shell_command"]), side_calls: 0, opened: Some(true) },
    )
    .await;
}

#[tokio::test]
async fn qwen_code() {
    check("qwen-code", Shows { calls: Some(["skill", "run_shell_command"]), side_calls: 0, opened: Some(true) }).await;
}

#[tokio::test]
async fn openclaw() {
    check("openclaw", Shows { calls: None, side_calls: 0, opened: Some(true) }).await;
}

fn bash(command: &str) -> Value {
    json!({"name": "bash", "input": {"command": command}})
}

#[tokio::test]
async fn openhands() {
    check("openhands", Shows { calls: Some(["invoke_skill", "terminal"]), side_calls: 0, opened: Some(true) }).await;
}

/// It discovers no skills: it is refused for them with the reason, and works without.
#[tokio::test]
async fn mini_swe_agent() {
    let model = json!({"schema": "skilldelta-model-1", "rules": [{"turns": [
        {"text": "I count.", "tools": [bash("printf 42 > answer.txt")], "usage": {"input": 100, "cache_read": 0, "cache_write": 0, "output": 7}},
        {"text": "Done.", "tools": [bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")], "usage": {"input": 120, "cache_read": 100, "cache_write": 0, "output": 8}},
    ]}]});
    let Some(bench) = Bench::new("mini-swe-agent", &model, "").await else { return };
    for condition in [Condition::NoSkill, Condition::WithSkill] {
        let refused = bench.trial("sheep", 42, condition).await;
        let verdict = format!("{:?}", refused.result.verdict);
        assert!(verdict.contains("looks for no skills") && refused.result.verdict.scored().is_none(), "{verdict}");
        assert_eq!(refused.result.model_calls, None);
    }
    let plain = bench.plain_trial("sheep", 42).await;
    assert!(plain.passed(), "{}\n{:#?}", plain.log, plain.result);
    assert_eq!(plain.calls(), ["bash", "bash"], "{:#?}", plain.trace);
    assert_eq!((all(&plain.result.usage), plain.result.model_calls), ((320, 15), Some(2)));
    bench.finish().await;
}

/// Where it is chosen, the skill stands in the prompt of its arm alone, and its files lie where no agent looks.
#[tokio::test]
async fn mini_swe_agent_with_skills_in_its_prompt() {
    let submit = bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT");
    let turns = |command: &str| json!([{"tools": [bash(command)]}, {"text": "Done.", "tools": [submit.clone()]}]);
    let model = json!({"schema": "skilldelta-model-1", "rules": [
        {"when": {"skill_listed": DESCRIPTION, "task_contains": "The sheep of the picture are 42."}, "turns": turns("ls ~/.skills/*/* && printf 42 > answer.txt")},
        {"when": {"task_contains": "Count the sheep"}, "turns": turns("ls -d ~/.skills || printf 7 > answer.txt")},
    ]});
    let Some(mut bench) = Bench::new("mini-swe-agent", &model, "").await else { return };
    bench.delivery = SkillDelivery::InPrompt;
    let with = bench.trial("sheep", 42, Condition::WithSkill).await;
    let without = bench.trial("sheep", 42, Condition::NoSkill).await;
    assert!(with.passed() && !without.passed(), "{}\n{}", with.log, without.log);
    let prompt =
        |ended: &Ended| ended.trace.steps.iter().find(|step| step.source == Source::User).unwrap().text.clone();
    assert_eq!(prompt(&without).trim_end(), "Count the sheep of the picture and write their number to answer.txt.");
    assert!(prompt(&with).contains(DESCRIPTION) && prompt(&with).ends_with(&prompt(&without)), "{}", prompt(&with));
    let found = |ended: &Ended| ended.result.audit.clone().unwrap().found;
    assert_eq!(found(&with).first().unwrap().path, "/root/.skills/count-animals/SKILL.md");
    assert_eq!(found(&without), []);
    let listed = |ended: &Ended| (ended.result.activation.listed, ended.result.activation.skill_text.is_some());
    assert_eq!((listed(&with), listed(&without)), ((Some(true), true), (Some(false), false)));
    assert!(with.finding("skills_in_prompt").is_some() && without.finding("skills_in_prompt").is_none());
    bench.finish().await;
}

/// A task longer than any argument can be (128 KiB) is given whole all the same, or refused before a token is
/// spent.
async fn long_task(agent: &str, is_taken: bool) {
    let model = json!({"schema": "skilldelta-model-1", "rules": [
        {"when": {"task_contains": ["Count the sheep", "THE-END-OF-IT"]}, "turns": [{"tools": [bash("printf 42 > answer.txt")]}, {"text": "Done."}]},
        {"turns": [{"text": "A title"}]},
    ]});
    let Some(mut bench) = Bench::new(agent, &model, "").await else { return };
    // One of those that refuse it looks for no skills.
    bench.delivery = if is_taken { SkillDelivery::Discovered } else { SkillDelivery::InPrompt };
    let more = format!("\n{}\nTHE-END-OF-IT\n", "A line of a long list of remarks.\n".repeat(6000));
    let ended = bench.long_trial("sheep", 42, &more).await;
    if is_taken {
        assert!(ended.passed(), "{agent}: {}\n{:#?}", ended.log, ended.result);
    } else {
        let verdict = format!("{:?}", ended.result.verdict);
        assert!(verdict.contains("takes at most") && ended.result.verdict.scored().is_none(), "{agent}: {verdict}");
        assert_eq!(ended.result.model_calls, Some(0));
    }
    bench.finish().await;
}

#[tokio::test]
async fn long_tasks_are_given_whole_or_refused() {
    for agent in ["claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "openhands"] {
        long_task(agent, true).await;
    }
    for agent in ["openclaw", "mini-swe-agent"] {
        long_task(agent, false).await;
    }
}
