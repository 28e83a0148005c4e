//! Streams recorded from real agents, read to the totals that were measured with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::PathBuf;

use domain::trace::{Source, ToolKind};
use domain::usage::TokenUsage;
use formats::trace::{Reading, ReportedEnd, TraceFormat, read};

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no recorded streams at {}", folder.display());
    None
}

fn recorded(format: TraceFormat, name: &str) -> Option<Reading> {
    let file = folder()?.join(name).join("stdout.jsonl");
    Some(read(format, &std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))))
}

fn tokens(input: u64, cache_write: u64, cache_read: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input: Some(input),
        cache_read: Some(cache_read),
        cache_write: Some(cache_write),
        output: Some(output),
    }
}

/// The calls of a trace as `tool kind: name`.
fn calls(reading: &Reading) -> Vec<String> {
    let calls = reading.trace.steps.iter().flat_map(|step| &step.calls);
    calls.map(|call| format!("{:?}: {}", call.tool, call.name)).collect()
}

fn check(format: TraceFormat, name: &str, want: TokenUsage, model_calls: Option<u64>, end: ReportedEnd) {
    let Some(got) = recorded(format, name) else { return };
    assert_eq!(got.usage.tokens, want, "{name}");
    assert_eq!(got.usage.total, want.total(), "{name}");
    assert_eq!(got.model_calls, model_calls, "{name}");
    assert_eq!(got.end, end, "{name}");
    assert_eq!(got.notes, Vec::<String>::new(), "{name}");
    let unanswered = got.trace.steps.iter().flat_map(|step| &step.calls).filter(|call| call.result.is_none()).count();
    assert_eq!(unanswered, 0, "{name}");
}

const CLAUDE: TraceFormat = TraceFormat::ClaudeStream;

#[test]
fn claude_code_counts_its_calls_by_message() {
    let done = || ReportedEnd::Completed;
    check(CLAUDE, "claude/cc-proj", tokens(15, 12683, 49384, 221), Some(5), done());
    check(CLAUDE, "claude/cc-noskill", tokens(9, 12338, 24289, 102), Some(3), done());
    check(CLAUDE, "claude/cc-home", tokens(15, 12683, 49382, 221), Some(5), done());
    check(CLAUDE, "claude/cc-confdir", tokens(15, 22219, 87298, 221), Some(5), done());
    check(CLAUDE, "claude/cc-bigout", tokens(9, 13358, 24817, 58), Some(3), done());
    check(CLAUDE, "claude/cc-json", tokens(9, 12338, 24289, 102), None, done());
    let limit = |what: &str| ReportedEnd::Limit { what: what.to_owned() };
    check(
        CLAUDE,
        "claude/cc-maxturns",
        tokens(9, 12238, 24257, 60),
        Some(3),
        limit("Reached maximum number of turns (3)"),
    );
    let Some(budget) = recorded(CLAUDE, "claude/cc-budget") else { return };
    assert_eq!(budget.end, limit("Reached maximum budget ($0.1)"));
    assert_eq!((budget.model_calls, budget.usage.tokens), (Some(13), tokens(36, 13096, 137_693, 240)));
    assert_eq!(budget.notes[0], "the messages tell 39 input tokens, the result line 36", "its last call is in no sum");
}

#[test]
fn claude_code_with_and_without_the_skill() {
    let Some(with) = recorded(CLAUDE, "claude/cc-proj") else { return };
    let skill = "ledger-totals".to_owned();
    assert!(with.skills.listed.as_ref().unwrap().contains(&skill));
    assert_eq!(with.skills.opened, ["ledger-totals"]);
    assert_eq!(calls(&with), ["Skill: Skill", "Shell: Bash", "Write: Write", "Shell: Bash"]);
    assert_eq!(with.usage.cost_usd, Some(0.077_771_8));
    assert_eq!((with.version.as_deref(), with.model.as_deref()), (Some("2.1.332"), Some("claude-opus-5-5")));
    let first = &with.trace.steps[0];
    assert_eq!(first.usage, Some(TokenUsage { output: None, ..tokens(3, 12142, 0, 0) }), "a placeholder is no count");
    let body = with.trace.steps.iter().find(|step| step.source == Source::System).unwrap();
    assert!(body.text.starts_with("Base directory for this skill: /workspace/.claude/skills/ledger-totals"));
    let without = recorded(CLAUDE, "claude/cc-noskill").unwrap();
    assert!(!without.skills.listed.as_ref().unwrap().contains(&skill));
    assert!(without.skills.opened.is_empty());
    assert_eq!(calls(&without), ["Shell: Bash", "Write: Write"]);
}

