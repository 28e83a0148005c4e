//! Job folders of Harbor, and of BenchFlow, which grew from it: `result.json` of each trial, with its CTRF report, verifier output and ATIF
//! trajectory. Nothing else of a trial's configuration is read: keys have been seen in it.

use std::collections::BTreeMap;

use domain::attempt::{AttemptResult, BlobRef, PhaseTimes};
use domain::condition::Condition;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::skill_audit::Activation;
use domain::time::Timestamp;
use domain::usage::TokenUsage;

use super::draft::{Contents, Draft, Run, Try};
use super::harbor_result::TrialResult;
use super::{Files, ReadEvaluation, arm, number};
use crate::trace::{TraceFormat, read as read_trace};
use crate::verdict::ctrf::read_ctrf;
use crate::verdict::pytest::read_pytest;

/// As far as a file is looked at to see whether it is a trial's, in bytes.
const HEAD: usize = 4_096;
/// Longest end of a verifier's output that is kept, in bytes.
const LOG: usize = 1 << 20;

pub(super) fn candidates(files: &Files) -> Vec<String> {
    let trial = |path: &String| {
        if path.rsplit('/').next() != Some("result.json") {
            return false;
        }
        let head = files.peek(path, HEAD);
        let head = String::from_utf8_lossy(&head);
        head.contains("\"task_name\"") && (head.contains("\"trial_name\"") || head.contains("\"rollout_name\""))
    };
    files.paths().into_iter().filter(trial).collect()
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let mut trials: Vec<(String, TrialResult)> = Vec::new();
    for path in candidates(files) {
        match files.json(&path) {
            Ok(trial) => trials.push((path, trial)),
            Err(finding) => findings.push(*finding),
        }
    }
    // Repeats are counted in the order in which the trials began.
    trials.sort_by(|(a, x), (b, y)| (x.started(), a).cmp(&(y.started(), b)));
    let mut by_actor: BTreeMap<(String, String, String), (Draft, Contents)> = BTreeMap::new();
    for (path, trial) in trials {
        let actor = (trial.agent(), trial.agent_version().unwrap_or_default(), trial.model().unwrap_or_default());
        let (draft, contents) = by_actor.entry(actor).or_insert_with(|| (new_draft(&path, &trial), Contents::new()));
        match run(files, &path, &trial, contents, &mut draft.findings) {
            Ok(run) => {
                skills(draft, &trial, run.condition);
                draft.runs.push(run);
            }
            Err(finding) => findings.push(*finding),
        }
    }
    let finish = |(mut draft, contents): (Draft, Contents)| {
        draft.created_at =
            draft.runs.iter().flat_map(|run| &run.attempts).filter_map(|attempt| attempt.started_at).min();
        let evaluation = (!draft.runs.is_empty()).then(|| draft.finish(now, findings))??;
        Some(ReadEvaluation { files: contents, ..evaluation })
    };
    by_actor.into_values().filter_map(finish).collect()
}

fn new_draft(path: &str, trial: &TrialResult) -> Draft {
    let model = trial.model();
    let tokens = "this runner does not tell cache writes apart: they are counted as input tokens";
    Draft {
        title: format!("{}, {} on Harbor", trial.agent(), model.as_deref().unwrap_or("no model")),
        agent: Some(trial.agent()),
        agent_version: trial.agent_version(),
        model,
        findings: vec![Finding::note("cache_writes", path, tokens)],
        ..Draft::default()
    }
}

/// The treatment's skills, as long as all with-skill trials had the same.
fn skills(draft: &mut Draft, trial: &TrialResult, condition: Condition) {
    if condition == Condition::NoSkill {
        return;
    }
    let names = trial.skills().unwrap_or_default();
    let first = draft.runs.iter().all(|run| run.condition == Condition::NoSkill);
    if first {
        draft.skills = names;
    } else if draft.skills != names && !draft.skills.is_empty() {
        let message = "the with-skill trials had different skills, so each task is taken to have its own";
        draft
            .findings
            .push(Finding::warning("several_treatments", &draft.title, message).hint("import the jobs one by one"));
        draft.skills = Vec::new();
    }
}

fn condition(
    source: &str,
    path: &str,
    trial: &TrialResult,
    findings: &mut Vec<Finding>,
) -> Result<Condition, Box<Finding>> {
    let unknown = |message: String| Box::new(Finding::error("unknown_arm", path, message).hint(arm::HINT));
    match trial.skill_mode.as_deref() {
        Some("with-skill") => return Ok(Condition::WithSkill),
        Some("no-skill") => return Ok(Condition::NoSkill),
        Some(other) => return Err(unknown(format!("the skill_mode {other:?} is neither no-skill nor with-skill"))),
        None => {}
    }
    match (arm::of_path(source, path), trial.skills()) {
        (Some(arm), _) => Ok(arm),
        (None, Some(skills)) if !skills.is_empty() => Ok(Condition::WithSkill),
        (None, Some(_)) => {
            if !findings.iter().any(|finding| finding.code == "arm_by_config") {
                let message = "trials whose agent was given no skill are taken as no-skill; whether the task's image brought one is not told";
                findings.push(Finding::warning("arm_by_config", path, message).hint(arm::HINT));
            }
            Ok(Condition::NoSkill)
        }
        (None, None) => Err(unknown("nothing tells whether the skill was there".to_owned())),
    }
}

