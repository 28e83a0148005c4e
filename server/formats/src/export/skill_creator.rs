//! skill-creator's `benchmark.json`, with exactly the fields that its viewer reads; our statistics stand under `skilldelta`. Its configurations may
//! have any name, and bear that of what an arm held. A trial without a score has no place in its means and is told of in `notes`.

use std::collections::BTreeSet;

use domain::attempt::AttemptResult;
use domain::comparison::Compared;
use domain::condition::{Condition, Pair};
use domain::history::TrialHistory;
use domain::report::{headline, number};
use domain::test_case::{TestCase, TestStatus};
use domain::verdict::Verdict;
use serde_json::{Value, json};

use super::{ExportError, Exported, words};

/// One run as the viewer counts it.
struct Run {
    arm: Condition,
    passed: u64,
    total: u64,
    seconds: Option<f64>,
    tokens: Option<u64>,
    json: Value,
}

/// The document as text.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<u8>, ExportError> {
    let runs: Vec<Run> = exported.history.trials.iter().filter_map(|trial| run(exported, trial)).collect();
    let report = exported.report;
    let evals: BTreeSet<usize> = exported.history.trials.iter().map(|trial| eval_id(exported, trial)).collect();
    let document = json!({
        "metadata": {
            "skill_name": report.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>().join(" + "),
            "skill_path": "",
            "executor_model": report.model.as_deref().unwrap_or("none"),
            "analyzer_model": "none",
            "timestamp": report.created_at.rfc3339(),
            "evals_run": evals,
            "runs_per_configuration": report.repeats,
        },
        "runs": runs.iter().map(|run| &run.json).collect::<Vec<_>>(),
        "run_summary": run_summary(&runs, configurations(report.comparison.kind)),
        "notes": notes(exported),
        "skilldelta": {
            "schema": "skilldelta.benchmark.v1",
            "headline": headline(report),
            "totals": report.totals,
            "agent": report.agent,
            "skills": report.skills,
            "comparison": report.comparison,
            "seed": report.seed,
        },
    });
    let mut bytes = serde_json::to_vec_pretty(&document).map_err(ExportError::write)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn eval_id(exported: &Exported<'_>, trial: &TrialHistory) -> usize {
    exported.task_index(trial).saturating_add(1)
}

/// The viewer shows them in the order of the alphabet, the one that is judged first.
const fn configurations(compared: Compared) -> Pair<&'static str> {
    match compared {
        Compared::NoSkill => Pair { without: "without_skill", with: "with_skill" },
        Compared::PreviousVersion => Pair { without: "old_skill", with: "new_skill" },
        Compared::Control => Pair { without: "with_unrelated_skill", with: "with_skill" },
        Compared::Same => Pair { without: "arm_a", with: "arm_b" },
    }
}

/// `None` where the trial is not scored.
fn run(exported: &Exported<'_>, trial: &TrialHistory) -> Option<Run> {
    let verdict = trial.state.verdict()?;
    let verdict_passed = verdict.scored()?;
    let result = Exported::result(trial);
    let expectations = expectations(verdict, verdict_passed, result);
    let passed = expectations.iter().filter(|expectation| expectation["passed"] == true).count() as u64;
    let total = expectations.len() as u64;
    let seconds = result.and_then(|result| result.phases.agent).map(|ms| ms as f64 / 1000.0);
    let tokens = result.and_then(|result| result.usage.total());
    let json = json!({
        "eval_id": eval_id(exported, trial),
        "eval_name": exported.task(trial),
        "configuration": configurations(exported.report.comparison.kind).get(trial.condition),
        "run_number": trial.repeat,
        "result": {
            "pass_rate": passed as f64 / total as f64,
            "passed": passed,
            "failed": total - passed,
            "total": total,
            "time_seconds": seconds,
            "tokens": tokens,
            "tool_calls": null,
            "errors": 0,
        },
        "expectations": expectations,
        "notes": verdict.detail().into_iter().collect::<Vec<_>>(),
    });
    Some(Run { arm: trial.condition, passed, total, seconds, tokens, json })
}

