//! Our own JSON: `skilldelta.export.v1`, everything without loss, and `skilldelta.evaluation.v1`, the result that `eval --json` writes.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::comparison::{Baseline, Comparison};
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::TrialHistory;
use domain::id::{SkillVersionId, TaskId, TrialId};
use domain::plan::{EvaluationPlan, SkillRef, TaskRef, Treatment};
use domain::stop::{Seen, Stopped};
use domain::time::Timestamp;
use domain::trial::TrialState;
use domain::verdict::Verdict;
use serde::Deserialize;

use super::draft::MOST_PAIRS;
use super::files::{json_error, parse};
use super::{Files, ReadEvaluation, number, skilldelta_report};
use crate::export::document::{BaselinePart, Document, FilePart, SCHEMA, TreatmentPart, TrialPart, VersionPart};

/// As far as a file is looked at to see whether it is ours, in bytes.
const HEAD: usize = 512;

/// Most tokens of one class that an attempt can have used: above it readers of JSON lose digits, and sums their meaning.
const MOST_TOKENS: u64 = 1 << 53;
/// Instants that can be meant, in milliseconds since 1970 UTC: up to the year 9999.
const SANE: std::ops::Range<i64> = 0..253_402_300_800_000;
/// How the schemas of our own documents begin.
const OURS: [&str; 2] = ["skilldelta.export.", "skilldelta.evaluation."];

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// The files that say that they are ours. Other programs may have put the fields in another order, so a file that stands alone is read whole.
pub(super) fn candidates(files: &Files) -> Vec<String> {
    let ours = |path: &String| {
        let head = files.peek(path, HEAD);
        let head = String::from_utf8_lossy(&head);
        head.contains("\"schema\"") && OURS.iter().any(|start| head.contains(&format!("\"{start}")))
    };
    let paths = files.paths();
    match paths.as_slice() {
        // Whatever its name ends with: it was named by a person.
        [only] if !ours(only) || !only.ends_with(".json") => {
            let head: Option<Head> = files.bytes_of(only).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let is_ours = head.is_some_and(|head| OURS.iter().any(|start| head.schema.starts_with(start)));
            if is_ours { paths } else { Vec::new() }
        }
        _ => paths.into_iter().filter(|path| path.ends_with(".json")).filter(ours).collect(),
    }
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let mut paths = candidates(files);
    if paths.is_empty() {
        paths = files.paths().into_iter().filter(|path| path.ends_with(".json")).collect();
    }
    let mut read = Vec::new();
    for path in paths {
        match files.read(&path).and_then(|bytes| one(&path, &bytes, now)) {
            Ok(evaluation) => read.push(evaluation),
            Err(finding) => findings.push(*finding),
        }
    }
    read
}

fn one(path: &str, bytes: &[u8], now: Timestamp) -> Result<ReadEvaluation, Box<Finding>> {
    let head: Head = parse(path, bytes)?;
    match head.schema.as_str() {
        SCHEMA => document(path, bytes),
        domain::report::SCHEMA => skilldelta_report::read(path, &parse(path, bytes)?, now),
        other => {
            let message = format!("the schema {other:?} is not known here");
            let hint = format!(
                "this program reads {SCHEMA} and {}; use the newer program that wrote it",
                domain::report::SCHEMA
            );
            Err(Box::new(Finding::error("unknown_schema", path, message).hint(hint)))
        }
    }
}

fn document(path: &str, bytes: &[u8]) -> Result<ReadEvaluation, Box<Finding>> {
    let mut unknown = Vec::new();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let document: Document = serde_ignored::deserialize(&mut json, |field| unknown.push(field.to_string()))
        .map_err(|error| Box::new(json_error(path, &error, 0)))?;
    json.end().map_err(|error| Box::new(json_error(path, &error, 0)))?;
    let mut findings: Vec<Finding> = unknown
        .into_iter()
        .filter(|field| field != "report")
        .map(|field| {
            let message = format!("the field {field} is not known here and was left out");
            Finding::warning("unknown_field", path, message).hint("a newer program wrote it; use that one to keep it")
        })
        .collect();
    let plan = plan(path, &document)?;
    let stopped = stopped(path, document.evaluation.stopped.clone(), &plan)?;
    let trials = trials(path, &document, &plan, &mut findings)?;
    let files = contents(path, document.files)?;
    Ok(ReadEvaluation {
        plan,
        created_at: document.evaluation.created_at,
        trials,
        stopped,
        files,
        before: document.imported,
        findings,
    })
}

