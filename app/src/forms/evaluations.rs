//! Checking, starting and cancelling an evaluation.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::response::Response;
use domain::id::EvaluationId;

use super::{Forms, answer, body};
use crate::draft::Draft;
use crate::error::AppError;
use crate::posted::Posted;

/// Sends back to the form with the draft in the address, where the plan card and what is wrong stand.
pub async fn check(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    match fields {
        Ok(fields) => to_form(&Draft::from_params(&fields)),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}

/// Starts the evaluation and goes to its page; a draft that cannot be started goes back to the form.
pub async fn start(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let draft = match fields {
        Ok(fields) => Draft::from_params(&fields),
        Err(error) => return answer::page(&forms, parts, Posted::Failed(error)).await,
    };
    if !draft.select.is_empty() {
        return to_form(&draft);
    }
    let Ok(plan) = draft.request(&forms.ops.choices()) else { return to_form(&draft) };
    match forms.ops.start(&plan).await.map_err(AppError::from) {
        Ok(id) => answer::redirect(&format!("/evaluations/{id}")),
        Err(AppError::Invalid { .. } | AppError::NotFound { .. }) => to_form(&draft),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}

/// Cancels what is not finished.
pub async fn cancel(State(forms): State<Forms>, Path(id): Path<i64>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let done = match fields {
        Ok(_) => forms.ops.cancel(EvaluationId(id)).await.map_err(AppError::from),
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => answer::redirect(&format!("/evaluations/{id}")),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}

fn to_form(draft: &Draft) -> Response {
    answer::redirect(&format!("/evaluations/new{}", draft.to_query()))
}
