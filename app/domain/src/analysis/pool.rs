//! One row out of all finished evaluations of one key, so that running again until it shines does not work: newer runs add tasks and repeats, they
//! never replace, and a row of several is judged by a p that holds however often one looked (statistics rules 2 and 7).

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::looks::{judged_by_both, may_have_been_looked_at};
use super::rank::{Contender, Fraction, Unranked};
use crate::comparison::{Compared, Comparison};
use crate::demonstration::Demonstration;
use crate::hash::ContentHash;
use crate::id::{EvaluationId, TaskId};
use crate::plan::{AgentRef, EvaluationPlan, SkillDelivery, TaskRef, Treatment};
use crate::report::{TaskReport, Totals, TrialIndex, TrialRecord};
use crate::stats::delta::DeltaEstimate;
use crate::stop::Stopped;
use crate::time::Timestamp;

/// What the with-skill arm got, as part of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TreatmentKey {
    /// These skill versions, in the order of their addresses.
    Skills {
        /// At least one.
        versions: Vec<ContentHash>,
    },
    /// The skills bundled with each task.
    TasksOwn,
    /// None: an A/A evaluation.
    Nothing,
}

/// On which tasks, as part of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskSetKey {
    /// A task set by name: its evaluations may have run different parts of it.
    Named {
        /// The set's name.
        name: String,
    },
    /// Exactly these task versions, known by the hash of their sorted addresses.
    Listed {
        /// That hash.
        tasks: ContentHash,
    },
}

/// What evaluations must have in common to be one row: treatment × agent and version × model × task set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolKey {
    /// What the with-skill arm got.
    pub treatment: TreatmentKey,
    /// Adapter name.
    pub agent: String,
    /// Its version.
    pub agent_version: String,
    /// How it comes to know the skills.
    pub skill_delivery: SkillDelivery,
    /// Model name; `None` for agents that call none.
    pub model: Option<String>,
    /// Whether the model's answers came from a file.
    pub scripted: bool,
    /// On which tasks.
    pub task_set: TaskSetKey,
    /// What the baseline arm got and what lay in both arms, where it was not a skill against none.
    pub compared: Option<ComparedKey>,
}

/// A comparison other than a skill against none, as part of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ComparedKey {
    /// Its kind.
    pub kind: Compared,
    /// Versions that it names, in the order of their addresses.
    pub versions: Vec<ContentHash>,
}

impl ComparedKey {
    fn of(comparison: &Comparison) -> Option<Self> {
        let mut versions: Vec<ContentHash> = comparison.versions().map(|skill| skill.version).collect();
        versions.sort_unstable();
        (!comparison.is_plain()).then_some(Self { kind: comparison.kind(), versions })
    }
}

impl PoolKey {
    /// The key of a plan.
    #[must_use]
    pub fn of(plan: &EvaluationPlan) -> Self {
        let treatment = match &plan.treatment {
            Treatment::TasksOwn => TreatmentKey::TasksOwn,
            Treatment::Skills { versions } => {
                let mut versions: Vec<ContentHash> = versions.iter().map(|skill| skill.version).collect();
                versions.sort_unstable();
                TreatmentKey::Skills { versions }
            }
            Treatment::Nothing => TreatmentKey::Nothing,
        };
        let AgentRef { name, version, skills } = plan.agent.clone();
        Self {
            treatment,
            agent: name,
            agent_version: version,
            skill_delivery: skills,
            model: plan.model.as_ref().map(|model| model.name.clone()),
            scripted: plan.model.as_ref().is_some_and(|model| model.scripted),
            compared: ComparedKey::of(&plan.comparison),
            task_set: match &plan.task_set {
                Some(name) => TaskSetKey::Named { name: name.clone() },
                None => TaskSetKey::Listed { tasks: listed(&plan.tasks) },
            },
        }
    }

    /// Why its rows are no measurement, if they are none.
    #[must_use]
    pub fn demonstration(&self) -> Option<Demonstration> {
        Demonstration::of(&self.agent, self.scripted)
    }

    /// The same for equal keys, and for those alone.
    #[must_use]
    pub fn address(&self) -> ContentHash {
        let treatment = match &self.treatment {
            TreatmentKey::TasksOwn => vec!["tasks_own".to_owned()],
            TreatmentKey::Skills { versions } => versions.iter().map(|version| version.to_hex()).collect(),
            TreatmentKey::Nothing => Vec::new(),
        };
        ContentHash::of(serde_json::json!([treatment, self.family().to_hex()]).to_string().as_bytes())
    }

    /// The same for keys that differ in the treatment alone, being compared with the same: their rows can be set against each other.
    #[must_use]
    pub fn family(&self) -> ContentHash {
        let set = match &self.task_set {
            TaskSetKey::Named { name } => ["named", name].map(str::to_owned),
            TaskSetKey::Listed { tasks } => ["listed".to_owned(), tasks.to_hex()],
        };
        let actor = serde_json::json!([self.agent, self.agent_version, self.skill_delivery, self.model, self.scripted]);
        ContentHash::of(serde_json::json!([set, actor, self.compared]).to_string().as_bytes())
    }
}

fn listed(tasks: &[TaskRef]) -> ContentHash {
    let mut versions: Vec<String> = tasks
        .iter()
        .map(|task| match same(task) {
            (version, None) => version.to_hex(),
            (_, Some(name)) => format!("named {name:?}"),
        })
        .collect();
    versions.sort_unstable();
    ContentHash::of(versions.join("\n").as_bytes())
}

