//! Rows of a results file, put into groups (skill × agent × model), tasks and pairs. Nothing is dropped in silence: what is left out is told.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::row::{CaseResults, FileTrial};
use crate::attempt::AttemptResult;
use crate::condition::Condition;
use crate::finding::Finding;
use crate::hash::ContentHash;
use crate::id::{TaskId, TrialId};
use crate::plan::TaskRef;
use crate::report::{TaskReport, TrialIndex, TrialRecord};
use crate::test_case::TestCase;

/// What trials must have in common to be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKey {
    /// The skill under test; `None` where the file names none.
    pub skill: Option<String>,
    /// Who solved the tasks.
    pub agent: Option<String>,
    /// With which model.
    pub model: Option<String>,
}

/// For people: `xlsx · bash 1 · m`.
impl std::fmt::Display for GroupKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> =
            [&self.skill, &self.agent, &self.model].into_iter().flatten().map(String::as_str).collect();
        f.write_str(&parts.join(" · "))
    }
}

/// The trials of one key.
pub(super) struct Group {
    pub key: GroupKey,
    pub scripted: bool,
    pub tasks: Vec<TaskReport>,
    /// What each task shares with others, in the order of `tasks`.
    pub clusters: Vec<Option<String>>,
    pub records: Vec<TrialRecord>,
    /// Numbers of test cases, where the file has no names.
    pub counted: HashMap<TrialId, (u32, u32)>,
    first_id: i64,
}

impl Group {
    /// The trials of one evaluation.
    pub fn of_evaluation(tasks: Vec<TaskReport>, clusters: Vec<Option<String>>, records: Vec<TrialRecord>) -> Self {
        Self {
            key: GroupKey::default(),
            scripted: false,
            tasks,
            clusters,
            records,
            counted: HashMap::new(),
            first_id: 0,
        }
    }
}

/// All groups, with what was noticed.
#[derive(Default)]
pub(super) struct Grouped {
    pub groups: Vec<Group>,
    pub findings: Vec<Finding>,
    /// Tries that a later try at the same trial replaced.
    pub superseded: u64,
    /// No-skill trials of tasks that no skill was tried on.
    pub unused_baselines: u64,
}

/// Most trials after shared baselines were given to each skill.
const MOST_RECORDS: usize = 5_000_000;
/// Most problems told at once.
const MOST_TOLD: usize = 20;

/// Puts rows into groups.
///
/// # Errors
/// Findings with file, line and remedy: two rows of one trial, a task in two clusters, rows that name no skill beside others that do.
pub(super) fn group(file: &str, rows: &[FileTrial]) -> Result<Grouped, Vec<Finding>> {
    let mut grouped = Grouped::default();
    let sets = sets(file, rows, &mut grouped)?;
    let labels = Labels::of(rows);
    labels.tell(file, rows, &mut grouped.findings);
    let mut problems = Vec::new();
    for (key, tasks) in sets {
        let mut group = Group {
            key,
            scripted: false,
            tasks: Vec::new(),
            clusters: Vec::new(),
            records: Vec::new(),
            counted: HashMap::new(),
            first_id: grouped.groups.iter().map(|group| group.records.len() as i64).sum(),
        };
        let mut planned = Vec::with_capacity(tasks.len());
        for (name, members) in tasks {
            let task =
                TaskRef { id: TaskId(planned.len() as i64), name: name.to_owned(), version: ContentHash::of(&[]) };
            match labels.number(file, &members, &mut grouped.superseded) {
                Ok((repeats, members)) => {
                    members.into_iter().for_each(|(row, repeat)| group.take(&task, repeat, row));
                    planned.push((task, repeats));
                }
                Err(problem) => problems.push(problem),
            }
            match cluster(file, &members) {
                Ok(cluster) => group.clusters.push(cluster),
                Err(problem) => problems.push(problem),
            }
            if problems.len() >= MOST_TOLD {
                return Err(problems);
            }
        }
        group.pair(&planned);
        grouped.groups.push(group);
    }
    if problems.is_empty() { Ok(grouped) } else { Err(problems) }
}

type Tasks<'a> = Vec<(&'a str, Vec<&'a FileTrial>)>;

