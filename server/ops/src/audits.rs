//! Task audits: start, follow, and what is known of each task. An audit is a plan of another kind; scheduler and engine make its trials like any
//! other's.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

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
use domain::task_audit::{AuditAgent, AuditOutcome, AuditReport, AuditStanding};
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
        let mut reports = HashMap::new();
        let mut standings = HashMap::with_capacity(versions.len());
        for version in versions {
            let Some(known) = audits.of.get(version) else { continue };
            let mut standing = AuditStanding { settled: None, running: known.running };
            if let Some(task) = known.settled {
                standing.settled = self.read_once(task.audit, &mut reports).await?.summary(task.task);
            }
            standings.insert(*version, standing);
        }
        Ok(standings)
    }

    /// Names of the test cases that pass where nothing was done, for those task versions that were audited.
    pub(crate) async fn pass_to_pass(
        &self,
        versions: &[ContentHash],
    ) -> Result<HashMap<ContentHash, BTreeSet<String>>> {
        let audits = self.audits().await?;
        let mut reports = HashMap::new();
        let mut names = HashMap::new();
        for version in versions {
            let Some(task) = audits.of.get(version).and_then(|known| known.settled) else { continue };
            let report = self.read_once(task.audit, &mut reports).await?;
            let audit = report.tasks.iter().find(|audit| audit.task_id == task.task);
            names.insert(*version, audit.iter().flat_map(|audit| audit.pass_to_pass()).map(str::to_owned).collect());
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

    /// An audit is read once, however many tasks it is about.
    async fn read_once<'a>(
        &self,
        audit: EvaluationId,
        known: &'a mut HashMap<EvaluationId, AuditReport>,
    ) -> Result<&'a AuditReport> {
        Ok(match known.entry(audit) {
            Entry::Occupied(report) => report.into_mut(),
            Entry::Vacant(place) => place.insert(self.audit(audit).await?),
        })
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
        let Some(task) = audits.of.get(&version).and_then(|known| known.settled) else { return Ok(None) };
        let row = self.store.evaluation(task.audit).await?;
        let mut plan = row.plan.clone();
        plan.tasks.retain(|other| other.id == task.task);
        let mut trials = self.records(&row).await?;
        trials.retain(|trial| trial.task_id == task.task);
        Ok(AuditReport::compute(row.id, row.created_at, &plan, &trials))
    }
}

impl Audits {
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
