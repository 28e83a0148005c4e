//! SkillsBench reviews of EvalScope: `reviews/<model>/skillsbench*.jsonl`, one line per run. That runner scores a broken verifier as 0 and any
//! reward above 0 as success; here the first is no score, and a pass is the full reward, as for own runs.

use std::collections::BTreeMap;

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::finding::Finding;
use domain::time::Timestamp;
use domain::verdict::{FailReason, Verdict};
use serde::Deserialize;

use super::draft::{Draft, Run, Try};
use super::files::json_error;
use super::{Files, ReadEvaluation, arm, number};

#[derive(Deserialize)]
struct Review {
    sample_score: SampleScore,
}

#[derive(Deserialize)]
struct SampleScore {
    score: Score,
}

#[derive(Deserialize)]
struct Score {
    #[serde(default)]
    value: BTreeMap<String, Number>,
    metadata: Metadata,
}

/// That runner's values may be numbers or booleans.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Float(f64),
    Bool(bool),
}

#[derive(Deserialize)]
struct Metadata {
    task_id: String,
    #[serde(default)]
    skill_mode: Option<String>,
    #[serde(default)]
    image_tag: Option<String>,
    #[serde(default)]
    verifier_error: Option<String>,
}

pub(super) fn candidates(files: &Files) -> Vec<String> {
    let review = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with("skillsbench")
            && name.ends_with(".jsonl")
            && !path.split('/').any(|part| part == "predictions")
    };
    files.paths().into_iter().filter(review).collect()
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let mut by_model: BTreeMap<String, Draft> = BTreeMap::new();
    for path in candidates(files) {
        let model = model(files, &path);
        let bytes = match files.read(&path) {
            Ok(bytes) => bytes,
            Err(finding) => {
                findings.push(*finding);
                continue;
            }
        };
        let draft = by_model.entry(model.clone().unwrap_or_default()).or_insert_with(|| new_draft(model, &path));
        lines(files.name(), &path, &bytes, draft, findings);
    }
    by_model
        .into_values()
        .filter(|draft| !draft.runs.is_empty())
        .filter_map(|draft| draft.finish(now, findings))
        .collect()
}

/// The folder that holds the review.
fn model(files: &Files, path: &str) -> Option<String> {
    let model = path.rsplit('/').nth(1).unwrap_or(files.name());
    (model != "reviews" && !model.ends_with(".jsonl")).then(|| model.to_owned())
}

fn new_draft(model: Option<String>, path: &str) -> Draft {
    let agent = Finding::note(
        "agent_unknown",
        path,
        "EvalScope's reviews do not tell which agent ran, nor when, nor its tokens",
    );
    Draft {
        title: format!("SkillsBench on EvalScope, {}", model.as_deref().unwrap_or("unknown model")),
        model,
        findings: vec![agent],
        ..Draft::default()
    }
}

fn lines(source: &str, path: &str, bytes: &[u8], draft: &mut Draft, findings: &mut Vec<Finding>) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Review>(line) {
            Ok(review) => match run(source, path, index + 1, review, &mut draft.findings) {
                Ok(run) => draft.runs.push(run),
                Err(finding) => findings.push(*finding),
            },
            Err(error) => findings.push(json_error(path, &error, index)),
        }
    }
}

fn run(
    source: &str,
    path: &str,
    line: usize,
    review: Review,
    findings: &mut Vec<Finding>,
) -> Result<Run, Box<Finding>> {
    let Score { value, metadata } = review.sample_score.score;
    let at = |finding: Finding| u32::try_from(line).map_or(finding.clone(), |line| finding.at(line, None));
    let condition = match metadata.skill_mode.as_deref() {
        Some("no-skill") => Some(Condition::NoSkill),
        Some("with-skill") => Some(Condition::WithSkill),
        Some(_) => None,
        None => arm::of_path(source, path),
    };
    let condition = condition.ok_or_else(|| {
        let message = format!(
            "task {}: the skill_mode {:?} is neither no-skill nor with-skill",
            metadata.task_id, metadata.skill_mode
        );
        Box::new(at(Finding::error("unknown_arm", path, message).hint(arm::HINT)))
    })?;
    let score = value.get("score").map(|score| match score {
        Number::Float(score) => *score,
        Number::Bool(passed) => f64::from(u8::from(*passed)),
    });
    let reward = number::reward(score, path, &format!("line {line}: score"), findings);
    let verdict = match (metadata.verifier_error, reward) {
        (Some(message), _) => Verdict::VerifierError { message },
        (None, Some(1.0)) => Verdict::Pass,
        (None, Some(_)) => Verdict::Fail { reason: FailReason::WrongResult },
        (None, None) => Verdict::VerifierError { message: "EvalScope wrote no usable score".to_owned() },
    };
    // The 0 that stands for a broken verifier is no reward.
    let reward = reward.filter(|_| verdict.scored().is_some());
    let result = AttemptResult { reward, image: metadata.image_tag, ..AttemptResult::bare(verdict) };
    let attempts = vec![Try { started_at: None, ended_at: None, result }];
    Ok(Run { file: path.to_owned(), task: metadata.task_id, condition, repeat: None, attempts })
}
