//! Skills from a git repository.

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use domain::repository::SkillSource;

use super::upload::OWNER;
use super::{Forms, answer, body};
use crate::api::backend::Upload;
use crate::error::AppError;
use crate::posted::Posted;

/// Fetches the posted address and takes its skills in.
pub async fn fetch(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let posted = match fields {
        Ok(fields) => {
            let address = fields.get("address").unwrap_or_default();
            take_in(&forms, &address).await
        }
        Err(error) => Posted::Failed(error),
    };
    answer::page(&forms, parts, posted).await
}

async fn take_in(forms: &Forms, address: &str) -> Posted {
    let source = match address.parse::<SkillSource>() {
        Ok(source) => source,
        Err(error) => {
            let message = format!("{:?} cannot be fetched: {error}", address.trim());
            return Posted::Failed(AppError::Invalid { message, findings: Vec::new() });
        }
    };
    match forms.ops.upload_skills(OWNER, Upload::Repository(source)).await {
        Ok(intake) => Posted::Skills(intake),
        Err(error) => Posted::Failed(AppError::from(error)),
    }
}
