//! Answers a post with a page of the app, or with a redirect.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::prelude::provide_context;

use super::Forms;
use crate::posted::Posted;
use crate::shell::shell;

/// Renders the page of the posted address with `posted` in its context.
pub async fn page(forms: &Forms, mut parts: Parts, posted: Posted) -> Response {
    parts.method = Method::GET;
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    let request = Request::from_parts(parts, Body::empty());
    let (provide, options) = (forms.provide.clone(), forms.options.clone());
    let context = move || {
        provide();
        provide_context(posted.clone());
    };
    leptos_axum::render_app_async_with_context(context, move || shell(options.clone()))(request).await
}

/// Sends the browser to `place`, to be read by GET.
pub fn redirect(place: &str) -> Response {
    match HeaderValue::from_str(place) {
        Ok(value) => (StatusCode::SEE_OTHER, [(header::LOCATION, value)]).into_response(),
        Err(_) => (StatusCode::SEE_OTHER, [(header::LOCATION, HeaderValue::from_static("/"))]).into_response(),
    }
}
