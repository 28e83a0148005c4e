//! Troubles that others met with agents' records: each file in the folder of known cases is read to what its `expect.json` says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::PathBuf;

use formats::trace::{Counts, Reading, TraceFormat, TraceReader, read};
use serde_json::Value;

fn cases() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no folder of known cases at {}", folder.display());
    None
}

/// Reads a file of a case, in pieces of several sizes, which must make no difference.
fn case(format: TraceFormat, file: &str) -> Option<(Reading, Value)> {
    let folder = cases()?;
    let bytes = std::fs::read(folder.join(file)).unwrap();
    let whole = read(format, &bytes);
    for size in [1, 7, 4096] {
        let mut reader = TraceReader::new(format);
        bytes.chunks(size).for_each(|piece| reader.push(piece));
        assert_eq!(reader.finish(), whole, "{file} in pieces of {size}");
    }
    let expect = folder.join(file).with_file_name("expect.json");
    let expect = std::fs::read(expect).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    Some((whole, expect))
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64()
}

#[test]
fn t01_one_message_in_several_lines_is_counted_once() {
    let Some((got, want)) = case(TraceFormat::ClaudeStream, "T01/stream.jsonl") else { return };
    let tokens = got.usage.tokens;
    assert_eq!(tokens.input, number(&want["input"]));
    assert_eq!(tokens.cache_write, number(&want["cache_write"]));
    assert_eq!(tokens.cache_read, number(&want["cache_read"]));
    assert_eq!(tokens.output, number(&want["output"]));
    assert_eq!(got.usage.total, number(&want["total"]));
    assert_eq!(got.usage.cost_usd, want["cost_usd"].as_f64());
    assert_eq!(got.trace.tool_calls() as u64, want["tool_calls"].as_u64().unwrap());
    assert_eq!((got.trace.turns(), got.model_calls), (2, Some(2)));
    assert_eq!(got.trace.steps[0].reasoning.as_deref(), Some("..."));
    assert_eq!(got.notes, Vec::<String>::new());
}

#[test]
fn t03_the_summary_is_not_added_to_its_parts() {
    let Some((got, want)) = case(TraceFormat::ClaudeStream, "T03/partial.jsonl") else { return };
    assert_eq!(got.usage.tokens.input, number(&want["input"]));
    assert_eq!(got.usage.tokens.output, number(&want["output"]));
    assert_eq!(got.calls.iter().map(|call| call.usage.output).collect::<Vec<_>>(), [Some(120), Some(60)]);
    assert_eq!(got.notes, Vec::<String>::new());
}

#[test]
fn t04_a_killed_run_has_at_least_the_input_and_no_known_output() {
    let Some((got, want)) = case(TraceFormat::ClaudeStream, "T04/killed.jsonl") else { return };
    assert_eq!(got.usage.tokens.input, number(&want["input"]));
    assert_eq!(got.usage.tokens.output, None);
    assert_eq!(got.usage.total, None);
    assert_eq!(Some(got.usage.at_least), want["partial"].as_bool());
    assert_eq!(got.usage.cost_usd, None);
    assert_eq!(got.notes, ["last line incomplete"]);
}

#[test]
fn t06_sub_agents_are_neither_left_out_nor_counted_twice() {
    for (file, name) in [("T06/sub.jsonl", "sub"), ("T06/rollup-only.jsonl", "rollup-only")] {
        let Some((got, want)) = case(TraceFormat::ClaudeStream, file) else { return };
        let want = &want[name];
        let sub = got.usage.sub_agents.unwrap();
        assert_eq!(got.usage.tokens.total(), number(&want["main"]), "{file}");
        assert_eq!(sub.total, number(&want["subagents"]), "{file}");
        assert_eq!(got.usage.total, number(&want["total"]), "{file}");
        assert_eq!(sub.from_roll_up, want["from_rollup"].as_bool().unwrap_or(false), "{file}");
        let by_sub_agent = got.trace.steps.iter().filter(|step| step.parent.as_deref() == Some("u9")).count();
        assert_eq!(by_sub_agent, if name == "sub" { 2 } else { 0 });
    }
}

#[test]
fn t07_running_totals_are_not_summed() {
    let Some((got, want)) = case(TraceFormat::CodexRollout, "T07/rollout.jsonl") else { return };
    let tokens = got.usage.tokens;
    assert_eq!(tokens.input, number(&want["input"]));
    assert_eq!(tokens.cache_read, number(&want["cache_read"]));
    assert_eq!(tokens.output, number(&want["output"]));
    assert_eq!(got.usage.reasoning, number(&want["reasoning"]));
    assert_eq!(got.usage.total, number(&want["total"]));
    assert_eq!(got.model_calls, Some(2));
}