/// The test cases, less those skipped on purpose; at least one. A verdict that they would contradict is one more where it is a fail, and stands
/// alone where it is a pass (a task may pass without all of its tests).
fn expectations(verdict: &Verdict, passed: bool, result: Option<&AttemptResult>) -> Vec<Value> {
    let tests = result.map(|result| result.tests.as_slice()).unwrap_or_default();
    let tests: Vec<&TestCase> = tests.iter().filter(|test| test.status != TestStatus::Skipped).collect();
    let all = !tests.is_empty() && tests.iter().all(|test| test.status == TestStatus::Passed);
    let whole = {
        let counts = tests.iter().filter(|test| test.status == TestStatus::Passed).count();
        let said = || format!("verdict: {}; {counts} of {} test cases passed", verdict.word(), tests.len());
        let evidence = verdict.detail().unwrap_or_else(said);
        json!({ "text": "The verifier passes", "passed": passed, "evidence": evidence })
    };
    let cases = tests.iter().map(|test| {
        let evidence = test.message.clone().unwrap_or_else(|| test.status.word().to_owned());
        json!({ "text": test.name, "passed": test.status == TestStatus::Passed, "evidence": evidence })
    });
    match (passed, all) {
        (true, true) => cases.collect(),
        (true, false) => vec![whole],
        (false, true) => cases.chain([whole]).collect(),
        (false, false) if tests.is_empty() => vec![whole],
        (false, false) => cases.collect(),
    }
}

fn run_summary(runs: &[Run], names: Pair<&'static str>) -> Value {
    let of = |arm: Condition| runs.iter().filter(move |run| run.arm == arm);
    let rates = |arm| of(arm).map(|run| run.passed as f64 / run.total as f64).collect::<Vec<f64>>();
    let seconds = |arm| of(arm).filter_map(|run| run.seconds).collect::<Vec<f64>>();
    let tokens = |arm| of(arm).filter_map(|run| run.tokens).map(|tokens| tokens as f64).collect::<Vec<f64>>();
    let of_arm = |arm| json!({ "pass_rate": spread(&rates(arm)), "time_seconds": spread(&seconds(arm)), "tokens": spread(&tokens(arm)) });
    let difference = |with: &[f64], without: &[f64], digits: usize| {
        mean(with).zip(mean(without)).map(|(with, without)| format!("{:+.digits$}", with - without))
    };
    let (with, without) = (Condition::WithSkill, Condition::NoSkill);
    json!({
        names.with: of_arm(with),
        names.without: of_arm(without),
        "delta": {
            "pass_rate": difference(&rates(with), &rates(without), 2),
            "time_seconds": difference(&seconds(with), &seconds(without), 1),
            "tokens": difference(&tokens(with), &tokens(without), 0),
        },
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `null` of nothing. One value has no spread; the viewer's own aggregator writes 0 for it.
fn spread(values: &[f64]) -> Value {
    let Some(mean) = mean(values) else { return Value::Null };
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let stddev = if values.len() > 1 { (squares / (values.len() - 1) as f64).sqrt() } else { 0.0 };
    let (min, max) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(*value), max.max(*value)));
    json!({ "mean": mean, "stddev": stddev, "min": min, "max": max })
}

fn notes(exported: &Exported<'_>) -> Vec<String> {
    let report = exported.report;
    let headline = headline(report);
    let mut notes = words::marks(report);
    notes.extend(headline.lines());
    notes.push(format!(
        "The means above are over test cases of every scored run; Δ over complete pairs of trials is {}",
        number::points(report.totals.delta)
    ));
    let unscored = report.trials.iter().filter(|trial| !matches!(trial.verdict.as_deref(), Some("pass" | "fail")));
    notes.extend(unscored.map(|trial| {
        let why = trial.error.as_deref().unwrap_or("no reason was kept");
        let verdict = trial.verdict.as_deref().unwrap_or(&trial.state);
        format!("Not scored: {}, {}, run {}: {verdict}: {why}", trial.task, trial.condition, trial.repeat)
    }));
    notes
}
