//! Publishing the leaderboard.

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;

use super::{Forms, answer, body};
use crate::error::AppError;
use crate::posted::Posted;

/// Publishes the rows as they stand, and goes to the snapshot that holds them.
pub async fn publish(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let done = match fields {
        Ok(_) => forms.ops.publish_leaderboard().await.map_err(AppError::from),
        Err(error) => Err(error),
    };
    match done {
        Ok((snapshot, _)) => answer::redirect(&format!("/leaderboard?data=snapshot-{}", snapshot.id)),
        Err(error) => answer::page(&forms, parts, Posted::Failed(error)).await,
    }
}