#[test]
fn t09_unknown_is_not_zero() {
    let Some((got, want)) = case(TraceFormat::OpenHands, "T09/accumulated.json") else { return };
    let want = &want["accumulated"];
    assert_eq!(got.usage.tokens.input, number(&want["input"]));
    assert_eq!(got.usage.tokens.cache_read, number(&want["cache_read"]));
    assert_eq!(got.usage.tokens.output, number(&want["output"]));
    let (got, _) = case(TraceFormat::OpenHands, "T09/unknown-shape.json").unwrap();
    assert_eq!((got.usage.tokens, got.usage.total), (domain::usage::TokenUsage::UNKNOWN, None));
    let (got, _) = case(TraceFormat::OpenHands, "T09/total-only.json").unwrap();
    assert_eq!((got.usage.tokens, got.usage.total), (domain::usage::TokenUsage::UNKNOWN, Some(1000)));
    let (got, _) = case(TraceFormat::OpenHands, "T09/free.json").unwrap();
    assert_eq!(got.usage.cost_usd, Some(0.0));
    assert_eq!(got.usage.tokens.output, Some(2));
}

#[test]
fn r01_a_torn_line_leaves_the_others_readable() {
    let count = |file: &str| case(TraceFormat::ClaudeStream, file);
    let Some((torn, want)) = count("R01/torn-tail.jsonl") else { return };
    for (name, reading) in [
        ("torn-tail", &torn),
        ("bad-middle", &count("R01/bad-middle.jsonl").unwrap().0),
        ("empty", &count("R01/empty.jsonl").unwrap().0),
        ("no-newline", &count("R01/no-newline.jsonl").unwrap().0),
    ] {
        let (events, unreadable) = (want[name]["events"].as_u64(), want[name]["unreadable"].as_u64());
        assert_eq!(Some(reading.counts.events), events, "{name}");
        assert_eq!(reading.counts.unreadable, unreadable.unwrap_or(0), "{name}");
        assert_eq!(reading.notes.len() as u64, reading.counts.unreadable, "{name}");
    }
    assert_eq!(torn.notes, ["last line incomplete"]);
    let (bad, _) = count("R01/bad-middle.jsonl").unwrap();
    assert_eq!(bad.notes, ["line 2 unreadable"]);
    assert!(
        bad.trace.steps[0].aside && bad.trace.steps[0].text.contains(r#"{"type":"assistant","message":{"id":"m1""#)
    );
    assert_eq!(bad.trace.steps[1].text, "two");
    let (empty, _) = count("R01/empty.jsonl").unwrap();
    assert_eq!(empty, Reading::default());
}

/// What `R03/make.py` prints: lines around a usual buffer's size, a large one, one over the limit, and one with tokens after it.
#[test]
fn r03_lines_of_any_length_up_to_the_limit_are_read_and_the_next_one_too() {
    let mut stream = Vec::new();
    for length in [65_535, 65_536, 65_537, 3_000_000, 40_000_000] {
        let head = r#"{"type":"user","text":""#;
        stream.extend_from_slice(head.as_bytes());
        stream.extend(std::iter::repeat_n(b'x', length - head.len() - 2));
        stream.extend_from_slice(b"\"}\n");
    }
    stream.extend_from_slice(b"{\"type\":\"result\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n");
    let got = read(TraceFormat::ClaudeStream, &stream);
    assert_eq!(got.counts, Counts { events: 5, unreadable: 0, log_lines: 0, left_out: 1 });
    assert_eq!(got.notes, ["event of 40 MB left out (line 5)"]);
    assert_eq!((got.usage.tokens.input, got.usage.tokens.output), (Some(1), Some(1)));
}

#[test]
fn r04_lines_that_are_no_objects_are_kept_as_log_in_their_order() {
    let Some((got, want)) = case(TraceFormat::ClaudeStream, "R04/mixed.log") else { return };
    assert_eq!(Some(got.counts.events), want["events"].as_u64());
    assert_eq!(Some(got.counts.log_lines), want["log_lines"].as_u64());
    let said: Vec<(&str, bool)> = got.trace.steps.iter().map(|step| (step.text.as_str(), step.aside)).collect();
    let warning = "(node:7) ExperimentalWarning: something";
    let log = [
        (warning, true),
        ("npm notice new version", true),
        ("one", false),
        ("[1,2,3]", true),
        ("\"just text\"", true),
        ("two", false),
    ];
    assert_eq!(said, log);
}

#[test]
fn h17_what_was_listed_and_opened_is_told_apart() {
    for name in ["seen", "unseen", "listed-not-used"] {
        let Some((got, want)) = case(TraceFormat::ClaudeStream, &format!("H17/{name}.jsonl")) else { return };
        let has = |names: &[String]| names.iter().any(|skill| skill == "count-sheep");
        assert_eq!(Some(has(got.skills.listed.as_ref().unwrap())), want[name]["listed"].as_bool(), "{name}");
        assert_eq!(Some(has(&got.skills.opened)), want[name]["used"].as_bool(), "{name}");
    }
}