fn refuse(code: &str, path: &str, message: String, hint: &str) -> Box<Finding> {
    Box::new(Finding::error(code, path, message).hint(hint))
}

fn plan(path: &str, document: &Document) -> Result<EvaluationPlan, Box<Finding>> {
    let part = &document.evaluation;
    let no_skill = matches!(&part.treatment, TreatmentPart::Skills { versions } if versions.is_empty());
    if part.tasks.is_empty() || part.repeats == 0 || no_skill || document.trials.is_empty() {
        return Err(refuse(
            "empty_plan",
            path,
            "there is no task, no repeat, no trial, or no skill where skills are said to be compared".to_owned(),
            "export it again",
        ));
    }
    if !SANE.contains(&part.created_at.0) {
        let message = format!("evaluation.created_at {} is no instant of our times", part.created_at.0);
        return Err(refuse("wrong_instant", path, message, "give milliseconds since 1970 UTC"));
    }
    if (part.repeats as usize).saturating_mul(part.tasks.len()) > MOST_PAIRS {
        let message = format!("evaluation.repeats times the tasks make more than {MOST_PAIRS} pairs");
        return Err(refuse("too_many_pairs", path, message, "export the evaluations one by one"));
    }
    let known = |version: Option<ContentHash>| version.unwrap_or(ContentHash::UNKNOWN);
    let mut ids = 1..;
    let mut skills = |versions: &[VersionPart]| -> Vec<SkillRef> {
        let skill = |(skill, id): (&VersionPart, i64)| SkillRef {
            id: SkillVersionId(-id),
            name: skill.name.clone(),
            version: known(skill.version),
        };
        versions.iter().zip(&mut ids).map(skill).collect()
    };
    let treatment = match &part.treatment {
        TreatmentPart::TasksOwn => Treatment::TasksOwn,
        TreatmentPart::Skills { versions } => Treatment::Skills { versions: skills(versions) },
        TreatmentPart::Nothing => Treatment::Nothing,
    };
    let baseline = match &part.baseline {
        BaselinePart::NoSkill => Baseline::NoSkill,
        BaselinePart::PreviousVersion { versions } => Baseline::PreviousVersion { versions: skills(versions) },
        BaselinePart::Control { versions } => Baseline::Control { versions: skills(versions) },
        BaselinePart::Same => Baseline::Same,
    };
    let comparison = Comparison { baseline, distractors: skills(&part.distractors) };
    let task = |(id, task): (i64, &VersionPart)| TaskRef {
        id: TaskId(-id),
        name: task.name.clone(),
        version: known(task.version),
    };
    Ok(EvaluationPlan {
        title: part.title.clone(),
        treatment,
        comparison,
        tasks: (1..).zip(&part.tasks).map(task).collect(),
        task_set: part.task_set.clone(),
        agent: part.agent.clone(),
        model: part.model.clone(),
        repeats: part.repeats,
        seed: part.seed.unwrap_or(0),
        settings: part.settings.clone().unwrap_or_default(),
        kind: Default::default(),
    })
}

/// An early end whose evidence the plan could have given.
pub(super) fn stopped(
    path: &str,
    stopped: Option<Stopped>,
    plan: &EvaluationPlan,
) -> Result<Option<Stopped>, Box<Finding>> {
    let is_possible = |seen: Seen| {
        let flipped = u64::from(seen.rescued) + u64::from(seen.broken);
        flipped <= u64::from(seen.tasks) && u64::from(seen.tasks) <= plan.tasks.len() as u64 && seen.e_value >= 0.0
    };
    if stopped.as_ref().is_some_and(|stopped| !is_possible(stopped.seen)) {
        let message = "the early end rests on tasks that the evaluation does not have".to_owned();
        return Err(refuse("wrong_early_end", path, message, "export it again"));
    }
    Ok(stopped)
}

