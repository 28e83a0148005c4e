//! The result that `skilldelta eval --json` writes. It tells of each trial what its last attempt showed, and no more; what it has not is unknown.

use std::collections::BTreeMap;

use domain::attempt::AttemptResult;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, TrialHistory};
use domain::id::{TaskId, TrialId};
use domain::plan::{EvaluationPlan, RunSettings, TaskRef, Treatment};
use domain::report::{EvaluationReport, ReportSkill, TrialReport};
use domain::skill_audit::Activation;
use domain::time::Timestamp;
use domain::trial::TrialState;
use domain::verdict::{FailReason, InfraClass, Verdict};

use super::ReadEvaluation;
use super::draft::{MOST_PAIRS, comparison, skill_refs};
use super::skilldelta::stopped;

/// The evaluation of a report.
pub(super) fn read(path: &str, report: &EvaluationReport, now: Timestamp) -> Result<ReadEvaluation, Box<Finding>> {
    let refuse =
        |code: &str, message: String, hint: &str| Err(Box::new(Finding::error(code, path, message).hint(hint)));
    if !report.finished {
        return refuse("unfinished", "the evaluation is not finished".to_owned(), "write the result again when it is");
    }
    if report.tasks.is_empty()
        || report.repeats == 0
        || (report.repeats as usize).saturating_mul(report.tasks.len()) > MOST_PAIRS
    {
        return refuse(
            "empty_plan",
            format!("it has no task or repeat, or more than {MOST_PAIRS} pairs"),
            "write it again",
        );
    }
    let mut trials = Vec::with_capacity(report.trials.len());
    for (number, trial) in (1_i64..).zip(&report.trials) {
        trials.push(one(path, report, trial, TrialId(-number), now)?);
    }
    let note = "this is a result without its attempts: earlier attempts, traces, logs, audits and images are not in it, and of trouble only the words";
    let note = Finding::note("result_only", path, note).hint("export the evaluation as json to bring everything");
    let own = report.skills.iter().any(|skill| skill.version.is_none() && skill.name == ReportSkill::TASKS_OWN);
    let mut ids = 1..;
    let treatment = match report.skills.as_slice() {
        _ if own => Treatment::TasksOwn,
        [] => Treatment::Nothing,
        parts => Treatment::Skills { versions: skill_refs(parts, &mut ids) },
    };
    let comparison = comparison(&report.comparison, &mut ids);
    let tasks = (1..).zip(&report.tasks).map(|(id, task): (i64, _)| TaskRef {
        id: TaskId(-id),
        name: task.task.clone(),
        version: ContentHash::UNKNOWN,
    });
    let plan = EvaluationPlan {
        title: report.title.clone(),
        treatment,
        comparison,
        tasks: tasks.collect(),
        task_set: None,
        agent: report.agent.clone(),
        model: report.model_ref.clone(),
        repeats: report.repeats,
        seed: report.seed,
        settings: RunSettings { stop: report.stop, ..RunSettings::default() },
        kind: Default::default(),
    };
    let before = report.imported.clone();
    let stopped = stopped(path, report.stopped.clone(), &plan)?;
    Ok(ReadEvaluation {
        plan,
        created_at: report.created_at,
        trials,
        stopped,
        files: BTreeMap::new(),
        before,
        findings: vec![note],
    })
}

fn one(
    path: &str,
    report: &EvaluationReport,
    trial: &TrialReport,
    id: TrialId,
    now: Timestamp,
) -> Result<TrialHistory, Box<Finding>> {
    let place = format!("trial {} {} {}", trial.task, trial.condition, trial.repeat);
    let refuse =
        |message: String| Box::new(Finding::error("wrong_trial", path, message).hint("write the result again"));
    // Trials name their task by name; pairs name their trials by id, which tells two tasks of one name apart.
    let of = |task: &domain::report::TaskReport| {
        task.task == trial.task && task.pairs.iter().any(|pair| pair.trials.get(trial.condition) == &Some(trial.id))
    };
    let task = report.tasks.iter().zip(1_i64..).find(|(task, _)| of(task)).map(|(_, number)| TaskId(-number));
    let task = task.ok_or_else(|| refuse(format!("{place} is in no pair")))?;
    let verdict =
        verdict(trial).ok_or_else(|| refuse(format!("{place}: the verdict {:?} is not known", trial.verdict)))?;
    if trial.reward.is_some_and(|reward| !(0.0..=1.0).contains(&reward)) {
        return Err(refuse(format!("{place}: the reward lies outside 0..=1")));
    }
    let result = AttemptResult {
        reward: trial.reward,
        tests: trial.tests.clone(),
        usage: trial.usage,
        model_calls: trial.model_calls,
        cost: trial.cost,
        prices: trial.prices.clone(),
        activation: Activation { opened: trial.activated, ..trial.activation.clone() },
        phases: trial.phases_ms,
        ..AttemptResult::bare(verdict.clone())
    };
    let attempt = AttemptHistory {
        number: trial.attempts.max(1),
        started_at: None,
        ended_at: None,
        verdict: Some(verdict.clone()),
        result: Some(result),
        told: None,
    };
    let state =
        TrialState::Finished { attempts: trial.attempts, verdict, at: report.created_at.max(Timestamp(0)).min(now) };
    Ok(TrialHistory { id, task, condition: trial.condition, repeat: trial.repeat, state, attempts: vec![attempt] })
}

/// The verdict of its word and its detail, as [`Verdict::detail`] writes it.
fn verdict(trial: &TrialReport) -> Option<Verdict> {
    let message = trial.error.clone().unwrap_or_default();
    Some(match trial.verdict.as_deref()? {
        "pass" => Verdict::Pass,
        "fail" => Verdict::Fail { reason: reason(trial.error.as_deref()) },
        "infra_error" => Verdict::InfraError { class: InfraClass::Engine, message },
        "verifier_error" => Verdict::VerifierError { message },
        "cancelled" => Verdict::Cancelled,
        _ => return None,
    })
}

fn reason(detail: Option<&str>) -> FailReason {
    let Some(detail) = detail else { return FailReason::WrongResult };
    let inside = |start: &str, end: &str| detail.strip_prefix(start)?.strip_suffix(end);
    if let Some(seconds) = inside("timed out (limit ", " s)").and_then(|text| text.parse::<f64>().ok()) {
        return FailReason::TimedOut { limit_ms: (seconds * 1000.0).round() as u64 };
    }
    if let Some(limit_mb) = inside("out of memory (limit ", " MB)").and_then(|text| text.parse().ok()) {
        return FailReason::OutOfMemory { limit_mb };
    }
    if detail == FailReason::Refused.to_string() {
        return FailReason::Refused;
    }
    if let Some(cap) = inside("budget exceeded: ", "") {
        return FailReason::BudgetExceeded { cap: cap.to_owned() };
    }
    FailReason::AgentError { message: inside("agent error: ", "").unwrap_or(detail).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_comes_back_from_its_words() {
        for why in [
            FailReason::WrongResult,
            FailReason::TimedOut { limit_ms: 900_500 },
            FailReason::OutOfMemory { limit_mb: 2048 },
            FailReason::Refused,
            FailReason::BudgetExceeded { cap: "tokens".into() },
            FailReason::AgentError { message: "exit 3".into() },
        ] {
            let detail = Verdict::Fail { reason: why.clone() }.detail();
            assert_eq!(reason(detail.as_deref()), why);
        }
    }
}
