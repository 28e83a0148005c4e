//! One pair with everything that its trials left behind.

use std::sync::Arc;

use domain::attempt::BlobRef;
use domain::condition::{Condition, Pair};
use domain::demonstration::Demonstration;
use domain::history::AttemptHistory;
use domain::id::{AttemptId, EvaluationId, TaskId, TrialId};
use domain::listing::{ArmDetail, AttemptListing, PairDetail, TraceSize, TraceView, files_in_order};
use domain::model_call::ModelCalls;
use domain::report::matrix::View;
use domain::report::{TrialRecord, TrialReport, index, tasks_of};
use domain::trace::Trace;
use store::{AttemptRow, EvaluationRow, StoreError};

use crate::evaluations::groups;
use crate::traces::trace_page;
use crate::{Ops, OpsError, Result, blocking};

/// Longest piece of a log that a page shows, in bytes; the whole is a download.
const SHOWN_BYTES: u64 = 128 << 10;
/// Longest record of calls that is read for a page, in bytes.
const CALLS_BYTES: u64 = 16 << 20;
/// Calls that a page shows.
const SHOWN_CALLS: usize = 100;
/// Longest trace that is read for a page, in bytes.
const TRACE_BYTES: u64 = 64 << 20;

impl Ops {
    /// The two trials of one task and repeat, with the stretch of their aligned traces that `traces` asks for; `view` decides which pairs come
    /// before and after.
    ///
    /// # Errors
    /// [`OpsError::NotFound`] where the plan has no such pair, or storage trouble.
    pub async fn pair(
        &self,
        id: EvaluationId,
        task: TaskId,
        repeat: u32,
        view: View,
        traces: TraceView,
    ) -> Result<PairDetail> {
        let row = self.evaluation_row(id).await?;
        let version = row.plan.tasks.iter().find(|other| other.id == task).map(|task| task.version);
        let pair = self.pair_of(row, task, repeat, view, traces).await?;
        let Some(version) = version else { return Ok(pair) };
        let names = self.pass_to_pass(&[version]).await?.remove(&version);
        Ok(PairDetail { pass_to_pass: names.map(|names| names.into_iter().collect()), ..pair })
    }

    /// The runs of `nop` (in the no-skill arm) and `oracle` of one task and repeat of an audit.
    ///
    /// # Errors
    /// [`OpsError::NotFound`] where the audit has none, or storage trouble.
    pub async fn audit_runs(&self, id: EvaluationId, task: TaskId, repeat: u32) -> Result<PairDetail> {
        let row = self.store.evaluation(id).await?;
        if row.plan.kind.is_evaluation() {
            return Err(OpsError::NotFound { what: "audit", id: id.to_string() });
        }
        self.pair_of(row, task, repeat, View::default(), TraceView::default()).await
    }

    async fn pair_of(
        &self,
        row: EvaluationRow,
        task: TaskId,
        repeat: u32,
        view: View,
        traces: TraceView,
    ) -> Result<PairDetail> {
        let id = row.id;
        let missing = || OpsError::NotFound { what: "pair", id: format!("{id}/{task}/{repeat}") };
        let planned = row.plan.tasks.iter().find(|other| other.id == task);
        let name = planned.filter(|_| (1..=row.plan.repeats).contains(&repeat)).map(|task| task.name.clone());
        let name = name.ok_or_else(missing)?;
        // Of all trials what decides the order, of this task's all; what others ran comes whole.
        let all = self.store.amounts(&row).await?;
        let order = view.pairs(&tasks_of(&row.plan, &index(&all)), &groups(&self.labels(&row).await?));
        let records = if row.imported.is_some() { all } else { self.store.records_of(&row, &[task]).await? };
        let place = order.iter().position(|pair| *pair == (task, repeat));
        let arm = |condition: Condition| {
            records.iter().find(|trial| trial.task_id == task && trial.repeat == repeat && trial.condition == condition)
        };
        // Long traces take a while and much memory: one pair at a time, from their reading on.
        let turn = Arc::clone(&self.aligning).lock_owned().await;
        let (without, without_trace) = self.arm(&row, arm(Condition::NoSkill)).await?.unzip();
        let (with, with_trace) = self.arm(&row, arm(Condition::WithSkill)).await?.unzip();
        let both = Pair { without: without_trace.flatten(), with: with_trace.flatten() };
        let traces = blocking(move || {
            let page = trace_page(&both, traces);
            // Not before: a reader who goes away ends the wait, and not the work.
            drop(turn);
            page
        });
        let traces = traces.await?;
        Ok(PairDetail {
            evaluation: id,
            demonstration: Demonstration::of_plan(&row.plan),
            compared: row.plan.comparison.kind(),
            repeats: row.plan.repeats,
            title: row.plan.title,
            task_id: task,
            task: name,
            repeat,
            arms: Pair { without, with },
            pass_to_pass: None,
            traces,
            view,
            place: place.map(|place| place + 1),
            of: order.len(),
            previous: place.and_then(|place| order.get(place.checked_sub(1)?)).copied(),
            // Where this pair is not among them, going on begins with the first.
            next: order.get(place.map_or(0, |place| place + 1)).copied(),
        })
    }

