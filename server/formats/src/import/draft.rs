//! What every foreign format is brought to: runs by task and arm, in the order in which they were made. From it come plan and trials.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeFrom;

use domain::attempt::AttemptResult;
use domain::comparison::{Baseline, Compared, Comparison};
use domain::condition::Condition;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, TrialHistory};
use domain::id::{SkillVersionId, TaskId, TrialId};
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillDelivery, SkillRef, TaskRef, Treatment};
use domain::report::{ComparisonReport, ReportSkill};
use domain::time::Timestamp;
use domain::trial::TrialState;
use domain::verdict::Verdict;

use super::{ReadEvaluation, number};

/// Most pairs of an evaluation that are taken.
pub(super) const MOST_PAIRS: usize = 100_000;
/// Stands where a source does not tell.
pub(super) const UNKNOWN: &str = "unknown";

/// Content of files by hash.
pub(super) type Contents = BTreeMap<ContentHash, Vec<u8>>;

/// An evaluation in the making.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub title: String,
    /// Names of the skills that all with-skill runs had; empty = each task's own.
    pub skills: Vec<String>,
    /// With what they were compared, where the source tells; else with no skill.
    pub compared: Option<ComparisonReport>,
    pub agent: Option<String>,
    pub agent_version: Option<String>,
    pub delivery: SkillDelivery,
    pub model: Option<String>,
    pub created_at: Option<Timestamp>,
    pub runs: Vec<Run>,
    pub findings: Vec<Finding>,
}

/// One run: what becomes a trial.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The file that tells of it, for findings.
    pub file: String,
    pub task: String,
    pub condition: Condition,
    /// From 1, where the source numbers its runs; else they are counted as they come.
    pub repeat: Option<u32>,
    pub attempts: Vec<Try>,
}

/// One try at it.
#[derive(Debug, Clone)]
pub(super) struct Try {
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub result: AttemptResult,
}

impl Draft {
    /// Plan and trials. Pushes errors to `findings` where they cannot be made.
    pub(super) fn finish(mut self, now: Timestamp, findings: &mut Vec<Finding>) -> Option<ReadEvaluation> {
        for run in &mut self.runs {
            let place = format!("an attempt at {}, {},", run.task, run.condition);
            for attempt in &mut run.attempts {
                (attempt.started_at, attempt.ended_at) =
                    number::span(attempt.started_at, attempt.ended_at, &run.file, &place, &mut self.findings);
            }
        }
        let tasks = task_names(&self.runs);
        let created_at = self.created_at.unwrap_or(now);
        let (trials, repeats) = match trials(&self.runs, &tasks, created_at) {
            Ok(trials) => trials,
            Err(finding) => {
                findings.push(*finding);
                return None;
            }
        };
        let mut ids = 1..;
        let model = self.model.map(|name| ModelRef { name, upstream: UNKNOWN.to_owned(), scripted: false });
        let plan = EvaluationPlan {
            title: self.title,
            treatment: treatment(&self.skills, &mut ids),
            comparison: self.compared.map(|told| comparison(&told, &mut ids)).unwrap_or_default(),
            tasks: task_refs(&tasks),
            task_set: None,
            agent: AgentRef {
                name: self.agent.unwrap_or_else(unknown),
                version: self.agent_version.unwrap_or_else(unknown),
                skills: self.delivery,
            },
            model,
            repeats,
            seed: 0,
            settings: RunSettings::default(),
            kind: Default::default(),
        };
        Some(ReadEvaluation {
            plan,
            created_at,
            trials,
            stopped: None,
            files: Contents::new(),
            before: None,
            findings: self.findings,
        })
    }
}

fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// Task names in the order in which they come.
fn task_names(runs: &[Run]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    runs.iter().filter(|run| seen.insert(run.task.as_str())).map(|run| run.task.clone()).collect()
}

fn task_refs(names: &[String]) -> Vec<TaskRef> {
    let task =
        |(id, name): (i64, &String)| TaskRef { id: TaskId(-id), name: name.clone(), version: ContentHash::UNKNOWN };
    (1..).zip(names).map(task).collect()
}

