//! AgentCompass' `details/*.json`, one file per task, with `summary.md` beside the folder. That runner has the skills in place always: its runs are
//! with-skill unless a folder's name, or our own export, says otherwise.

use std::collections::BTreeMap;

use domain::attempt::{AttemptResult, BlobRef, PhaseTimes};
use domain::condition::Condition;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::plan::{AgentRef, ModelRef};
use domain::report::{ComparisonReport, ReportSkill};
use domain::skill_audit::Activation;
use domain::test_case::TestCase;
use domain::time::Timestamp;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};
use serde::Deserialize;

use super::draft::{Contents, Draft, Run, Try};
use super::{Files, ReadEvaluation, arm, number};
use crate::verdict::pytest::read_pytest;

#[derive(Deserialize)]
struct Detail {
    #[serde(default)]
    task_id: Option<String>,
    correct: bool,
    #[serde(default)]
    score: Option<f64>,
    status: String,
    #[serde(default)]
    error: Option<serde_json::Value>,
    #[serde(default)]
    extra: Extra,
}

#[derive(Deserialize, Default)]
struct Extra {
    #[serde(default)]
    verify_log: Option<VerifyLog>,
    #[serde(default)]
    skilldelta: Option<Ours>,
}

#[derive(Deserialize)]
struct VerifyLog {
    #[serde(default)]
    test_stdout: Option<String>,
    #[serde(default)]
    test_stderr: Option<String>,
    #[serde(default)]
    reward_error: Option<String>,
}

/// What our own export adds.
#[derive(Deserialize)]
struct Ours {
    condition: Condition,
    repeat: u32,
    agent: AgentRef,
    model: Option<ModelRef>,
    #[serde(default)]
    skills: Vec<ReportSkill>,
    #[serde(default)]
    comparison: Option<ComparisonReport>,
    verdict: Verdict,
    usage: Option<TokenUsage>,
    activated: Option<bool>,
    phases_ms: Option<PhaseTimes>,
    tests: Option<Vec<TestCase>>,
}

pub(super) fn candidates(files: &Files) -> Vec<String> {
    let detail = |path: &String| {
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default();
        name.ends_with(".json") && parts.next().unwrap_or(files.name()) == "details"
    };
    files.paths().into_iter().filter(detail).collect()
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let mut by_actor: BTreeMap<(String, String), (Draft, Contents)> = BTreeMap::new();
    for path in candidates(files) {
        let detail: Detail = match files.json(&path) {
            Ok(detail) => detail,
            Err(finding) => {
                findings.push(*finding);
                continue;
            }
        };
        let ours = detail.extra.skilldelta.as_ref();
        let model = match ours {
            Some(ours) => ours.model.as_ref().map(|model| model.name.clone()),
            None => model_of_summary(files, &path),
        };
        let agent = ours.map(|ours| ours.agent.clone());
        let compared = ours.map(compared);
        let key = (model.clone().unwrap_or_default(), agent.as_ref().map(AgentRef::title).unwrap_or_default());
        let (draft, logs) = by_actor.entry(key).or_insert_with(|| {
            let (skills, compared) = compared.unwrap_or_default();
            (Draft { skills, compared, ..new_draft(&path, model, agent) }, Contents::new())
        });
        match run(files.name(), &path, detail, logs, &mut draft.findings) {
            Ok(run) => draft.runs.push(run),
            Err(finding) => findings.push(*finding),
        }
    }
    let finish = |(draft, logs): (Draft, Contents)| {
        let evaluation = (!draft.runs.is_empty()).then(|| draft.finish(now, findings))??;
        Some(ReadEvaluation { files: logs, ..evaluation })
    };
    by_actor.into_values().filter_map(finish).collect()
}

/// What our own export says was compared: the treatment's skills, none where each task brought its own, and the comparison.
fn compared(ours: &Ours) -> (Vec<String>, Option<ComparisonReport>) {
    let named = ours.skills.iter().filter(|skill| skill.name != ReportSkill::TASKS_OWN);
    (named.map(|skill| skill.name.clone()).collect(), ours.comparison.clone())
}

fn new_draft(path: &str, model: Option<String>, agent: Option<AgentRef>) -> Draft {
    let note = "where no folder's name says otherwise the runs are taken as with-skill, as AgentCompass has the skills in place always";
    Draft {
        title: format!("SkillsBench on AgentCompass, {}", model.as_deref().unwrap_or("unknown model")),
        model,
        delivery: agent.as_ref().map(|agent| agent.skills).unwrap_or_default(),
        agent: agent.as_ref().map(|agent| agent.name.clone()),
        agent_version: agent.map(|agent| agent.version),
        findings: vec![Finding::note("arm_by_runner", path, note).hint(arm::HINT)],
        ..Draft::default()
    }
}

