//! Gives what a page's server function could not do the status of its error: Leptos answers each with 500, as if it were our own trouble.

use app::AppError;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;

/// Most bytes of an error: its findings are capped far below.
const MOST_BYTES: usize = 16 << 20;

/// The middleware.
pub async fn of_errors(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let failed = response.status() == StatusCode::INTERNAL_SERVER_ERROR;
    if !failed || !response.headers().contains_key(SERVER_FN_ERROR_HEADER) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, MOST_BYTES).await else { return Response::from_parts(parts, Body::empty()) };
    let error = serde_json::from_slice::<AppError>(&bytes).ok();
    if let Some(status) = error.and_then(|error| StatusCode::from_u16(error.status()).ok()) {
        parts.status = status;
    }
    Response::from_parts(parts, Body::from(bytes))
}