#[test]
fn claude_codes_failures_show_in_spite_of_their_subtype() {
    for (name, status) in [
        ("cl-e401", Some(401)),
        ("cl-e429", Some(429)),
        ("cl-e500", Some(500)),
        ("cl-e529", Some(529)),
        ("cc-refused", None),
    ] {
        let Some(got) = recorded(CLAUDE, &format!("claude/{name}")) else { return };
        assert!(
            matches!(got.end, ReportedEnd::Provider { status: seen, .. } if seen == status),
            "{name}: {:?}",
            got.end
        );
        assert_eq!((got.usage.tokens, got.model_calls), (TokenUsage::ZERO, Some(0)), "{name}");
        assert!(got.trace.steps.iter().any(|step| step.aside && step.text.contains("retry")), "{name}");
    }
    let full = recorded(CLAUDE, "claude/cc-e400").unwrap();
    assert!(matches!(full.end, ReportedEnd::ContextFull { .. }));
    let midway = recorded(CLAUDE, "claude/cl-e529mid").unwrap();
    assert_eq!(midway.usage.tokens, tokens(6, 12204, 12099, 92));
    assert_eq!(midway.model_calls, Some(2));
    let denied = recorded(CLAUDE, "claude/cc-noperm").unwrap();
    assert_eq!((denied.end, denied.denials), (ReportedEnd::Completed, vec!["Write".to_owned()]));
    let killed = recorded(CLAUDE, "claude/cc-killed").unwrap();
    assert_eq!((killed.end, killed.usage.at_least, killed.usage.tokens.output), (ReportedEnd::NotTold, true, None));
    let as_root = recorded(CLAUDE, "claude/cc-root").unwrap();
    assert_eq!(as_root, Reading::default());
}

#[test]
fn codex_counts_its_cache_within_its_input() {
    let (format, done) = (TraceFormat::CodexExec, ReportedEnd::Completed);
    check(format, "codex/cx-agentsproj", tokens(51877 - 41305, 0, 41305, 230), None, done);
    let Some(got) = recorded(format, "codex/cx-agentsproj") else { return };
    assert_eq!(calls(&got), vec!["Shell: command_execution"; 4]);
    assert_eq!(got.trace.turns(), 5);
    assert_eq!(got.trace.steps.iter().filter(|step| step.aside).count(), 1, "unknown model");
    let without_bypass = recorded(format, "codex/cx-nobypass").unwrap();
    assert_eq!(without_bypass.denials, ["command_execution", "command_execution"]);
    for (name, code) in [("codex/cx-e401", 401), ("codex/cx-e429", 429)] {
        let got = recorded(format, name).unwrap();
        assert!(matches!(got.end, ReportedEnd::Provider { status: Some(status), .. } if status == code), "{name}");
        assert_eq!(got.usage.tokens, TokenUsage::UNKNOWN, "{name}");
    }
}

