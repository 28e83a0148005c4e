//! Evaluations: list, result, cancel, live events.

use std::collections::HashMap;

use domain::analysis::{TaskLabels, detail};
use domain::attempt::AttemptResult;
use domain::id::{EvaluationId, EventId, TaskId};
use domain::listing::{EvaluationListing, EvaluationsPage, LiveEvent, TrialCounts};
use domain::order::Happening;
use domain::plan::EvaluationPlan;
use domain::report::matrix::{MatrixPage, View};
use domain::report::{EvaluationReport, ReportSkill, TrialRecord, headline, index, tasks_of};
use domain::time::Timestamp;
use domain::trial::{Phase, TrialState};
use domain::verdict::Verdict;
use store::{EvaluationRow, Recorded, StoredEvent, among_others};
use tokio::sync::watch;

use crate::{Ops, OpsError, Result, blocking};

/// Live events given at once.
const PAGE: u32 = 500;
/// How far back a page's first look at the log goes, in events.
const LOG_PAGE: u32 = 100;

/// What happened in an evaluation after an event.
#[derive(Debug, Clone, PartialEq)]
pub struct LivePage {
    /// What is told of it.
    pub events: Vec<LiveEvent>,
    /// The last event that was looked at, told or not, from which to go on; `None` = there was none.
    pub last: Option<EventId>,
}

impl Ops {
    /// A page of all evaluations, newest first; one that is past the end is the last. `most` is how many stand on one.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn evaluations(&self, page: u32, most: u32) -> Result<EvaluationsPage> {
        let (all, most) = (self.store.counts().await?.evaluations, most.max(1));
        let pages = all.div_ceil(most).max(1);
        let page = page.clamp(1, pages);
        let mut evaluations = Vec::new();
        for row in self.store.evaluations_after((page - 1) * most, most).await? {
            // What each trial decided is all that it takes; to judge it takes a while where there are thousands.
            let Some(trials) = among_others(row.id, self.store.outcomes(&row).await)? else { continue };
            evaluations.push(blocking(move || listing(row, &trials)).await?);
        }
        Ok(EvaluationsPage { evaluations, all, page, pages })
    }

    /// How many skills, tasks and evaluations there are.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn counts(&self) -> Result<store::Counts> {
        Ok(self.store.counts().await?)
    }

    /// The result of one evaluation as far as it has come, in detail once it is finished.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn report(&self, id: EvaluationId) -> Result<EvaluationReport> {
        let row = self.evaluation_row(id).await?;
        let trials = self.records(&row).await?;
        let mut report = EvaluationReport::compute(id, row.created_at, &row.plan, &trials);
        let measuring_cases = self.measuring_cases(&row, &report).await?;
        if report.finished {
            let labels = self.labels(&row).await?;
            report.detail = Some(Box::new(detail(&report, trials, &labels)));
        }
        let noise_floor = match report.noise_floor {
            None if report.finished && row.imported.is_none() => {
                self.noise_floor(&row.plan, report.totals.tasks_complete).await?
            }
            own => own,
        };
        // An agent that calls its model by ways of its own has spent nobody knows what.
        let counted = row.imported.is_none() && row.plan.model.is_some();
        let spent = if counted { Some(self.store.spent(id).await?) } else { None };
        let report = EvaluationReport { imported: row.imported, noise_floor, measuring_cases, spent, ..report };
        Ok(report.ended_early(row.stopped))
    }

    /// An evaluation that compares without and with a skill; an audit says nothing about one.
    pub(crate) async fn evaluation_row(&self, id: EvaluationId) -> Result<EvaluationRow> {
        let row = self.store.evaluation(id).await?;
        match row.plan.kind.is_evaluation() {
            true => Ok(row),
            false => Err(OpsError::NotFound { what: "evaluation", id: format!("{id}, which is an audit") }),
        }
    }

    /// Whether all trials of an evaluation or an audit are decided.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn is_finished(&self, id: EvaluationId) -> Result<bool> {
        Ok(self.store.is_finished(id).await?)
    }

    /// One page of the paired matrix.
    ///
    /// # Errors
    /// [`crate::OpsError::NotFound`], or storage trouble.
    pub async fn matrix(&self, id: EvaluationId, view: View) -> Result<MatrixPage> {
        let row = self.evaluation_row(id).await?;
        let trials = self.records(&row).await?;
        let tasks = tasks_of(&row.plan, &index(&trials));
        Ok(view.matrix(&tasks, &groups(&self.labels(&row).await?)))
    }

    /// What the tasks of an evaluation share with one another; nothing for those that are names only.
    pub(crate) async fn labels(&self, row: &EvaluationRow) -> Result<HashMap<TaskId, TaskLabels>> {
        if row.imported.is_some() {
            return Ok(HashMap::new());
        }
        let planned: Vec<TaskId> = row.plan.tasks.iter().map(|task| task.id).collect();
        Ok(self.store.task_labels(&planned).await?)
    }

    /// What was planned.
    ///
    /// # Errors
    /// [`crate::OpsError::NotFound`], or storage trouble.
    pub async fn planned(&self, id: EvaluationId) -> Result<EvaluationPlan> {
        Ok(self.store.evaluation(id).await?.plan)
    }

    /// Stops an evaluation: waiting trials are cancelled, running ones are told to stop.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], [`OpsError::Invalid`] where all of it has been decided, or storage trouble.
    pub async fn cancel(&self, id: EvaluationId) -> Result<()> {
        let Some(stopped) = self.store.request_cancel(id, self.now()).await? else {
            return Err(OpsError::invalid("it is finished: there is nothing left to cancel, and its result stays"));
        };
        tracing::info!(evaluation = id.0, running = stopped.len(), "cancelled");
        Ok(())
    }

    /// What happened after `after`, oldest first, at most a page of it.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn live_events(&self, id: EvaluationId, after: EventId) -> Result<LivePage> {
        let events = self.store.events_after(id, after, PAGE).await?;
        Ok(LivePage {
            last: events.last().map(|event| event.id),
            events: events.into_iter().filter_map(live).collect(),
        })
    }

    /// The newest event of an evaluation, told or not; 0 = there is none.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn newest_event(&self, id: EvaluationId) -> Result<EventId> {
        Ok(self.store.newest_event(id).await?)
    }

    /// The newest log and step events, oldest first.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn live_log(&self, id: EvaluationId) -> Result<Vec<LiveEvent>> {
        Ok(self.store.newest_events(id, LOG_PAGE).await?.into_iter().filter_map(live).collect())
    }

    /// Wakes whenever something happens in the evaluation.
    #[must_use]
    pub fn subscribe(&self, id: EvaluationId) -> watch::Receiver<EventId> {
        self.store.subscribe(id)
    }

    pub(crate) async fn records(&self, row: &EvaluationRow) -> Result<Vec<TrialRecord>> {
        Ok(self.store.records(row).await?)
    }
}

