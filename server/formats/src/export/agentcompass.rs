//! AgentCompass' results folder, once per arm, as that runner has no pairs: `<arm>/summary.md` and `<arm>/details/<task>.json`. An arm is called
//! what it held: `no-skill`, or `previous-version`, `control`, … What that runner has no field for stands under `extra.skilldelta`.

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::history::TrialHistory;
use domain::report::number;
use domain::verdict::Verdict;
use serde_json::{Value, json};

use super::markdown::escape;
use super::{ExportError, ExportFile, Exported, names, words};

/// The files of both arms.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<ExportFile>, ExportError> {
    let mut files = Vec::new();
    for arm in Condition::BOTH {
        let trials: Vec<&TrialHistory> =
            exported.history.trials.iter().filter(|trial| trial.condition == arm).collect();
        files.push(ExportFile {
            path: format!("{}/summary.md", exported.report.comparison.arm(arm)),
            bytes: summary(exported, arm, &trials).into_bytes(),
        });
        for trial in trials {
            let mut bytes = serde_json::to_vec_pretty(&detail(exported, trial)).map_err(ExportError::write)?;
            bytes.push(b'\n');
            files.push(ExportFile {
                path: format!("{}/details/{}.json", exported.report.comparison.arm(arm), stem(exported, trial)),
                bytes,
            });
        }
    }
    Ok(files)
}

/// The task's name; later repeats get their number.
fn stem(exported: &Exported<'_>, trial: &TrialHistory) -> String {
    let task = exported.task(trial);
    let twice = exported.history.plan.tasks.iter().filter(|other| other.name == task).count() > 1;
    let index = exported.task_index(trial);
    let stem = if twice { names::stem(&format!("{task}/"), index) } else { names::stem(task, index) };
    if trial.repeat == 1 { stem } else { format!("{stem}.{}", trial.repeat) }
}

/// `COMPLETED`, `RUN_ERROR` (the run failed) or `EVAL_ERROR` (the verifier gave no reward).
const fn status(verdict: Option<&Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Pass | Verdict::Fail { .. }) => "COMPLETED",
        Some(Verdict::VerifierError { .. }) => "EVAL_ERROR",
        Some(Verdict::InfraError { .. } | Verdict::Cancelled) | None => "RUN_ERROR",
    }
}

/// A scored trial without a reward of its own (the agent's time was over, say) counts as 0 there; one that is not scored has none.
fn score(trial: &TrialHistory, result: Option<&AttemptResult>) -> Option<f64> {
    let passed = trial.state.verdict().and_then(Verdict::scored)?;
    Some(result.and_then(|result| result.reward).unwrap_or(if passed { 1.0 } else { 0.0 }))
}

fn detail(exported: &Exported<'_>, trial: &TrialHistory) -> Value {
    let result = Exported::result(trial);
    let verdict = trial.state.verdict();
    let log = result.and_then(|result| exported.verifier_log(result));
    let (key, reward) = match (result.and_then(|result| result.reward), verdict) {
        (None, Some(Verdict::VerifierError { message })) => ("reward_error", json!(message)),
        (reward, _) => ("reward", json!(reward)),
    };
    json!({
        "task_id": exported.task(trial),
        "correct": verdict.and_then(Verdict::scored) == Some(true),
        "score": score(trial, result),
        "status": status(verdict),
        "error": verdict.and_then(Verdict::detail),
        "extra": {
            "verify_log": { "test_stdout": log, "test_stderr": null, "test_return_code": null, key: reward },
            "skilldelta": {
                "schema": "skilldelta.agentcompass.v1",
                "title": exported.report.title,
                "agent": exported.report.agent,
                "model": exported.report.model_ref,
                "skills": exported.report.skills,
                "comparison": exported.report.comparison,
                "condition": trial.condition,
                "repeat": trial.repeat,
                "attempts": trial.state.attempts(),
                "verdict": verdict,
                "usage": result.map(|result| result.usage),
                "activated": result.and_then(|result| result.activation.opened),
                "phases_ms": result.map(|result| result.phases),
                "tests": result.map(|result| &result.tests),
            },
        },
    })
}

fn summary(exported: &Exported<'_>, arm: Condition, trials: &[&TrialHistory]) -> String {
    let scores: Vec<f64> = trials.iter().filter_map(|trial| score(trial, Exported::result(trial))).collect();
    let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    let mean = mean.map_or_else(|| number::UNKNOWN.to_owned(), |mean| format!("{mean:.4}"));
    let report = exported.report;
    let marks: String = words::marks(report).iter().map(|mark| format!("> {}.\n\n", escape(mark))).collect();
    format!(
        "# {title}, {name}\n\n{marks}## Run overview\n\n| Field | Value |\n|---|---|\n| Model | {model} |\n| Total | {total} |\n\
         | Evaluated | {evaluated} |\n| Error | {error} |\n\n## Metrics\n\n| Metric | Value |\n|---|---|\n| mean_score | {mean} |\n\n\
         Agent {agent}; {skills}. The other arm lies beside this folder; Δ is {delta} over {pairs} complete pairs.\n",
        title = escape(&report.title),
        model = escape(&words::model(report)),
        total = trials.len(),
        evaluated = scores.len(),
        error = trials.len() - scores.len(),
        agent = escape(&words::agent(report)),
        name = report.comparison.arm(arm),
        skills = escape(&words::skills_of(&report.comparison.arms.get(arm).skills)),
        delta = number::points(report.totals.delta),
        pairs = report.totals.pairs_complete,
    )
}
