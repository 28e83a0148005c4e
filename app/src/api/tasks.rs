//! Tasks as pages read them.

use domain::id::TaskId;
use domain::listing::{TaskDetail, TaskListing};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;

/// The list of tasks, and from where tasks can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TasksView {
    /// All tasks.
    pub tasks: Vec<TaskListing>,
    /// Folders below which task folders may lie.
    pub roots: Vec<String>,
}

/// All tasks.
#[server(prefix = "/api", endpoint = "tasks", input = GetUrl, client = SameBuild)]
pub async fn tasks() -> Result<TasksView, AppError> {
    let ops = super::ops()?;
    Ok(TasksView { tasks: ops.tasks().await?, roots: ops.choices().task_roots })
}

/// One task.
#[server(prefix = "/api", endpoint = "task", input = GetUrl, client = SameBuild)]
pub async fn task(id: TaskId) -> Result<TaskDetail, AppError> {
    Ok(super::ops()?.task(id).await?)
}
