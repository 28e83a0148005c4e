//! Task audits: start, follow, and what is known of each task. An audit is a plan of another kind; scheduler and engine make its trials like any
//! other's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::analysis::MeasuringCases;
use domain::comparison::Comparison;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::id::{EvaluationId, TaskId};
use domain::listing::AuditRequest;
use domain::plan::{AgentRef, EvaluationPlan, PlanKind, RunSettings, TaskRef, Treatment};
use domain::report::EvaluationReport;
use domain::report::number::counted;
use domain::task::Task;
use domain::task_audit::{AuditAgent, AuditOutcome, AuditReport, AuditStanding, AuditSummary};
use store::{AuditedTask, EvaluationRow};

use crate::limits::{timeout_multiplier, within};
use crate::plan::{MAX_CONCURRENCY, MAX_REPEATS, drawn_seed};
use crate::{Ops, OpsError, Result};

/// Names of tasks that a finding gives.
const NAMES: usize = 5;

/// What each task version's audits come to, for all tasks.
#[derive(Debug, Default)]
pub(crate) struct Audits {
    of: HashMap<ContentHash, Known>,
}

/// The audits that count for one task version.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    settled: Option<AuditedTask>,
    running: Option<EvaluationId>,
}

/// What audits say in short of single tasks.
type Summaries = HashMap<(EvaluationId, TaskId), AuditSummary>;

/// Those of settled audits, once they were read. An audit whose runs are all decided does not change, and no id is used twice.
#[derive(Clone, Default)]
pub(crate) struct Settled(Arc<Mutex<Summaries>>);

impl Settled {
    fn held(&self) -> MutexGuard<'_, Summaries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ops {
    /// Starts an audit: stores its plan and its trials, queued.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] with what is wrong and how to mend it; storage trouble.
    pub async fn start_audit(&self, request: &AuditRequest) -> Result<EvaluationId> {
        let plan = self.audit_plan(request).await?;
        Ok(self.store.create_evaluation(&plan, self.now()).await?)
    }

    /// What [`Ops::start_audit`] would store.
    pub(crate) async fn audit_plan(&self, request: &AuditRequest) -> Result<EvaluationPlan> {
        let repeats = within("k", "repeats", request.repeats, MAX_REPEATS)?;
        let concurrency = within("concurrency", "concurrency", request.concurrency, MAX_CONCURRENCY)?;
        let (tasks, loaded) = self.tasks_of(&request.tasks).await?;
        let (approved, _) = self.approved_for(&tasks, &loaded).await?;
        let (nop, oracle) = (self.audit_agent(AuditAgent::Nop)?, self.audit_agent(AuditAgent::Oracle)?);
        Ok(EvaluationPlan {
            title: title(&tasks),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            task_set: None,
            kind: PlanKind::Audit { oracle, solved: solved(&tasks, &loaded) },
            tasks,
            agent: nop,
            model: None,
            repeats,
            seed: request.seed.map_or_else(drawn_seed, Ok)?,
            settings: RunSettings {
                concurrency,
                timeout_multiplier: timeout_multiplier(request.timeout_multiplier)?,
                rebuild_images: request.rebuild_images,
                approved,
                ..RunSettings::default()
            },
        })
    }

    fn audit_agent(&self, agent: AuditAgent) -> Result<AgentRef> {
        let found = self.config.agents.iter().find(|choice| choice.agent.name == agent.word());
        found.map(|choice| choice.agent.clone()).ok_or_else(|| {
            OpsError::invalid(format!("an audit needs the agent '{}', which this server does not offer", agent.word()))
        })
    }