/// The row `| Model | NAME |` of the summary beside the folder; else nothing, as folders may be called anything.
fn model_of_summary(files: &mut Files, path: &str) -> Option<String> {
    let run = path.rsplit_once("details/").map_or("", |(run, _)| run);
    let summary = files.read(&format!("{run}summary.md")).ok()?;
    let text = String::from_utf8_lossy(&summary).into_owned();
    text.lines().find_map(|line| {
        let mut cells = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches(['`', '*']));
        let (name, value) = (cells.next()?, cells.next()?);
        (name.eq_ignore_ascii_case("model") && !value.is_empty()).then(|| value.to_owned())
    })
}

fn run(
    source: &str,
    path: &str,
    detail: Detail,
    logs: &mut Contents,
    findings: &mut Vec<Finding>,
) -> Result<Run, Box<Finding>> {
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
    let task = detail.task_id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| stem.to_owned());
    let reward = number::reward(detail.score, path, "score", findings);
    let verdict = verdict(path, &detail, reward)?;
    let (stdout, log) = match &detail.extra.verify_log {
        Some(log) => (log.test_stdout.as_deref().unwrap_or_default(), kept_log(log, logs)),
        None => ("", None),
    };
    let reward = reward.filter(|_| verdict.scored().is_some());
    let mut result =
        AttemptResult { reward, tests: read_pytest(stdout), verifier_log: log, ..AttemptResult::bare(verdict) };
    let place = detail.extra.skilldelta.as_ref().map(|ours| (ours.condition, ours.repeat));
    let (condition, repeat) = match place {
        Some((condition, repeat)) => (condition, Some(repeat)),
        None => (arm::of_path(source, path).unwrap_or(Condition::WithSkill), None),
    };
    if let Some(ours) = detail.extra.skilldelta {
        result.usage = ours.usage.unwrap_or_default();
        result.activation = Activation { opened: ours.activated, ..Activation::default() };
        result.phases = ours.phases_ms.unwrap_or_default();
        result.tests = ours.tests.unwrap_or_default();
        result.verdict = ours.verdict;
    }
    let attempts = vec![Try { started_at: None, ended_at: None, result }];
    Ok(Run { file: path.to_owned(), task, condition, repeat, attempts })
}

fn kept_log(log: &VerifyLog, logs: &mut Contents) -> Option<BlobRef> {
    let parts = [log.test_stdout.as_deref(), log.test_stderr.as_deref()];
    let text = parts.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        return None;
    }
    let bytes = text.into_bytes();
    let blob = BlobRef { hash: ContentHash::of(&bytes), size: bytes.len() as u64 };
    logs.insert(blob.hash, bytes);
    Some(blob)
}

fn verdict(path: &str, detail: &Detail, reward: Option<f64>) -> Result<Verdict, Box<Finding>> {
    let error = detail.error.as_ref().filter(|error| !error.is_null());
    let error = error.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    match detail.status.as_str() {
        "COMPLETED" if detail.extra.skilldelta.is_none() && detail.correct != (reward == Some(1.0)) => {
            let message =
                format!("correct is {} and score {:?}: they contradict each other", detail.correct, detail.score);
            Err(Box::new(
                Finding::error("contradiction", path, message)
                    .hint("a task is correct exactly at score 1.0; mend the file"),
            ))
        }
        "COMPLETED" if detail.correct => Ok(Verdict::Pass),
        "COMPLETED" => Ok(Verdict::Fail { reason: FailReason::WrongResult }),
        "RUN_ERROR" => {
            let message = error.unwrap_or_else(|| "AgentCompass could not run it (RUN_ERROR)".to_owned());
            Ok(Verdict::InfraError { class: InfraClass::Engine, message })
        }
        "EVAL_ERROR" => {
            let told = detail.extra.verify_log.as_ref().and_then(|log| log.reward_error.clone());
            let message = told.or(error).unwrap_or_else(|| "the verifier gave no reward (EVAL_ERROR)".to_owned());
            Ok(Verdict::VerifierError { message })
        }
        other => {
            let message = format!("the status {other:?} is not known");
            let hint = "known are COMPLETED, RUN_ERROR and EVAL_ERROR; leave the file out to import the others";
            Err(Box::new(Finding::error("unknown_status", path, message).hint(hint)))
        }
    }
}