fn treatment(skills: &[String], ids: &mut RangeFrom<i64>) -> Treatment {
    if skills.is_empty() {
        return Treatment::TasksOwn;
    }
    let skills: Vec<ReportSkill> =
        skills.iter().map(|name| ReportSkill { name: name.clone(), version: None }).collect();
    Treatment::Skills { versions: skill_refs(&skills, ids) }
}

/// Skills as a result of ours names them. Their ids are below 0 and name no row.
pub(super) fn skill_refs(skills: &[ReportSkill], ids: &mut RangeFrom<i64>) -> Vec<SkillRef> {
    let skill = |(skill, id): (&ReportSkill, i64)| SkillRef {
        id: SkillVersionId(-id),
        name: skill.name.clone(),
        version: skill.version.as_ref().and_then(|version| version.parse().ok()).unwrap_or(ContentHash::UNKNOWN),
    };
    skills.iter().zip(ids).map(skill).collect()
}

/// What a result of ours says was compared.
pub(super) fn comparison(told: &ComparisonReport, ids: &mut RangeFrom<i64>) -> Comparison {
    let baseline = &told.arms.without.skills;
    let baseline = match told.kind {
        Compared::NoSkill => Baseline::NoSkill,
        Compared::PreviousVersion => Baseline::PreviousVersion { versions: skill_refs(baseline, ids) },
        Compared::Control => Baseline::Control { versions: skill_refs(baseline, ids) },
        Compared::Same => Baseline::Same,
    };
    Comparison { baseline, distractors: skill_refs(&told.distractors, ids) }
}

/// The trials, and the number of repeats.
fn trials(runs: &[Run], tasks: &[String], at: Timestamp) -> Result<(Vec<TrialHistory>, u32), Box<Finding>> {
    let ids: BTreeMap<&str, i64> = tasks.iter().map(String::as_str).zip(1..).collect();
    let mut counted: BTreeMap<(i64, Condition), u32> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut trials = Vec::with_capacity(runs.len());
    let mut repeats = 1;
    for (number, run) in (1..).zip(runs) {
        let task = ids.get(run.task.as_str()).copied().unwrap_or_default();
        let count = counted.entry((task, run.condition)).or_default();
        *count = count.saturating_add(1);
        let repeat = run.repeat.unwrap_or(*count);
        if repeat == 0 || !seen.insert((task, run.condition, repeat)) {
            let message = format!("run {repeat} of {} {} is there twice, or has the number 0", run.task, run.condition);
            let hint = "number the runs of each task and arm from 1, each once";
            return Err(Box::new(Finding::error("repeated_run", &run.file, message).hint(hint)));
        }
        repeats = repeats.max(repeat);
        trials.push(trial(run, TrialId(-number), TaskId(-task), repeat, at));
    }
    let pairs = (repeats as usize).saturating_mul(tasks.len());
    if pairs > MOST_PAIRS {
        let file = runs.first().map(|run| run.file.clone()).unwrap_or_default();
        let message = format!("{} tasks with up to {repeats} runs make more than {MOST_PAIRS} pairs", tasks.len());
        return Err(Box::new(Finding::error("too_many_pairs", file, message).hint("import it in parts")));
    }
    Ok((trials, repeats))
}

fn trial(run: &Run, id: TrialId, task: TaskId, repeat: u32, at: Timestamp) -> TrialHistory {
    let attempts: Vec<AttemptHistory> = (1..)
        .zip(&run.attempts)
        .map(|(number, attempt)| AttemptHistory {
            number,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            verdict: Some(attempt.result.verdict.clone()),
            result: Some(attempt.result.clone()),
            told: None,
        })
        .collect();
    let last = run.attempts.last();
    let state = TrialState::Finished {
        attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
        verdict: last.map_or(Verdict::Cancelled, |last| last.result.verdict.clone()),
        at: last.and_then(|last| last.ended_at).unwrap_or(at),
    };
    TrialHistory { id, task, condition: run.condition, repeat, state, attempts }
}
