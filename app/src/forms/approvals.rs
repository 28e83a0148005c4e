//! Approving that a task's verifier gets a variable of this machine, and taking that back.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::response::Response;
use domain::approval::Scope;
use domain::id::TaskId;
use leptos_router::params::ParamsMap;

use super::{Forms, answer, body};
use crate::error::AppError;
use crate::posted::Posted;

/// Approves the posted variable for the task, or for those of its folder.
pub async fn approve(State(forms): State<Forms>, Path(task): Path<i64>, request: Request<Body>) -> Response {
    change(&forms, TaskId(task), request, Change::Approve).await
}

/// Takes an approval back.
pub async fn withdraw(State(forms): State<Forms>, Path(task): Path<i64>, request: Request<Body>) -> Response {
    change(&forms, TaskId(task), request, Change::Withdraw).await
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Approve,
    Withdraw,
}

async fn change(forms: &Forms, task: TaskId, request: Request<Body>, change: Change) -> Response {
    let (parts, fields) = body::fields(request).await;
    let done = match fields {
        Ok(fields) => carry_out(forms, task, &fields, change).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => answer::redirect(&format!("/tasks/{task}#variables")),
        Err(error) => answer::page(forms, parts, Posted::Failed(error)).await,
    }
}

async fn carry_out(forms: &Forms, task: TaskId, fields: &ParamsMap, change: Change) -> Result<(), AppError> {
    let name = fields.get("variable").unwrap_or_default();
    let scope = match fields.get("scope").unwrap_or_default().as_str() {
        "task" => Scope::Task,
        "folder" => Scope::Folder,
        other => return Err(AppError::invalid(format!("'{other}' is no choice of tasks; go back and choose again"))),
    };
    match change {
        Change::Approve => forms.ops.approve_variable(task, &name, scope).await?,
        Change::Withdraw => forms.ops.withdraw_variable(task, &name, scope).await?,
    };
    Ok(())
}
