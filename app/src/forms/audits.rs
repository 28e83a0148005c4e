//! Starting and cancelling a task audit.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::response::Response;
use domain::id::{EvaluationId, TaskId};
use domain::listing::AuditRequest;
use leptos_router::params::ParamsMap;

use super::{Forms, answer, body};
use crate::error::AppError;
use crate::posted::Posted;

/// Trials at the same time, unless the form says otherwise.
const CONCURRENCY: u32 = 2;

/// Starts the audit and goes to its page. The field `task` may come several times; without it, every task is meant.
pub async fn start(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let started = match fields {
        Ok(fields) => begin(&forms, &fields).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(id) => answer::redirect(&format!("/audits/{id}")),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}

async fn begin(forms: &Forms, fields: &ParamsMap) -> Result<EvaluationId, AppError> {
    let wrong = |what: &str, text: &str| AppError::invalid(format!("'{text}' is no {what}; go back and choose again"));
    let chosen = fields.get_all("task").unwrap_or_default();
    let mut tasks = Vec::with_capacity(chosen.len());
    for text in &chosen {
        tasks.push(text.parse::<TaskId>().map_err(|_| wrong("task", text))?);
    }
    if chosen.is_empty() {
        tasks = forms.ops.tasks().await?.into_iter().map(|task| task.id).collect();
    }
    let repeats = fields.get("k").unwrap_or_default();
    let request = AuditRequest {
        tasks,
        repeats: repeats.trim().parse().map_err(|_| wrong("number of repeats", &repeats))?,
        concurrency: CONCURRENCY,
        seed: None,
        timeout_multiplier: 1.0,
        rebuild_images: false,
    };
    Ok(forms.ops.start_audit(&request).await?)
}

/// Cancels what is not finished.
pub async fn cancel(State(forms): State<Forms>, Path(id): Path<i64>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let done = match fields {
        Ok(_) => forms.ops.cancel(EvaluationId(id)).await.map_err(AppError::from),
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => answer::redirect(&format!("/audits/{id}")),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}