/// Rows by key and task, both in the order of their first row.
fn sets<'a>(
    file: &str,
    rows: &'a [FileTrial],
    grouped: &mut Grouped,
) -> Result<Vec<(GroupKey, Tasks<'a>)>, Vec<Finding>> {
    let names_skills = rows.iter().any(|row| row.skill.is_some());
    let is_shared = |row: &FileTrial| names_skills && row.skill.is_none() && row.condition == Condition::NoSkill;
    if let Some(row) = rows.iter().find(|row| names_skills && row.skill.is_none() && !is_shared(row)) {
        let message = "this with-skill trial names no skill, while others do";
        return Err(vec![told("no_skill_named", file, row, message, "fill the column `skill`")]);
    }
    let mut sets = Sets::default();
    rows.iter().filter(|row| !is_shared(row)).for_each(|row| sets.add(key(row), row));
    let shared: Vec<&FileTrial> = rows.iter().filter(|row| is_shared(row)).collect();
    if shared.is_empty() {
        return Ok(sets.sets);
    }
    let Some(unused) = sets.share(&shared) else {
        let message = "the shared baselines make more than 5 million trials";
        return Err(vec![Finding::error("too_many_trials", file, message).hint("analyze fewer skills at a time")]);
    };
    grouped.unused_baselines = unused;
    let message = format!(
        "{} no-skill trials name no skill: each is the baseline of every skill tried on its task",
        shared.len()
    );
    grouped.findings.push(Finding::note("shared_baseline", file, message));
    if unused > 0 {
        let message = format!("{unused} no-skill trials are left out: no skill was tried on their tasks");
        grouped.findings.push(
            Finding::warning("unused_baseline", file, message).hint("add the with-skill trials, or remove these rows"),
        );
    }
    Ok(sets.sets)
}

fn key(row: &FileTrial) -> GroupKey {
    GroupKey { skill: row.skill.clone(), agent: row.agent.clone(), model: row.model.clone() }
}

/// Task, agent and model: what a baseline and those who use it share.
type Runner<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

fn runner(row: &FileTrial) -> Runner<'_> {
    (row.task.as_str(), row.agent.as_deref(), row.model.as_deref())
}

#[derive(Default)]
struct Sets<'a> {
    sets: Vec<(GroupKey, Tasks<'a>)>,
    set_places: HashMap<GroupKey, usize>,
    task_places: HashMap<(usize, &'a str), usize>,
}

impl<'a> Sets<'a> {
    fn add(&mut self, key: GroupKey, row: &'a FileTrial) {
        let set = *self.set_places.entry(key.clone()).or_insert_with(|| {
            self.sets.push((key, Vec::new()));
            self.sets.len() - 1
        });
        let Some((_, tasks)) = self.sets.get_mut(set) else { return };
        let task = *self.task_places.entry((set, row.task.as_str())).or_insert_with(|| {
            tasks.push((row.task.as_str(), Vec::new()));
            tasks.len() - 1
        });
        if let Some((_, members)) = tasks.get_mut(task) {
            members.push(row);
        }
    }

    /// Gives each baseline to every skill of the same agent and model that was tried on its task. Tells how many found none; `None` where that
    /// would make too many trials.
    fn share(&mut self, shared: &[&'a FileTrial]) -> Option<u64> {
        let keys: Vec<(GroupKey, Vec<&str>)> =
            self.sets.iter().map(|(key, tasks)| (key.clone(), tasks.iter().map(|(task, _)| *task).collect())).collect();
        let mut takers: HashMap<Runner<'_>, Vec<&GroupKey>> = HashMap::new();
        for (key, tasks) in &keys {
            for task in tasks {
                takers.entry((task, key.agent.as_deref(), key.model.as_deref())).or_default().push(key);
            }
        }
        let copies: usize = shared.iter().filter_map(|row| takers.get(&runner(row))).map(Vec::len).sum();
        if copies > MOST_RECORDS {
            return None;
        }
        let mut unused = 0;
        for row in shared {
            match takers.get(&runner(row)) {
                Some(keys) => keys.iter().for_each(|key| self.add((*key).clone(), row)),
                None => unused += 1,
            }
        }
        Some(unused)
    }
}

/// How many repeats a task has, and the number of each of its trials.
type Numbered<'a> = (u32, Vec<(&'a FileTrial, u32)>);

/// How the file tells repetitions of a task apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    /// By a column `repeat`; of several attempts the last counts.
    Repeat,
    /// By a column `attempt` alone.
    Attempt,
    /// Not at all: by their order.
    Order,
}

impl Labels {
    fn of(rows: &[FileTrial]) -> Self {
        if rows.iter().any(|row| row.repeat.is_some()) {
            Self::Repeat
        } else if rows.iter().any(|row| row.attempt.is_some()) {
            Self::Attempt
        } else {
            Self::Order
        }
    }

    fn tell(self, file: &str, rows: &[FileTrial], findings: &mut Vec<Finding>) {
        match self {
            Self::Order if !rows.is_empty() => findings.push(Finding::note(
                "no_repeat",
                file,
                "no `repeat` is given: trials of one task and arm are numbered in the order of the file",
            )),
            Self::Attempt => findings.push(Finding::note(
                "attempt_is_repeat",
                file,
                "no `repeat` is given: `attempt` is taken for it",
            )),
            Self::Repeat | Self::Order => {}
        }
    }

