//! Task sets: named lists of tasks, in order.

use domain::id::{TaskId, TaskSetId};
use domain::time::Timestamp;
use sqlx::FromRow;

use crate::Store;
use crate::codec::{to_json, to_u32};
use crate::error::{Result, StoreError};
use crate::leaderboard;
use crate::tasks::{RawSummary, TaskSummary, select_summaries};

/// A task set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSetRow {
    /// Its id.
    pub id: TaskSetId,
    /// Unique.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Number of tasks in it.
    pub tasks: u32,
}

#[derive(FromRow)]
struct RawSet {
    id: i64,
    name: String,
    created_at: i64,
    tasks: i64,
}

impl TryFrom<RawSet> for TaskSetRow {
    type Error = StoreError;

    fn try_from(raw: RawSet) -> Result<Self> {
        Ok(Self {
            id: TaskSetId(raw.id),
            name: raw.name,
            created_at: Timestamp(raw.created_at),
            tasks: to_u32("task_sets.tasks", raw.tasks)?,
        })
    }
}

macro_rules! select_sets {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.name, s.created_at, \
             (SELECT count(*) FROM task_set_members m WHERE m.task_set_id = s.id) AS tasks FROM task_sets s ",
            $rest
        )
    };
}

impl Store {
    /// Makes a task set, or gives the one of that name these members instead of its own. A task named twice is taken once.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if a task is not there; [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn put_task_set(&self, name: &str, tasks: &[TaskId], at: Timestamp) -> Result<TaskSetId> {
        let mut change = self.change().await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO task_sets (name, created_at) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
        )
        .bind(name)
        .bind(at.0)
        .fetch_one(change.db())
        .await?;
        let tasks = to_json("tasks", tasks)?;
        let unknown: Option<i64> = sqlx::query_scalar(
            "SELECT m.value FROM json_each($1) m WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = m.value) LIMIT 1",
        )
        .bind(&tasks)
        .fetch_optional(change.db())
        .await?;
        if let Some(task) = unknown {
            return Err(StoreError::not_found("task", task));
        }
        let had =
            sqlx::query("DELETE FROM task_set_members WHERE task_set_id = $1").bind(id).execute(change.db()).await?;
        let has = sqlx::query(
            "INSERT INTO task_set_members (task_set_id, position, task_id) \
             SELECT $1, min(m.key), m.value FROM json_each($2) m GROUP BY m.value",
        )
        .bind(id)
        .bind(tasks)
        .execute(change.db())
        .await?;
        if had.rows_affected() != has.rows_affected() {
            leaderboard::forget_set(change.db(), name).await?;
            change.wake_finished();
        }
        change.commit().await?;
        Ok(TaskSetId(id))
    }

    /// All task sets by name.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn task_sets(&self) -> Result<Vec<TaskSetRow>> {
        let rows: Vec<RawSet> = sqlx::query_as(select_sets!("ORDER BY s.name")).fetch_all(self.reader()).await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// One task set.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`].
    pub async fn task_set(&self, id: TaskSetId) -> Result<TaskSetRow> {
        let row: Option<RawSet> =
            sqlx::query_as(select_sets!("WHERE s.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("task set", id))?.try_into()
    }

    /// The tasks of a set in its order; empty if there is no such set.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn task_set_members(&self, set: TaskSetId) -> Result<Vec<TaskSummary>> {
        let rows: Vec<RawSummary> = sqlx::query_as(select_summaries!(
            "JOIN task_set_members m ON m.task_id = t.id WHERE m.task_set_id = $1 ORDER BY m.position"
        ))
        .bind(set.0)
        .fetch_all(self.reader())
        .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