/// Equal for what is one task: its bytes, or its name where another runner did not tell them.
fn same(task: &TaskRef) -> (ContentHash, Option<&str>) {
    (task.version, task.version.known().is_none().then_some(task.name.as_str()))
}

/// One evaluation with its trials.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Its row.
    pub id: EvaluationId,
    /// When it was planned.
    pub created_at: Timestamp,
    /// Its plan.
    pub plan: &'a EvaluationPlan,
    /// All its trials.
    pub trials: &'a [TrialRecord],
    /// That it was ended early, and why.
    pub stopped: Option<&'a Stopped>,
}

impl Member<'_> {
    /// Whether every trial is decided; a cancelled evaluation is finished as well, or stopping the bad ones would make a row shine.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.trials.iter().all(|trial| trial.state.verdict().is_some())
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledRow {
    /// What it is about.
    pub key: PoolKey,
    /// The evaluations in it, oldest first.
    pub evaluations: Vec<EvaluationId>,
    /// Those that are not finished and wait.
    pub unfinished: Vec<EvaluationId>,
    /// When the newest in it was planned.
    pub newest: Option<Timestamp>,
    /// Task by task, each with the repeats of all evaluations.
    pub tasks: Vec<TaskReport>,
    /// Over all complete pairs of all evaluations.
    pub totals: Totals,
    /// The estimate of Δ behind them.
    pub estimate: Option<DeltaEstimate>,
    /// Δ as a fraction of whole numbers, to rank by.
    pub exact_delta: Option<Fraction>,
    /// Why it has no rank; `None` = it may have one.
    pub unranked: Option<Unranked>,
    /// Names of tasks of which two versions were run: each version counts as a task.
    pub tasks_in_versions: Vec<String>,
}

/// Pools the finished ones of `members`, all of one key. An evaluation given twice counts once. The trials of a pair always come from one
/// evaluation.
#[must_use]
pub fn pool(key: PoolKey, members: &[Member<'_>]) -> PooledRow {
    let members: BTreeMap<(Timestamp, EvaluationId), &Member<'_>> =
        members.iter().map(|member| ((member.created_at, member.id), member)).collect();
    let (finished, waiting): (Vec<&Member<'_>>, Vec<&Member<'_>>) =
        members.into_values().partition(|member| member.is_finished());
    let (planned, index) = joined(&finished);
    let tasks: Vec<TaskReport> = planned.iter().map(|(task, repeats)| TaskReport::of(task, *repeats, &index)).collect();
    let (totals, estimate) = Totals::with_estimate(&tasks, finished.iter().flat_map(|member| member.trials));
    let (totals, estimate) = match estimate.filter(|_| may_have_been_looked_at(&finished)) {
        Some(estimate) => judged_by_both(totals, estimate, &finished),
        None => (totals, estimate),
    };
    PooledRow {
        evaluations: finished.iter().map(|member| member.id).collect(),
        unfinished: waiting.iter().map(|member| member.id).collect(),
        newest: finished.last().map(|member| member.created_at),
        exact_delta: Fraction::of_tasks(&tasks),
        unranked: match &key.compared {
            Some(compared) => Some(Unranked::Compared { with: compared.kind }),
            None => Unranked::of(&totals, key.demonstration()),
        },
        tasks_in_versions: in_versions(&planned),
        key,
        tasks,
        totals,
        estimate,
    }
}

/// All tasks with their repeats in all, and the trials under the numbers they get there.
fn joined<'a>(members: &[&Member<'a>]) -> (Vec<(TaskRef, u32)>, TrialIndex<'a>) {
    let mut planned: Vec<(TaskRef, u32)> = Vec::new();
    let mut places: HashMap<(ContentHash, Option<&str>), usize> = HashMap::new();
    let mut index = TrialIndex::new();
    for member in members {
        // Task row in this plan → task row in the pool, repeats taken before.
        let mut moved: HashMap<TaskId, (TaskId, u32)> = HashMap::new();
        for task in &member.plan.tasks {
            let place = *places.entry(same(task)).or_insert_with(|| {
                let id = TaskId(planned.len() as i64);
                planned.push((TaskRef { id, ..task.clone() }, 0));
                planned.len() - 1
            });
            if let Some((pooled, repeats)) = planned.get_mut(place) {
                moved.insert(task.id, (pooled.id, *repeats));
                *repeats = repeats.saturating_add(member.plan.repeats);
            }
        }
        for trial in member.trials {
            if let Some((task, before)) = moved.get(&trial.task_id) {
                index.insert((*task, trial.condition, before.saturating_add(trial.repeat)), trial);
            }
        }
    }
    (planned, index)
}

fn in_versions(planned: &[(TaskRef, u32)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, u32> = BTreeMap::new();
    planned.iter().for_each(|(task, _)| *versions.entry(&task.name).or_default() += 1);
    versions.into_iter().filter(|(_, versions)| *versions > 1).map(|(name, _)| name.to_owned()).collect()
}

impl PooledRow {
    /// What ranking looks at.
    #[must_use]
    pub fn contender(&self, name: &str) -> Contender {
        Contender {
            value: self.exact_delta,
            ci: self.totals.delta_ci,
            pairs: self.totals.pairs_complete,
            name: name.to_owned(),
            id: self.evaluations.first().map_or(i64::MAX, |id| id.0),
            ranked: self.unranked.is_none(),
        }
    }
}