fn trials(
    path: &str,
    document: &Document,
    plan: &EvaluationPlan,
    findings: &mut Vec<Finding>,
) -> Result<Vec<TrialHistory>, Box<Finding>> {
    let mut seen = BTreeSet::new();
    let mut trials = Vec::with_capacity(document.trials.len());
    for (number, part) in (1_i64..).zip(&document.trials) {
        let place = format!("trials[{}]", number - 1);
        let Some(task) = plan.tasks.get(part.task_index).filter(|task| task.name == part.task) else {
            let message = format!("{place}: task_index {} is not the task {:?}", part.task_index, part.task);
            return Err(refuse("wrong_task", path, message, "export it again"));
        };
        if part.repeat == 0
            || part.repeat > plan.repeats
            || !seen.insert((part.task_index, part.condition, part.repeat))
        {
            let message = format!(
                "{place}: repeat {} of {} {} is there twice, or not in the plan",
                part.repeat, part.task, part.condition
            );
            return Err(refuse("repeated_run", path, message, "export it again"));
        }
        let mut trial = trial(path, &place, part, TrialId(-number), task.id)?;
        for attempt in &mut trial.attempts {
            let place = format!("{place}: attempt {}", attempt.number);
            (attempt.started_at, attempt.ended_at) =
                number::span(attempt.started_at, attempt.ended_at, path, &place, findings);
        }
        trials.push(trial);
    }
    Ok(trials)
}

fn trial(path: &str, place: &str, part: &TrialPart, id: TrialId, task: TaskId) -> Result<TrialHistory, Box<Finding>> {
    let (Some(verdict), Some(at)) = (part.verdict.clone(), part.finished_at) else {
        let message = format!("{place} is not finished ({})", part.state);
        return Err(refuse("unfinished", path, message, "export the evaluation again when it is finished"));
    };
    for attempt in &part.attempts {
        let reward = attempt.result.as_ref().and_then(|result| result.reward);
        let tokens = attempt.result.as_ref().map(|result| result.usage).unwrap_or_default();
        let classes = [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output];
        if classes.into_iter().flatten().any(|tokens| tokens > MOST_TOKENS) {
            let message = format!("{place}: attempt {} counts more tokens than any can use", attempt.number);
            return Err(refuse("token_range", path, message, "export it again"));
        }
        if reward.is_some_and(|reward| !(0.0..=1.0).contains(&reward)) {
            let message = format!("{place}: attempt {} has a reward outside 0..=1", attempt.number);
            return Err(refuse("reward_range", path, message, "export it again"));
        }
    }
    let last = part.attempts.iter().max_by_key(|attempt| attempt.number).and_then(|attempt| attempt.verdict.as_ref());
    if verdict != Verdict::Cancelled && last.is_some_and(|decided| *decided != verdict) {
        let message = format!("{place}: its verdict is {}, and its last attempt says another one", verdict.word());
        return Err(refuse(
            "contradiction",
            path,
            message,
            "the file was changed after it was exported; export it again",
        ));
    }
    let attempts = u32::try_from(part.attempts.len()).unwrap_or(u32::MAX);
    let state = TrialState::Finished { attempts, verdict, at };
    Ok(TrialHistory {
        id,
        task,
        condition: part.condition,
        repeat: part.repeat,
        state,
        attempts: part.attempts.clone(),
    })
}

/// The embedded files; each must be what its name promises.
fn contents(
    path: &str,
    files: BTreeMap<ContentHash, FilePart>,
) -> Result<BTreeMap<ContentHash, Vec<u8>>, Box<Finding>> {
    let mut contents = BTreeMap::new();
    for (hash, part) in files {
        let bytes = match part {
            FilePart::Text(text) => text.into_bytes(),
            FilePart::Base64(text) => STANDARD.decode(text).map_err(|error| {
                refuse("damaged_file", path, format!("files.{hash}: this is no base64: {error}"), "export it again")
            })?,
        };
        if ContentHash::of(&bytes) != hash {
            let message = format!("files.{hash}: the content is not what its name promises");
            return Err(refuse(
                "damaged_file",
                path,
                message,
                "the file was changed after it was exported; export it again",
            ));
        }
        contents.insert(hash, bytes);
    }
    Ok(contents)
}