#[test]
fn opencodes_steps_are_summed() {
    let (format, done) = (TraceFormat::OpenCode, ReportedEnd::Completed);
    let input = 7771 + 201 + 79 + 106 + 72;
    let (read_, output) = (7771 + 7972 + 8051 + 8157, 39 + 44 + 85 + 35 + 18);
    check(format, "opencode/oc2-ocproj", tokens(input, 0, read_, output), Some(5), done);
    let Some(got) = recorded(format, "opencode/oc2-ocproj") else { return };
    assert_eq!(calls(&got), ["Skill: skill", "Shell: bash", "Write: write", "Shell: bash"]);
    assert_eq!(got.skills.opened, ["ledger-totals"]);
    assert!(got.usage.at_least && got.usage.cost_usd.is_none());
    assert_eq!(got.trace.steps[1].calls[0].result.as_ref().unwrap().exit_code, Some(0));
    let refused = recorded(format, "opencode/oc-e401").unwrap();
    assert!(matches!(refused.end, ReportedEnd::Provider { status: Some(401), .. }));
    let full = recorded(format, "opencode/oc-e400").unwrap();
    assert!(matches!(full.end, ReportedEnd::ContextFull { .. }));
}

#[test]
fn gemini_counts_its_cache_within_its_input() {
    let (format, done) = (TraceFormat::GeminiStream, ReportedEnd::Completed);
    check(format, "gemini/gm-agentsproj", tokens(13309, 0, 51505, 221), None, done);
    let Some(got) = recorded(format, "gemini/gm-agentsproj") else { return };
    assert_eq!(
        calls(&got),
        ["Skill: activate_skill", "Shell: run_shell_command", "Write: write_file", "Shell: run_shell_command"]
    );
    assert_eq!(got.skills.opened, ["ledger-totals"]);
    assert_eq!(got.trace.turns(), 5);
    assert!(recorded(format, "gemini/gm-noskill").unwrap().skills.opened.is_empty());
}

#[test]
fn qwen_has_claudes_shape_and_its_own_count() {
    let (format, done) = (TraceFormat::QwenStream, ReportedEnd::Completed);
    check(format, "qwen/qw-agentsproj", tokens(99188 - 79113, 0, 79113, 221), Some(5), done);
    let Some(got) = recorded(format, "qwen/qw-agentsproj") else { return };
    assert_eq!(
        calls(&got),
        ["Skill: skill", "Shell: run_shell_command", "Write: write_file", "Shell: run_shell_command"]
    );
    assert_eq!(got.skills.opened, ["ledger-totals"]);
    assert_eq!(got.trace.turns(), 5);
    let elsewhere = recorded(format, "qwen/qw-claudeproj").unwrap();
    assert!(elsewhere.skills.opened.is_empty(), "a call that finds no skill opens none");
}

#[test]
fn openclaws_envelope_has_the_sums_and_no_calls() {
    let (format, done) = (TraceFormat::OpenClaw, ReportedEnd::Completed);
    check(format, "openclaw/ol-agentsproj", tokens(9722, 0, 36838, 228), Some(5), done);
    let Some(got) = recorded(format, "openclaw/ol-noskill") else { return };
    assert_eq!(got.usage.total, Some(27312));
    assert_eq!(got.usage.tokens, tokens(9261, 0, 17950, 101));
    assert!(calls(&got).is_empty() && got.skills.listed.is_none() && got.usage.cost_usd.is_none());
}

#[test]
fn every_recorded_stream_is_read_without_a_word_lost() {
    let Some(folder) = folder() else { return };
    let mut seen = 0;
    for (name, format) in [
        ("claude", CLAUDE),
        ("codex", TraceFormat::CodexExec),
        ("opencode", TraceFormat::OpenCode),
        ("gemini", TraceFormat::GeminiStream),
        ("qwen", TraceFormat::QwenStream),
        ("openclaw", TraceFormat::OpenClaw),
    ] {
        for run in std::fs::read_dir(folder.join(name)).unwrap() {
            let bytes = std::fs::read(run.unwrap().path().join("stdout.jsonl")).unwrap();
            let got = read(format, &bytes);
            let reported = got.trace.steps.iter().flat_map(|step| &step.calls).any(|call| call.tool == ToolKind::Other);
            assert!(!reported, "{name}: a tool has no kind: {:?}", calls(&got));
            assert_eq!(got.counts.unreadable, 0, "{name}");
            // One recording has the listing of a folder behind its stream.
            assert!(got.counts.log_lines == 0 || got.session.is_some() && got.counts.log_lines == 15, "{name}");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}
