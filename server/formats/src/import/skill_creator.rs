//! skill-creator's `benchmark.json`. The baseline is named by its configuration and never told by its order; a previous version of the skill is no
//! no-skill arm and is refused. Its tokens are left out: that tool counts characters where it has no tokens, and does not say which it did.

use domain::attempt::{AttemptResult, PhaseTimes};
use domain::condition::Condition;
use domain::finding::Finding;
use domain::test_case::{TestCase, TestStatus};
use domain::time::Timestamp;
use domain::verdict::{FailReason, Verdict};
use serde::Deserialize;

use super::draft::{Draft, Run, Try};
use super::{Files, ReadEvaluation, number};

/// Longest evidence that is kept, in characters.
const EVIDENCE: usize = 4_000;

#[derive(Deserialize)]
struct Benchmark {
    metadata: Metadata,
    runs: Vec<BenchmarkRun>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    skill_name: String,
    #[serde(default)]
    executor_model: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
}

#[derive(Deserialize)]
struct BenchmarkRun {
    eval_id: Id,
    #[serde(default)]
    eval_name: Option<String>,
    configuration: String,
    #[serde(default)]
    run_number: Option<u32>,
    result: RunResult,
    #[serde(default, alias = "assertions", alias = "assertion_results")]
    expectations: Vec<Expectation>,
}

/// Numbers in skill-creator, words in the guide it follows.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
struct RunResult {
    pass_rate: Option<f64>,
    #[serde(default)]
    passed: Option<u64>,
    #[serde(default)]
    failed: Option<u64>,
    #[serde(default)]
    total: Option<u64>,
    #[serde(default)]
    time_seconds: Option<f64>,
}

#[derive(Deserialize)]
struct Expectation {
    text: String,
    passed: bool,
    #[serde(default)]
    evidence: Option<String>,
}

pub(super) fn candidates(files: &Files) -> Vec<String> {
    let name = |path: &String| {
        path.rsplit('/').next().is_some_and(|name| name == "benchmark.json" || name.ends_with("-benchmark.json"))
    };
    files.paths().into_iter().filter(name).collect()
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let mut paths = candidates(files);
    if paths.is_empty() {
        // Asked for by name: a file may be called anything.
        paths = files.paths().into_iter().filter(|path| path.ends_with(".json")).collect();
    }
    let mut read = Vec::new();
    for path in paths {
        match files.json(&path) {
            Ok(benchmark) => {
                read.extend(draft(&path, benchmark, findings).and_then(|draft| draft.finish(now, findings)))
            }
            Err(finding) => findings.push(*finding),
        }
    }
    read
}

fn draft(path: &str, benchmark: Benchmark, findings: &mut Vec<Finding>) -> Option<Draft> {
    if benchmark.runs.is_empty() {
        let finding = Finding::error("no_results", path, "runs is empty: nothing was measured");
        findings.push(finding.hint("run the benchmark again and look at its own messages"));
        return None;
    }
    let metadata = benchmark.metadata;
    let skill = if metadata.skill_name.trim().is_empty() { "unnamed skill".to_owned() } else { metadata.skill_name };
    let tokens = Finding::note(
        "tokens_left_out",
        path,
        "tokens were left out: skill-creator may have counted characters for them",
    );
    let mut draft = Draft {
        title: format!("{skill}, skill-creator benchmark"),
        skills: vec![skill],
        model: metadata.executor_model.filter(|model| !model.is_empty() && model != "none"),
        created_at: number::instant(metadata.timestamp.as_deref()),
        findings: vec![tokens],
        ..Draft::default()
    };
    draft.findings.extend(benchmark.notes.into_iter().map(|note| Finding::note("runner_note", path, note)));
    for (index, run) in benchmark.runs.into_iter().enumerate() {
        match one(path, &format!("runs[{index}]"), run, &mut draft.findings) {
            Ok(run) => draft.runs.push(run),
            Err(finding) => findings.push(*finding),
        }
    }
    Some(draft)
}