    /// What an audit says as far as it has come.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn audit(&self, id: EvaluationId) -> Result<AuditReport> {
        let row = self.store.evaluation(id).await?;
        let trials = self.records(&row).await?;
        AuditReport::compute(id, row.created_at, &row.plan, &trials)
            .ok_or_else(|| OpsError::NotFound { what: "audit", id: id.to_string() })
    }

    /// Which audits count for which task version.
    pub(crate) async fn audits(&self) -> Result<Audits> {
        let mut audits = Audits::default();
        // The newest come first: what is known already is newer.
        for task in self.store.audited_tasks().await? {
            let known = audits.of.entry(task.version).or_default();
            if task.open > 0 {
                known.running.get_or_insert(task.audit);
            } else if task.cancelled == 0 {
                known.settled.get_or_insert(task);
            }
        }
        Ok(audits)
    }

    /// How task versions stand with their audits.
    pub(crate) async fn standings(&self, versions: &[ContentHash]) -> Result<HashMap<ContentHash, AuditStanding>> {
        let audits = self.audits().await?;
        let mut summaries = self.summaries(versions.iter().filter_map(|version| audits.settled(version))).await?;
        let standing = |version: &ContentHash| {
            let known = audits.of.get(version)?;
            let settled = known.settled.and_then(|task| summaries.remove(&(task.audit, task.task)));
            Some((*version, AuditStanding { settled, running: known.running }))
        };
        let versions: BTreeSet<&ContentHash> = versions.iter().collect();
        Ok(versions.into_iter().filter_map(standing).collect())
    }

    /// What settled audits say in short; each is read once.
    async fn summaries(&self, wanted: impl Iterator<Item = AuditedTask>) -> Result<Summaries> {
        let mut said = Summaries::new();
        let mut unread: BTreeMap<EvaluationId, Vec<TaskId>> = BTreeMap::new();
        for AuditedTask { audit, task, .. } in wanted {
            match self.settled.held().get(&(audit, task)) {
                Some(summary) => drop(said.insert((audit, task), summary.clone())),
                None => unread.entry(audit).or_default().push(task),
            }
        }
        for (audit, tasks) in unread {
            let Some(report) = self.audit_of_tasks(audit, &tasks).await? else { continue };
            let read = tasks.iter().filter_map(|task| Some(((audit, *task), report.summary(*task)?)));
            said.extend(read);
        }
        self.settled.held().extend(said.clone());
        Ok(said)
    }

    /// An audit cut down to some of its tasks.
    async fn audit_of_tasks(&self, audit: EvaluationId, tasks: &[TaskId]) -> Result<Option<AuditReport>> {
        let mut row = self.store.evaluation(audit).await?;
        row.plan.tasks.retain(|task| tasks.contains(&task.id));
        let trials = self.store.records_of(&row, tasks).await?;
        Ok(AuditReport::compute(row.id, row.created_at, &row.plan, &trials))
    }

    /// Names of the test cases that pass where nothing was done, for those task versions that were audited.
    pub(crate) async fn pass_to_pass(
        &self,
        versions: &[ContentHash],
    ) -> Result<HashMap<ContentHash, BTreeSet<String>>> {
        let audits = self.audits().await?;
        let mut wanted: BTreeMap<EvaluationId, Vec<(ContentHash, TaskId)>> = BTreeMap::new();
        for version in versions {
            let Some(AuditedTask { audit, task, .. }) = audits.settled(version) else { continue };
            wanted.entry(audit).or_default().push((*version, task));
        }
        let mut names = HashMap::new();
        for (audit, tasks) in wanted {
            let ids: Vec<TaskId> = tasks.iter().map(|(_, task)| *task).collect();
            let report = self.audit_of_tasks(audit, &ids).await?;
            for (version, task) in tasks {
                let audit = report.iter().flat_map(|report| &report.tasks).find(|audit| audit.task_id == task);
                names.insert(version, audit.iter().flat_map(|audit| audit.pass_to_pass()).map(str::to_owned).collect());
            }
        }
        Ok(names)
    }

    /// The test cases of a finished evaluation without those that measure nothing by the audits of its tasks.
    pub(crate) async fn measuring_cases(
        &self,
        row: &EvaluationRow,
        report: &EvaluationReport,
    ) -> Result<Option<MeasuringCases>> {
        if !report.finished {
            return Ok(None);
        }
        let versions: Vec<ContentHash> = row.plan.tasks.iter().filter_map(|task| task.version.known()).collect();
        let names = self.pass_to_pass(&versions).await?;
        let of_task = |task: &TaskRef| Some((task.id, names.get(&task.version)?));
        Ok(MeasuringCases::of(report, &row.plan.tasks.iter().filter_map(of_task).collect()))
    }

    /// What a plan over these tasks should say of their audits: worth knowing where there was none, likely to mislead where one failed.
    pub(crate) async fn audit_findings(&self, tasks: &[TaskRef]) -> Result<Vec<Finding>> {
        let versions: Vec<ContentHash> = tasks.iter().map(|task| task.version).collect();
        let standings = self.standings(&versions).await?;
        let mut findings = Vec::new();
        let mut unknown = Vec::new();
        for task in tasks {
            match standings.get(&task.version).and_then(|standing| standing.settled.as_ref()) {
                Some(audit) if audit.outcome.is_trusted() => {}
                Some(audit) if audit.outcome != AuditOutcome::Undecided => {
                    let message = format!("task {} failed its audit: {}", task.name, audit.sentence);
                    findings.push(
                        Finding::warning("task_not_trusted", &task.name, message)
                            .hint("leave it out, or mend it and audit it again"),
                    );
                }
                Some(_) | None => unknown.push(task.name.as_str()),
            }
        }
        findings.extend(unaudited(&unknown));
        Ok(findings)
    }

    /// The audit that counts for a task version, cut down to that task; `None` = never audited.
    pub(crate) async fn audit_of(&self, audits: &Audits, version: ContentHash) -> Result<Option<AuditReport>> {
        let Some(AuditedTask { audit, task, .. }) = audits.settled(&version) else { return Ok(None) };
        self.audit_of_tasks(audit, &[task]).await
    }
}

impl Audits {
    /// The audit that counts for a task version, and the task in it.
    fn settled(&self, version: &ContentHash) -> Option<AuditedTask> {
        self.of.get(version)?.settled
    }

    /// An audit of a task version that is under way.
    pub(crate) fn running(&self, version: ContentHash) -> Option<EvaluationId> {
        self.of.get(&version).and_then(|known| known.running)
    }
}

fn unaudited(names: &[&str]) -> Option<Finding> {
    let (first, rest) = names.split_at_checked(NAMES).unwrap_or((names, &[]));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let (was, it) = if names.len() == 1 { ("was", "it") } else { ("were", "they") };
    let message = format!(
        "{} {was} not audited, so it is not known whether {it} can be passed, nor whether {it} would pass without work: {}{more}",
        counted(names.len() as u64, "task"),
        first.join(", ")
    );
    let hint = "audit first: on the tasks page, or by `skilldelta audit`";
    (!names.is_empty()).then(|| Finding::note("task_not_audited", "tasks", message).hint(hint))
}

fn title(tasks: &[TaskRef]) -> String {
    match tasks {
        [task] => format!("Audit of {}", task.name),
        tasks => format!("Audit of {} tasks", tasks.len()),
    }
}

fn solved(tasks: &[TaskRef], loaded: &[Task]) -> Vec<TaskId> {
    tasks.iter().zip(loaded).filter(|(_, task)| task.oracle.is_some()).map(|(task, _)| task.id).collect()
}