    /// What the agent of a trial's last attempt changed in its working folder, as a unified diff.
    ///
    /// # Errors
    /// [`OpsError::NotFound`] where there is no such trial or it has none, or storage trouble.
    pub async fn patch(&self, id: EvaluationId, trial: TrialId) -> Result<Vec<u8>> {
        let row = self.store.evaluation(id).await?;
        let patch = if row.imported.is_some() {
            let record = self.records(&row).await?.into_iter().find(|record| record.id == trial);
            record.and_then(|record| record.result?.patch)
        } else {
            self.store.patch(id, trial).await?
        };
        let file = patch.and_then(|patch| patch.file);
        let file = file.ok_or_else(|| OpsError::NotFound { what: "patch of trial", id: format!("{id}/{trial}") })?;
        Ok(self.store.blobs().get(file.hash).await?)
    }

    async fn arm(
        &self,
        row: &EvaluationRow,
        trial: Option<&TrialRecord>,
    ) -> Result<Option<(ArmDetail, Option<Trace>)>> {
        let Some(trial) = trial else { return Ok(None) };
        let result = trial.result.clone();
        let trace = match result.as_ref().and_then(|result| result.trace) {
            Some(blob) => self.trace(blob).await?,
            None => None,
        };
        let files = result.as_ref().map_or(&[][..], |result| &result.activation.files_read);
        let files_read = files_in_order(files, trace.as_ref());
        let arm = ArmDetail {
            trial: TrialReport::from(trial),
            agent_log: self.log(result.as_ref().and_then(|result| result.agent_log)).await?,
            verifier_log: self.log(result.as_ref().and_then(|result| result.verifier_log)).await?,
            attempts: self.attempt_listings(row, trial.id).await?,
            calls: self.calls(result.as_ref().and_then(|result| result.calls)).await?,
            files_read,
            result,
            trace: trace.as_ref().map(|trace| TraceSize { turns: trace.turns(), tool_calls: trace.tool_calls() }),
        };
        Ok(Some((arm, trace)))
    }

    async fn attempt_listings(&self, row: &EvaluationRow, trial: TrialId) -> Result<Vec<AttemptListing>> {
        if row.imported.is_none() {
            return Ok(self.store.attempts(trial).await?.iter().map(attempt).collect());
        }
        let trials = self.store.imported_trials(row.id).await?;
        let trial = trials.into_iter().find(|other| other.id == trial);
        Ok(trial.iter().flat_map(|trial| &trial.attempts).filter_map(imported_attempt).collect())
    }

    async fn trace(&self, blob: BlobRef) -> Result<Option<Trace>> {
        if blob.size > TRACE_BYTES {
            return Ok(None);
        }
        let Some(bytes) = unless_lost(blob, self.store.blobs().get(blob.hash).await)? else { return Ok(None) };
        // A trace written by another version may not be readable; the page then says that there is none to show.
        blocking(move || serde_json::from_slice(&bytes).ok()).await
    }

    /// The record of a trial's calls to its model; `None` where there is none that can be read.
    async fn calls(&self, blob: Option<BlobRef>) -> Result<Option<ModelCalls>> {
        let Some(blob) = blob.filter(|blob| blob.size <= CALLS_BYTES) else { return Ok(None) };
        let bytes = unless_lost(blob, self.store.blobs().get(blob.hash).await)?;
        Ok(bytes.and_then(|bytes| ModelCalls::read(&bytes, SHOWN_CALLS)))
    }

    /// The end of a log, where the failure usually stands, as text.
    async fn log(&self, blob: Option<BlobRef>) -> Result<String> {
        let Some(blob) = blob else { return Ok(String::new()) };
        let from = blob.size.saturating_sub(SHOWN_BYTES);
        let Some(bytes) = unless_lost(blob, self.store.blobs().get_range(blob.hash, from, SHOWN_BYTES).await)? else {
            return Ok("(the log is not in the data folder as it was)".to_owned());
        };
        let text = String::from_utf8_lossy(&bytes);
        Ok(if from > 0 { format!("… {from} bytes left out\n{text}") } else { text.into_owned() })
    }
}

/// A file that is lost or damaged is logged, and hides nothing else of its pair.
fn unless_lost<T>(blob: BlobRef, read: store::Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ (StoreError::NotFound { .. } | StoreError::BlobDamaged { .. })) => {
            tracing::error!(file = %blob.hash, %error, "a file of a trial cannot be shown");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn attempt(row: &AttemptRow) -> AttemptListing {
    AttemptListing {
        id: row.id,
        number: row.number,
        started_at: row.started_at,
        ended_at: row.ended_at,
        verdict: row.verdict.as_ref().map(|verdict| verdict.word().to_owned()),
        detail: row.verdict.as_ref().and_then(domain::verdict::Verdict::detail),
        told: row.told,
    }
}

/// An attempt that others made; one whose time is not known is not listed, as its trial says all that is known of it.
fn imported_attempt(attempt: &AttemptHistory) -> Option<AttemptListing> {
    Some(AttemptListing {
        id: AttemptId(-i64::from(attempt.number)),
        number: attempt.number,
        started_at: attempt.started_at?,
        ended_at: attempt.ended_at,
        verdict: attempt.verdict.as_ref().map(|verdict| verdict.word().to_owned()),
        detail: attempt.verdict.as_ref().and_then(domain::verdict::Verdict::detail),
        told: attempt.told,
    })
}