fn arm(path: &str, place: &str, configuration: &str) -> Result<Condition, Box<Finding>> {
    let (message, hint) = match configuration {
        "with_skill" => return Ok(Condition::WithSkill),
        "without_skill" => return Ok(Condition::NoSkill),
        "old_skill" | "new_skill" => (
            format!(
                "{place} compares with a previous version of the skill ({configuration}), which is no no-skill baseline"
            ),
            "benchmark the skill against without_skill",
        ),
        other => (
            format!("{place}: the configuration {other:?} does not say whether the skill was there"),
            "call it with_skill or without_skill",
        ),
    };
    Err(Box::new(Finding::error("unknown_arm", path, message).hint(hint)))
}

fn one(path: &str, place: &str, run: BenchmarkRun, findings: &mut Vec<Finding>) -> Result<Run, Box<Finding>> {
    let condition = arm(path, place, &run.configuration)?;
    let id = match run.eval_id {
        Id::Number(id) => format!("eval-{id}"),
        Id::Text(id) => id,
    };
    let task = match run.eval_name.filter(|name| !name.trim().is_empty()) {
        Some(name) => name,
        None => id,
    };
    let tests: Vec<TestCase> = run.expectations.into_iter().map(test_case).collect();
    let passed = passed(&run.result, &tests).ok_or_else(|| {
        let message = format!("{place} has neither expectations nor result.passed and result.total");
        Box::new(Finding::error("no_verdict", path, message).hint("grade the run, or leave it out"))
    })?;
    check(path, place, &run.result, passed)?;
    let reward = number::reward(run.result.pass_rate, path, &format!("{place}.result.pass_rate"), findings);
    let verdict = if passed { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
    let phases = PhaseTimes { agent: number::seconds(run.result.time_seconds), ..PhaseTimes::default() };
    let result = AttemptResult { reward, tests, phases, ..AttemptResult::bare(verdict) };
    let attempts = vec![Try { started_at: None, ended_at: None, result }];
    Ok(Run { file: path.to_owned(), task, condition, repeat: run.run_number, attempts })
}

fn test_case(expectation: Expectation) -> TestCase {
    TestCase {
        name: expectation.text,
        status: if expectation.passed { TestStatus::Passed } else { TestStatus::Failed },
        duration_ms: None,
        message: expectation.evidence.map(|evidence| evidence.chars().take(EVIDENCE).collect()),
    }
}

/// The numbers beside the expectations must not say the opposite: nobody could tell which of them is true.
fn check(path: &str, place: &str, result: &RunResult, passed: bool) -> Result<(), Box<Finding>> {
    let total = result.total.or_else(|| result.passed?.checked_add(result.failed?)).filter(|total| *total > 0);
    let by_counts = result.passed.zip(total).map(|(passed, total)| ("result.passed", passed == total));
    let by_rate = result.pass_rate.map(|rate| ("result.pass_rate", rate == 1.0));
    let Some((what, _)) = [by_counts, by_rate].into_iter().flatten().find(|(_, says)| *says != passed) else {
        return Ok(());
    };
    let held = if passed { "all of its expectations hold" } else { "not all of its expectations hold" };
    let message = format!("{place}: {held}, and {what} says otherwise: they contradict each other");
    let finding = Finding::error("contradiction", path, message);
    Err(Box::new(finding.hint("a run passes exactly where its pass_rate is 1.0; grade it anew, or mend the file")))
}

/// All expectations hold; where none is listed, the counts say so. `None` where nothing was graded.
fn passed(result: &RunResult, tests: &[TestCase]) -> Option<bool> {
    if !tests.is_empty() {
        return Some(tests.iter().all(|test| test.status == TestStatus::Passed));
    }
    let total = match result.total {
        Some(total) => total,
        None => result.passed?.checked_add(result.failed?)?,
    };
    (total > 0).then_some(result.passed? == total)
}
