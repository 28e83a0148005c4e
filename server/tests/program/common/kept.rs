//! What the program kept, read once it has ended.

use std::path::Path;

use domain::attempt::{AttemptResult, BlobRef};
use domain::condition::Condition;
use domain::id::EvaluationId;
use domain::order::{Happening, TrialEvent};
use domain::plan::EvaluationPlan;
use domain::report::EvaluationReport;
use domain::time::Timestamp;
use domain::verdict::Verdict;
use ops::{Ops, OpsConfig};
use store::{AttemptRow, DataDir, Store, TrialRow};

use super::Home;

/// A trial with all attempts at it.
#[derive(Debug)]
pub struct KeptTrial {
    pub task: String,
    pub row: TrialRow,
    pub attempts: Vec<AttemptRow>,
}

impl KeptTrial {
    /// `task condition`.
    pub fn name(&self) -> String {
        format!("{} {}", self.task, self.row.condition)
    }

    /// What the attempt that counts left behind.
    pub fn last(&self) -> &AttemptResult {
        self.attempts.last().and_then(|attempt| attempt.result.as_ref()).unwrap_or_else(|| panic!("{self:?}"))
    }

    pub fn verdicts(&self) -> Vec<&'static str> {
        self.attempts.iter().map(|attempt| attempt.verdict.as_ref().map_or("none", Verdict::word)).collect()
    }
}

impl Home {
    /// Trials of an evaluation in their planned order.
    pub fn kept(&self, evaluation: i64) -> Vec<KeptTrial> {
        self.in_store(&self.data(), async |store| {
            let id = EvaluationId(evaluation);
            let plan = store.evaluation(id).await.unwrap().plan;
            let mut kept = Vec::new();
            for row in store.trials(id).await.unwrap() {
                let task = plan.tasks.iter().find(|task| task.id == row.task).unwrap().name.clone();
                kept.push(KeptTrial { task, attempts: store.attempts(row.id).await.unwrap(), row });
            }
            kept
        })
    }

    pub fn report(&self, evaluation: i64) -> EvaluationReport {
        self.in_store(&self.data(), async |store| {
            let clock = std::sync::Arc::new(|| domain::time::Timestamp(0));
            Ops::new(store, clock, OpsConfig::default()).report(EvaluationId(evaluation)).await.unwrap()
        })
    }

    /// Number of evaluations that are stored.
    pub fn evaluations(&self, data: &Path) -> usize {
        self.in_store(data, async |store| store.evaluations().await.unwrap().len())
    }

    pub fn blob(&self, blob: Option<BlobRef>) -> Vec<u8> {
        self.in_store(&self.data(), async |store| store.blobs().get(blob.unwrap().hash).await.unwrap())
    }

    /// Keeps another evaluation with the tasks of one that is there, so many repeats, and attempts as they are told with their traces.
    pub fn keep(&self, like: i64, repeats: u32, attempt: impl Fn(u32, Condition) -> (AttemptResult, Vec<u8>)) -> i64 {
        self.in_store(&self.data(), async |store| {
            let (at, later) = (Timestamp(1), Timestamp(i64::MAX / 2));
            let plan = store.evaluation(EvaluationId(like)).await.unwrap().plan;
            let id = store.create_evaluation(&EvaluationPlan { repeats, ..plan }, at).await.unwrap();
            while let Some(claim) = store.claim_next(at, later, 1_000_000).await.unwrap() {
                let (result, trace) = attempt(claim.trial.repeat, claim.trial.condition);
                let result = AttemptResult { trace: Some(store.blobs().put(trace).await.unwrap()), ..result };
                let what = Happening::Ended { result: Box::new(result) };
                let event = TrialEvent { attempt: claim.attempt, at: Timestamp(2), what };
                store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap();
            }
            id.0
        })
    }

    fn in_store<T>(&self, data: &Path, read: impl AsyncFnOnce(Store) -> T) -> T {
        self.wait(async {
            let dir = DataDir::open(data).unwrap();
            let store = Store::open(&dir).await.unwrap();
            let read = read(store.clone()).await;
            store.close().await;
            read
        })
    }
}
