//! The interchange format: what goes out comes in again, and older versions are read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::time::Timestamp;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, Trace, TraceStep};
use domain::usage::TokenUsage;
use formats::trace::atif::{Actor, to_atif};
use formats::trace::{Reading, TraceFormat, read};
use serde_json::{Value, json};

fn parse(file: &Value) -> Reading {
    read(TraceFormat::Atif, file.to_string().as_bytes())
}

fn actor() -> Actor {
    Actor {
        agent: "claude-code".to_owned(),
        version: "2.1".to_owned(),
        model: Some("model-x".to_owned()),
        session: Some("s-1".to_owned()),
    }
}

fn trace() -> Trace {
    let usage = TokenUsage { input: Some(3), cache_read: Some(20), cache_write: Some(7), output: Some(5) };
    let call = |id: &str, result| ToolCall {
        id: id.to_owned(),
        tool: ToolKind::Shell,
        name: "Bash".to_owned(),
        arguments: json!({"command": "ls"}),
        result,
    };
    let result = ToolResult { text: "a\nb".to_owned(), exit_code: Some(2), is_error: true, duration_ms: Some(12) };
    let agent = TraceStep {
        at: Some(Timestamp(1_772_357_400_000)),
        reasoning: Some("hm".to_owned()),
        calls: vec![call("c1", Some(result)), call("c2", None)],
        usage: Some(usage),
        ..TraceStep::said(Source::Agent, "I look.")
    };
    let aside = TraceStep { aside: true, ..TraceStep::said(Source::System, "npm notice") };
    let sub = TraceStep { parent: Some("c2".to_owned()), ..TraceStep::said(Source::Agent, "sub") };
    Trace { steps: vec![TraceStep::said(Source::User, "task"), agent, aside, sub] }
}

#[test]
fn a_trace_that_goes_out_comes_in_as_it_was() {
    let total = TokenUsage { input: Some(10), cache_read: Some(20), cache_write: Some(7), output: Some(6) };
    let file = to_atif(&trace(), &actor(), Some(&total)).unwrap();
    assert_eq!(file["schema_version"], "ATIF-v1.8");
    assert_eq!(file["steps"][1]["metrics"]["prompt_tokens"], 30, "the prompt with what the cache served and took");
    let back = parse(&file);
    assert_eq!(back.trace, trace());
    assert_eq!(back.usage.tokens, total);
    assert_eq!((back.version.as_deref(), back.model.as_deref()), (Some("2.1"), Some("model-x")));
    assert_eq!(back.notes, Vec::<String>::new());
    assert!(to_atif(&Trace::default(), &actor(), None).is_none());
}

/// Only the fields that the format has may be there: its reader elsewhere refuses any other.
#[test]
fn no_field_goes_out_that_the_format_does_not_have() {
    let file = to_atif(&trace(), &actor(), None).unwrap();
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let within = |value: &Value, known: &[&str]| {
        let unknown: Vec<String> = fields(value).into_iter().filter(|name| !known.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    };
    within(&file, &["schema_version", "session_id", "agent", "steps", "final_metrics", "extra"]);
    within(&file["agent"], &["name", "version", "model_name", "extra"]);
    for (step, number) in file["steps"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(step["step_id"], number);
        let common = ["step_id", "timestamp", "source", "message", "extra"];
        let agents = ["reasoning_content", "tool_calls", "observation", "metrics"];
        let known = if step["source"] == "agent" { [&common[..], &agents[..]].concat() } else { common.to_vec() };
        within(step, &known);
    }
    within(&file["steps"][1]["tool_calls"][0], &["tool_call_id", "function_name", "arguments", "extra"]);
    within(&file["steps"][1]["observation"]["results"][0], &["source_call_id", "content", "extra"]);
}

#[test]
fn older_versions_and_parts_are_read() {
    for minor in 2..=8 {
        let file = json!({
            "schema_version": format!("ATIF-v1.{minor}"),
            "agent": {"name": "x", "version": "1"},
            "steps": [
                {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "look"}, {"type": "image"}]},
                {"step_id": 2, "source": "agent", "message": "", "metrics": {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4},
                 "tool_calls": [{"tool_call_id": "a", "function_name": "bash_command", "arguments": {"keystrokes": "ls"}}],
                 "observation": {"results": [{"source_call_id": "a", "content": "ok"}, {"content": "unasked"}]}},
            ],
        });
        let got = parse(&file);
        assert_eq!(got.notes, Vec::<String>::new(), "v1.{minor}");
        assert_eq!(got.trace.steps[0].text, "look\n\n[image]");
        assert_eq!(got.trace.steps[1].calls[0].tool, ToolKind::Shell);
        assert_eq!(got.trace.steps[2].text, "unasked");
        let want = TokenUsage { input: Some(5), cache_read: Some(4), cache_write: Some(0), output: Some(2) };
        assert_eq!((got.usage.tokens, got.model_calls), (want, Some(1)));
    }
    let strange = parse(&json!({"schema_version": "ATIF-v2.0", "steps": [{"source": "user", "message": "x"}]}));
    assert_eq!(strange.notes.len(), 1);
    assert_eq!(strange.trace.steps.len(), 1);
}

/// terminus-2 writes a bare list under the same file name.
#[test]
fn a_bare_list_of_episodes_is_read() {
    let file = json!([
        {"episode": 0, "prompt": "task", "response": "ls"},
        {"episode": 1, "prompt": "a b", "response": "done"},
    ]);
    let got = parse(&file);
    let said: Vec<_> = got.trace.steps.iter().map(|step| (step.source, step.text.as_str())).collect();
    let (user, agent) = (Source::User, Source::Agent);
    assert_eq!(said, [(user, "task"), (agent, "ls"), (user, "a b"), (agent, "done")]);
    assert_eq!((got.usage.tokens, got.counts.unreadable), (TokenUsage::UNKNOWN, 0), "no tokens stand in it");
    for other in [json!([1]), json!([{"episode": 0}]), json!("x")] {
        assert_eq!(parse(&other).counts.unreadable, 1, "{other}");
    }
}
