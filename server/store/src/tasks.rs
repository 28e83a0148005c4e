//! Tasks: one row for each name and exact bytes.

use std::collections::HashMap;

use domain::analysis::TaskLabels;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::id::TaskId;
use domain::task::{Task, TaskLayout, TaskMetadata};
use domain::time::Timestamp;
use sqlx::{FromRow, SqliteConnection};

use crate::Store;
use crate::codec::{check_range, from_json, from_word, readable, to_hash, to_json};
use crate::error::{Result, StoreError};

/// What a list of tasks shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSummary {
    /// Its id.
    pub id: TaskId,
    /// Folder name.
    pub name: String,
    /// The task version.
    pub hash: ContentHash,
    /// Which family of files it was written in.
    pub layout: TaskLayout,
    /// Where it was read from, as the importer names it.
    pub source: String,
    /// What helps to find and group it.
    pub metadata: TaskMetadata,
    /// Address of the repository that it works in, if it is a repository task.
    pub repository: Option<String>,
    /// Whether it brings its own solution.
    pub has_oracle: bool,
    /// Names of the skills bundled with it.
    pub bundled_skills: Vec<String>,
    /// What its check said.
    pub findings: Vec<Finding>,
    /// When it was stored first.
    pub created_at: Timestamp,
}

/// A task in full.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// Its id.
    pub id: TaskId,
    /// The task version.
    pub hash: ContentHash,
    /// Everything that a trial of it needs.
    pub task: Task,
    /// What its check said.
    pub findings: Vec<Finding>,
    /// Where it was read from, as the importer names it.
    pub source: String,
    /// When it was stored first.
    pub created_at: Timestamp,
}

#[derive(FromRow)]
pub(crate) struct RawSummary {
    id: i64,
    name: String,
    hash: String,
    layout: String,
    source: String,
    metadata: String,
    repository: Option<String>,
    has_oracle: bool,
    bundled_skills: String,
    findings: String,
    created_at: i64,
}

impl TryFrom<RawSummary> for TaskSummary {
    type Error = StoreError;

    fn try_from(raw: RawSummary) -> Result<Self> {
        Ok(Self {
            id: TaskId(raw.id),
            name: raw.name,
            hash: to_hash("tasks.hash", &raw.hash)?,
            layout: from_word("tasks.layout", &raw.layout)?,
            source: raw.source,
            metadata: from_json("tasks.spec", &raw.metadata)?,
            repository: raw.repository,
            has_oracle: raw.has_oracle,
            bundled_skills: from_json("tasks.spec", &raw.bundled_skills)?,
            findings: from_json("tasks.findings", &raw.findings)?,
            created_at: Timestamp(raw.created_at),
        })
    }
}

#[derive(FromRow)]
struct RawTask {
    id: i64,
    hash: String,
    spec: String,
    findings: String,
    source: String,
    created_at: i64,
}

impl TryFrom<RawTask> for TaskRow {
    type Error = StoreError;

    fn try_from(raw: RawTask) -> Result<Self> {
        Ok(Self {
            id: TaskId(raw.id),
            hash: to_hash("tasks.hash", &raw.hash)?,
            task: from_json("tasks.spec", &raw.spec)?,
            findings: from_json("tasks.findings", &raw.findings)?,
            source: raw.source,
            created_at: Timestamp(raw.created_at),
        })
    }
}

macro_rules! select_summaries {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.name, t.hash, t.layout, t.source, t.spec -> '$.metadata' AS metadata, \
             t.spec ->> '$.environment.repository.url' AS repository, \
             t.spec ->> '$.oracle' IS NOT NULL AS has_oracle, \
             (SELECT json_group_array(s.value ->> '$.manifest.name') FROM json_each(t.spec, '$.bundled_skills') s) AS bundled_skills, \
             t.findings, t.created_at FROM tasks t ",
            $rest
        )
    };
}
pub(crate) use select_summaries;

impl Store {
    /// Stores a checked task; the answer says whether its name and bytes were new together. The files must be in the blob store already.
    /// A known task keeps its id and takes the newest reading of the same bytes (what is resolved, findings, source).
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if a number in it is not finite; [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn put_task(
        &self,
        task: &Task,
        findings: &[Finding],
        source: &str,
        at: Timestamp,
    ) -> Result<(TaskId, bool)> {
        check_range("a number of CPUs", task.environment.cpus, 0.0..=f64::MAX)?;
        check_range("a pass mark", task.verifier.pass_mark, 0.0..=1.0)?;
        let mut change = self.change().await?;
        let put = put(change.db(), task, findings, source, at).await?;
        change.commit().await?;
        Ok(put)
    }

    /// All tasks by name, the newest of equal names first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn tasks(&self) -> Result<Vec<TaskSummary>> {
        let rows: Vec<RawSummary> =
            sqlx::query_as(select_summaries!("ORDER BY t.name, t.id DESC")).fetch_all(self.reader()).await?;
        Ok(readable("task", rows, |raw| raw.id))
    }

    /// What these tasks share with others; nothing of those that are not there.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn task_labels(&self, tasks: &[TaskId]) -> Result<HashMap<TaskId, TaskLabels>> {
        let rows: Vec<(i64, Option<String>, Option<String>)> = sqlx::query_as(
            "SELECT t.id, t.spec ->> '$.metadata.category', t.spec ->> '$.environment.repository.url' \
             FROM json_each($1) m JOIN tasks t ON t.id = m.value",
        )
        .bind(to_json("tasks", tasks)?)
        .fetch_all(self.reader())
        .await?;
        let labels = |(id, category, repository)| (TaskId(id), TaskLabels { category, repository });
        Ok(rows.into_iter().map(labels).collect())
    }

    /// One task in full.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn task(&self, id: TaskId) -> Result<TaskRow> {
        let row: Option<RawTask> =
            sqlx::query_as("SELECT id, hash, spec, findings, source, created_at FROM tasks WHERE id = $1")
                .bind(id.0)
                .fetch_optional(self.reader())
                .await?;
        row.ok_or_else(|| StoreError::not_found("task", id))?.try_into()
    }
}

async fn put(
    db: &mut SqliteConnection,
    task: &Task,
    findings: &[Finding],
    source: &str,
    at: Timestamp,
) -> Result<(TaskId, bool)> {
    let (spec, findings) = (to_json("task", task)?, to_json("findings", findings)?);
    let hash = task.version().to_hex();
    let known: Option<i64> = sqlx::query_scalar(
        "UPDATE tasks SET layout = $3, spec = $4, findings = $5, source = $6 WHERE name = $1 AND hash = $2 RETURNING id",
    )
    .bind(&task.name)
    .bind(&hash)
    .bind(task.layout.word())
    .bind(&spec)
    .bind(&findings)
    .bind(source)
    .fetch_optional(&mut *db)
    .await?;
    if let Some(id) = known {
        return Ok((TaskId(id), false));
    }
    let id = sqlx::query_scalar(
        "INSERT INTO tasks (name, hash, layout, spec, findings, source, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
    )
    .bind(&task.name)
    .bind(hash)
    .bind(task.layout.word())
    .bind(spec)
    .bind(findings)
    .bind(source)
    .bind(at.0)
    .fetch_one(db)
    .await?;
    Ok((TaskId(id), true))
}
