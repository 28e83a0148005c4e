//! Adding a folder of tasks.

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use domain::task::DataVersion;

use super::{Forms, answer, body};
use crate::error::AppError;
use crate::posted::Posted;

/// Adds the tasks below the posted path.
pub async fn add(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let posted = match fields {
        Ok(fields) => {
            let path = fields.get("path").unwrap_or_default().trim().to_owned();
            match fields.get("layout").as_deref().unwrap_or(DataVersion::Auto.word()).parse() {
                Ok(version) => match forms.ops.add_tasks(&path, version).await {
                    Ok(intake) => Posted::Tasks { path, intake },
                    Err(error) => Posted::Failed(AppError::from(error)),
                },
                Err(message) => Posted::Failed(AppError::invalid(message)),
            }
        }
        Err(error) => Posted::Failed(error),
    };
    answer::page(&forms, parts, posted).await
}
