//! Which variables of this machine a person approved for the verifiers of which task versions. Names only: no value is ever stored.

use domain::approval::Approval;
use domain::hash::ContentHash;
use domain::time::Timestamp;

use crate::Store;
use crate::codec::{from_json, to_hash};
use crate::error::Result;

/// A task whose verifier asks for variables of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskingTask {
    /// The task version.
    pub version: ContentHash,
    /// Where it was read from, as the importer names it.
    pub source: String,
    /// The variables, each as often as it is asked for.
    pub names: Vec<String>,
}

impl Store {
    /// Keeps approvals; one that is there already keeps its time.
    ///
    /// # Errors
    /// [`StoreError::Busy`](crate::StoreError::Busy), [`StoreError::DiskFull`](crate::StoreError::DiskFull).
    pub async fn approve(&self, approvals: &[Approval], at: Timestamp) -> Result<()> {
        let mut change = self.change().await?;
        for approval in approvals {
            sqlx::query("INSERT OR IGNORE INTO approved_variables (task_hash, name, approved_at) VALUES ($1, $2, $3)")
                .bind(approval.task.to_hex())
                .bind(&approval.name)
                .bind(at.0)
                .execute(change.db())
                .await?;
        }
        change.commit().await
    }

    /// Takes approvals back. Evaluations that were started with them keep them.
    ///
    /// # Errors
    /// [`StoreError::Busy`](crate::StoreError::Busy), [`StoreError::DiskFull`](crate::StoreError::DiskFull).
    pub async fn withdraw(&self, approvals: &[Approval]) -> Result<()> {
        let mut change = self.change().await?;
        for approval in approvals {
            sqlx::query("DELETE FROM approved_variables WHERE task_hash = $1 AND name = $2")
                .bind(approval.task.to_hex())
                .bind(&approval.name)
                .execute(change.db())
                .await?;
        }
        change.commit().await
    }

    /// All approvals, with when they were given.
    ///
    /// # Errors
    /// [`StoreError::Busy`](crate::StoreError::Busy), [`StoreError::Unreadable`](crate::StoreError::Unreadable).
    pub async fn approvals(&self) -> Result<Vec<(Approval, Timestamp)>> {
        let rows: Vec<(String, String, i64)> =
            sqlx::query_as("SELECT task_hash, name, approved_at FROM approved_variables ORDER BY task_hash, name")
                .fetch_all(self.reader())
                .await?;
        let approval = |(task, name, at): (String, String, i64)| {
            Ok((Approval { task: to_hash("approved_variables.task_hash", &task)?, name }, Timestamp(at)))
        };
        rows.into_iter().map(approval).collect()
    }

    /// Every task version whose verifier asks for variables, the one that was stored last first.
    ///
    /// # Errors
    /// [`StoreError::Busy`](crate::StoreError::Busy), [`StoreError::Unreadable`](crate::StoreError::Unreadable).
    pub async fn asking_tasks(&self) -> Result<Vec<AskingTask>> {
        let rows: Vec<(String, String, String)> = sqlx::query_as(
            "SELECT t.hash, t.source, (SELECT json_group_array(v.value) FROM json_each(t.spec, '$.verifier.env_from_host') v) \
             FROM tasks t WHERE t.spec -> '$.verifier.env_from_host' <> '{}' ORDER BY t.id DESC",
        )
        .fetch_all(self.reader())
        .await?;
        let task = |(hash, source, names): (String, String, String)| {
            let version = to_hash("tasks.hash", &hash)?;
            Ok(AskingTask { version, source, names: from_json("tasks.spec", &names)? })
        };
        rows.into_iter().map(task).collect()
    }
}