fn run(
    files: &mut Files,
    path: &str,
    trial: &TrialResult,
    contents: &mut Contents,
    findings: &mut Vec<Finding>,
) -> Result<Run, Box<Finding>> {
    let source = files.name().to_owned();
    let condition = condition(&source, path, trial, findings)?;
    let reward = number::reward(trial.reward(), path, "the reward", findings);
    let verdict = trial.verdict(reward);
    let mut result = AttemptResult {
        reward: reward.filter(|_| verdict.scored().is_some()),
        usage: usage(trial),
        activation: Activation { opened: trial.skill_opened(), ..Activation::default() },
        phases: trial.phases(),
        ..AttemptResult::bare(verdict)
    };
    evidence(files, path, contents, &mut result, findings);
    let attempts = vec![Try { started_at: trial.started(), ended_at: trial.ended(), result }];
    Ok(Run { file: path.to_owned(), task: trial.task_name.clone(), condition, repeat: None, attempts })
}

/// The prompt total holds what was read from a cache.
fn usage(trial: &TrialResult) -> TokenUsage {
    let (input, cached, output) = trial.tokens();
    let Some(input) = input else { return TokenUsage { output, ..TokenUsage::UNKNOWN } };
    let cached = cached.unwrap_or(0).min(input);
    TokenUsage { input: Some(input - cached), cache_read: Some(cached), cache_write: Some(0), output }
}

/// What lies beside the result: test cases, the verifier's output, the trajectory. Each may be absent.
fn evidence(
    files: &mut Files,
    path: &str,
    contents: &mut Contents,
    result: &mut AttemptResult,
    findings: &mut Vec<Finding>,
) {
    let folder = path.strip_suffix("result.json").unwrap_or_default().to_owned();
    let beside = |name: &str| format!("{folder}{name}");
    let there: Vec<String> = files.paths();
    let has = |path: &String| there.binary_search(path).is_ok();
    let mut keep = |bytes: Vec<u8>| {
        let blob = BlobRef { hash: ContentHash::of(&bytes), size: bytes.len() as u64 };
        contents.insert(blob.hash, bytes);
        Some(blob)
    };
    let log = beside("verifier/test-stdout.txt");
    if let Some(bytes) = Some(log).filter(has).and_then(|log| files.read(&log).ok()).filter(|bytes| !bytes.is_empty()) {
        let end = bytes.get(bytes.len().saturating_sub(LOG)..).unwrap_or_default().to_vec();
        result.tests = read_pytest(&String::from_utf8_lossy(&end));
        result.verifier_log = keep(end);
    }
    let ctrf = beside("verifier/ctrf.json");
    if let Some(bytes) = Some(ctrf.clone()).filter(has).and_then(|ctrf| files.read(&ctrf).ok()) {
        match read_ctrf(&bytes) {
            Ok(tests) => result.tests = tests,
            Err(error) => {
                let finding = Finding::warning("ctrf", ctrf, format!("the test report was left out: {error}"));
                findings.push(finding.hint("the verifier's output still tells its tests"));
            }
        }
    }
    let trajectory = beside("agent/trajectory.json");
    if let Some(bytes) = Some(trajectory.clone()).filter(has).and_then(|path| files.read(&path).ok()) {
        let reading = read_trace(TraceFormat::Atif, &bytes);
        findings.extend(reading.notes.into_iter().map(|note| Finding::note("trajectory", &trajectory, note)));
        if !reading.trace.steps.is_empty() {
            result.trace = serde_json::to_vec(&reading.trace).ok().and_then(keep);
        }
    }
}

/// Durations of the phases.
impl TrialResult {
    fn phases(&self) -> PhaseTimes {
        let of =
            |timing: &Option<super::harbor_result::Timing>| timing.as_ref().and_then(super::harbor_result::Timing::ms);
        let (setup, install) = (of(&self.environment_setup), of(&self.agent_setup));
        if let Some(seconds) = &self.timing {
            let prepared = [seconds.environment_setup, seconds.agent_setup].into_iter().flatten().sum::<f64>();
            return PhaseTimes {
                preparing: number::seconds(Some(prepared)),
                agent: number::seconds(seconds.agent_execution),
                verifying: number::seconds(seconds.verifier),
            };
        }
        let preparing = setup.map(|setup| setup.saturating_add(install.unwrap_or(0)));
        PhaseTimes { preparing, agent: of(&self.agent_execution), verifying: of(&self.verifier) }
    }
}