/// The group of each task that has one.
pub(crate) fn groups(labels: &HashMap<TaskId, TaskLabels>) -> HashMap<TaskId, String> {
    labels.iter().filter_map(|(task, labels)| Some((*task, labels.group()?.to_owned()))).collect()
}

fn live(event: StoredEvent) -> Option<LiveEvent> {
    Some(LiveEvent {
        id: event.id,
        trial: event.trial,
        task: event.task,
        condition: event.condition,
        repeat: event.repeat,
        at: event.at,
        what: happening(event.what, event.at)?,
    })
}

/// What a page is told. Only the end of a trial is an end for it: an attempt that is tried again is a line in the log.
fn happening(what: Recorded, at: Timestamp) -> Option<Happening> {
    match what {
        Recorded::Log { phase, text } => Some(Happening::Log { phase, text }),
        Recorded::StepDone { step } => Some(Happening::StepDone { step }),
        Recorded::Spent { spent } => Some(Happening::Spent { spent }),
        // Why an attempt is made again is told at once, not when the last one has failed as well.
        Recorded::Ended { verdict, counted: true } if verdict.is_retried() => verdict
            .detail()
            .map(|why| Happening::Log { phase: Phase::Preparing, text: format!("attempt without a score: {why}\n") }),
        Recorded::Ended { .. } => None,
        Recorded::Moved { state: TrialState::Running { phase, .. } } => Some(Happening::PhaseReached { phase }),
        Recorded::Moved { state: TrialState::Queued { attempts, not_before } } => {
            let waits = not_before.map(|until| format!(" and waits {} s", until.ms_since(at).div_ceil(1000)));
            Some(Happening::Log {
                phase: Phase::Preparing,
                text: format!(
                    "attempt {attempts} could not be scored; the trial is queued again{}\n",
                    waits.unwrap_or_default()
                ),
            })
        }
        Recorded::Moved { state: TrialState::Finished { verdict, .. } } => {
            Some(Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) })
        }
    }
}

fn listing(row: EvaluationRow, trials: &[TrialRecord]) -> EvaluationListing {
    let report = EvaluationReport::compute(row.id, row.created_at, &row.plan, trials);
    let report = EvaluationReport { imported: row.imported, ..report }.ended_early(row.stopped);
    EvaluationListing {
        id: row.id,
        skills: ReportSkill::of_treatment(&row.plan.treatment),
        tasks: row.plan.tasks.len() as u64,
        repeats: row.plan.repeats,
        title: row.plan.title,
        agent: row.plan.agent,
        model: row.plan.model,
        counts: counts(trials),
        delta: report.totals.delta,
        headline: headline(&report).into(),
        imported: report.imported,
        created_at: row.created_at,
    }
}

fn counts(trials: &[TrialRecord]) -> TrialCounts {
    TrialCounts::of(trials.iter().map(|trial| (trial.state.verdict().map(Verdict::word), trial.state.word())))
}
