//! A model out of a file, asked through a trial's gateway.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;

use gateway::protocol::anthropic::{Reply, ReplyReader};
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{Caps, ProviderTrouble};
use serde_json::{Value, json};
use support::{call, open, request};

const SCRIPT: &str = r#"{"schema": "skilldelta-model-1", "rules": [
  {"name": "with", "when": {"skill_listed": "Counts sheep, without falling asleep.", "task_contains": "sheep"}, "turns": [
    {"text": "I öpen the skill that I was told of, whose text is longer than a piece.",
     "tools": [{"name": "bash", "input": {"command": "cat 'SKILL.md' && echo \"✓\" | a-command-longer-than-forty-characters"}}]},
    {"text": "Done.", "usage": {"input": 7, "cache_read": 5, "cache_write": 3, "output": 2}}]},
  {"when": {"task_contains": ["count", "sheep"]}, "turns": [{"text": "I guess."}]},
  {"when": {"task_contains": "overloaded"}, "turns": [{"error": {"status": 401, "type": "authentication_error", "message": "no key"}}]}
]}"#;

fn gateway() -> gateway::TrialGateway {
    open(Arc::new(ScriptedUpstream::parse("scripted", "model.json", SCRIPT.as_bytes()).unwrap()), Caps::default())
}

fn body(system: &str, task: &str, turns: usize, stream: bool) -> String {
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": task}]})];
    for _ in 0..turns {
        messages.push(json!({"role": "assistant", "content": "…"}));
        let read = "description: Counts sheep, without falling asleep.";
        messages
            .push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": read}]}));
    }
    let tools = json!([{"name": "bash", "input_schema": {"type": "object"}}]);
    json!({"model": "m", "stream": stream, "system": system, "messages": messages, "tools": tools}).to_string()
}

async fn ask(system: &str, task: &str, turns: usize, stream: bool) -> (u16, Reply) {
    let (status, text, _) = call(&gateway(), request(&body(system, task, turns, stream))).await;
    if !stream {
        return (status.as_u16(), Reply::from_json(text.as_bytes()).unwrap());
    }
    let mut reader = ReplyReader::new();
    text.as_bytes().chunks(3).for_each(|piece| reader.push(piece));
    let (reply, finished) = reader.finish();
    assert!(finished);
    (status.as_u16(), reply)
}

#[tokio::test]
async fn the_listed_description_and_the_turns_taken_decide_in_both_forms() {
    let listed = "Skills:\n- x: Counts sheep,\n   without falling asleep.";
    for (system, turns, text, stop) in [
        (listed, 0, "I öpen the skill that I was told of, whose text is longer than a piece.", "tool_use"),
        (listed, 1, "Done.", "end_turn"),
        (listed, 9, "Done.", "end_turn"),
        ("", 0, "I guess.", "end_turn"),
        ("", 1, "I guess.", "end_turn"),
    ] {
        let (status, json) = ask(system, "count the sheep", turns, false).await;
        let (_, streamed) = ask(system, "count the sheep", turns, true).await;
        assert_eq!((status, json.text().as_str(), json.stop_reason.as_deref()), (200, text, Some(stop)));
        assert_eq!((&json.content, &json.stop_reason), (&streamed.content, &streamed.stop_reason));
    }
    let (_, reply) = ask(listed, "count the sheep", 0, true).await;
    assert_eq!(reply.content[1]["name"], "bash");
    assert!(reply.content[1]["input"]["command"].as_str().unwrap().contains("echo \"✓\""));
}

#[tokio::test]
async fn usage_is_as_given_or_a_quarter_of_the_bytes() {
    let listed = "Counts sheep, without falling asleep.";
    let (_, given) = ask(listed, "sheep", 1, true).await;
    let usage = given.usage;
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (Some(7), Some(5), Some(3), Some(2)));
    let (_, estimated) = ask("", "count sheep", 0, false).await;
    let request_bytes = body("", "count sheep", 0, false).len();
    let reply_bytes = Value::from(estimated.content.clone()).to_string().len();
    assert_eq!(estimated.usage.input, Some(request_bytes.div_ceil(4) as u64));
    assert_eq!(estimated.usage.output, Some(reply_bytes.div_ceil(4) as u64));
}

#[tokio::test]
async fn no_rule_is_a_loud_refusal_that_names_the_task() {
    let gateway = gateway();
    let (status, text, _) = call(&gateway, request(&body("", "paint\n the goats", 0, true))).await;
    assert_eq!(status.as_u16(), 404);
    assert!(text.contains("matches the task 'paint the goats'; add one"), "{text}");
    let Some(ProviderTrouble::Denied { message, .. }) = gateway.trouble() else { panic!("{:?}", gateway.trouble()) };
    assert!(message.contains("scripted model"));
}

#[test]
fn unusable_scripts_are_refused_with_their_place() {
    let rule = |rule: &str| format!(r#"{{"schema":"skilldelta-model-1","rules":[{rule}]}}"#);
    for (text, words) in [
        ("[".to_owned(), "line 1"),
        (r#"{"schema":"other","rules":[]}"#.to_owned(), "its schema is 'other'"),
        (rule(r#"{"name":"r","turns":[]}"#), "rule 1 ('r'): it has no turns"),
        (rule(r#"{"turns":[{"txet":"x"}]}"#), "txet"),
        (rule(r#"{"when":{"skill":true},"turns":[{}]}"#), "skill"),
        (rule(r#"{"when":{"task_contains":" "},"turns":[{}]}"#), "empty text"),
        (
            rule(r#"{"turns":[{"text":"x","error":{"status":500,"type":"t","message":"m"}}]}"#),
            "both an error and an answer",
        ),
        (rule(r#"{"turns":[{"error":{"status":200,"type":"t","message":"m"}}]}"#), "400..=599"),
    ] {
        let error = ScriptedUpstream::parse("s", "model.json", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("model.json: ") && error.contains(words), "{error}");
    }
}

#[test]
fn the_bundled_script_is_usable() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/model.json");
    let bytes = std::fs::read(file).unwrap();
    assert!(ScriptedUpstream::parse("scripted", file, &bytes).is_ok());
}