    /// Numbers the trials of one task 1, 2, … so that equal labels of the two arms get equal numbers; only the last attempt stays.
    fn number<'a>(self, file: &str, members: &[&'a FileTrial], superseded: &mut u64) -> Result<Numbered<'a>, Finding> {
        let mut last: BTreeMap<(i64, Condition), &FileTrial> = BTreeMap::new();
        let mut order = [0_i64; 2];
        for row in members {
            let label = match self {
                Self::Repeat => row.repeat,
                Self::Attempt => row.attempt,
                Self::Order => Some(next(&mut order, row.condition)),
            };
            let Some(label) = label else {
                let message = "this trial has no repeat, while others have";
                return Err(told("no_repeat", file, row, message, "fill the column `repeat`"));
            };
            match last.get_mut(&(label, row.condition)) {
                None => drop(last.insert((label, row.condition), row)),
                Some(before) if self == Self::Repeat && before.attempt.is_some() && before.attempt != row.attempt => {
                    *superseded += 1;
                    if row.attempt > before.attempt {
                        *before = row;
                    }
                }
                Some(before) => return Err(twice(file, row, before, label)),
            }
        }
        let mut repeats = BTreeMap::new();
        for (label, _) in last.keys() {
            repeats.insert(*label, 0_u32);
        }
        repeats.values_mut().zip(1..).for_each(|(number, place)| *number = place);
        let numbered = last.into_iter().filter_map(|((label, _), row)| Some((row, *repeats.get(&label)?))).collect();
        Ok((u32::try_from(repeats.len()).unwrap_or(u32::MAX), numbered))
    }
}

fn next(order: &mut [i64; 2], condition: Condition) -> i64 {
    let [without, with] = order;
    let place = match condition {
        Condition::NoSkill => without,
        Condition::WithSkill => with,
    };
    *place += 1;
    *place
}

fn twice(file: &str, row: &FileTrial, before: &FileTrial, label: i64) -> Finding {
    let message = format!(
        "the {} trial of task {:?}, repeat {label} stands here and in {}",
        row.condition,
        row.task,
        place(before)
    );
    told(
        "trial_twice",
        file,
        row,
        &message,
        "number repeats in `repeat`; where one is a retry, tell them apart in `attempt`",
    )
}

fn cluster(file: &str, members: &[&FileTrial]) -> Result<Option<String>, Finding> {
    let mut found: Option<&FileTrial> = None;
    for row in members.iter().filter(|row| row.cluster.is_some()) {
        match found {
            Some(first) if first.cluster != row.cluster => {
                let message = format!(
                    "task {:?} is in cluster {:?} here and in another in {}",
                    row.task,
                    row.cluster.as_deref().unwrap_or_default(),
                    place(first)
                );
                return Err(told("two_clusters", file, row, &message, "give each task one cluster"));
            }
            _ => found = Some(row),
        }
    }
    Ok(found.and_then(|row| row.cluster.clone()))
}

fn told(code: &str, file: &str, row: &FileTrial, message: &str, hint: &str) -> Finding {
    Finding::error(code, file, message).at(row.line, (row.column > 1).then_some(row.column)).hint(hint)
}

fn place(row: &FileTrial) -> String {
    if row.column > 1 { format!("line {}, column {}", row.line, row.column) } else { format!("line {}", row.line) }
}

impl Group {
    fn take(&mut self, task: &TaskRef, repeat: u32, row: &FileTrial) {
        let id = TrialId(self.first_id + self.records.len() as i64);
        let verdict = row.outcome.verdict();
        let result = verdict.map(|verdict| {
            let mut result = AttemptResult::bare(verdict);
            result.reward = row.reward;
            result.usage = row.usage;
            result.activation.opened = row.activated;
            result.tests = match &row.cases {
                Some(CaseResults::Named(cases)) => cases.clone(),
                Some(CaseResults::Counted { .. }) | None => Vec::<TestCase>::new(),
            };
            result
        });
        if let Some(CaseResults::Counted { passed, total }) = row.cases {
            self.counted.insert(id, (passed, total));
        }
        self.scripted |= row.scripted;
        self.records.push(TrialRecord {
            id,
            task_id: task.id,
            task: task.name.clone(),
            condition: row.condition,
            repeat,
            state: row.outcome.state(),
            result,
        });
    }

    fn pair(&mut self, planned: &[(TaskRef, u32)]) {
        let index: TrialIndex<'_> =
            self.records.iter().map(|record| ((record.task_id, record.condition, record.repeat), record)).collect();
        self.tasks = planned.iter().map(|(task, repeats)| TaskReport::of(task, *repeats, &index)).collect();
    }
}
