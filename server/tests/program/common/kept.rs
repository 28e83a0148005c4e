//! What the program kept, read once it has ended.

use std::path::Path;

use domain::attempt::{AttemptResult, BlobRef};
use domain::id::EvaluationId;
use domain::report::EvaluationReport;
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
