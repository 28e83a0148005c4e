//! Task audits: evaluations of another kind, by the same rows. Which of them says what of a task is found by the task's bytes.

use domain::hash::ContentHash;
use domain::id::{EvaluationId, TaskId};
use domain::time::Timestamp;
use sqlx::FromRow;

use crate::Store;
use crate::codec::{to_hash, to_u32};
use crate::error::{Result, StoreError};

/// One task in one audit, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedTask {
    /// The audit.
    pub audit: EvaluationId,
    /// When it was planned.
    pub created_at: Timestamp,
    /// The row that the audit was made on; other names may have the same bytes.
    pub task: TaskId,
    /// The task version.
    pub version: ContentHash,
    /// Trials that are not finished.
    pub open: u32,
    /// Trials that were cancelled.
    pub cancelled: u32,
}

#[derive(FromRow)]
struct RawAudited {
    audit: i64,
    created_at: i64,
    task: i64,
    version: String,
    open: i64,
    cancelled: i64,
}

impl TryFrom<RawAudited> for AuditedTask {
    type Error = StoreError;

    fn try_from(raw: RawAudited) -> Result<Self> {
        Ok(Self {
            audit: EvaluationId(raw.audit),
            created_at: Timestamp(raw.created_at),
            task: TaskId(raw.task),
            version: to_hash("tasks.hash", &raw.version)?,
            open: to_u32("trials.open", raw.open)?,
            cancelled: to_u32("trials.cancelled", raw.cancelled)?,
        })
    }
}

impl Store {
    /// Every task of every audit, newest audit first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn audited_tasks(&self) -> Result<Vec<AuditedTask>> {
        let rows: Vec<RawAudited> = sqlx::query_as(
            "SELECT e.id AS audit, e.created_at, t.task_id AS task, k.hash AS version, \
             sum(t.state <> 'finished') AS open, sum(t.verdict_word IS 'cancelled') AS cancelled \
             FROM evaluations e JOIN trials t ON t.evaluation_id = e.id JOIN tasks k ON k.id = t.task_id \
             WHERE e.kind = 'audit' GROUP BY e.id, t.task_id ORDER BY e.id DESC, t.task_id",
        )
        .fetch_all(self.reader())
        .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
