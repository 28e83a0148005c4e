//! What the pages' forms post to. Each answers with a redirect, or with a page that says what became of the post; none needs JavaScript.

mod answer;
mod approvals;
mod audits;
mod body;
mod evaluations;
mod fetch;
mod leaderboard;
mod tasks;
mod theme;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use leptos::prelude::LeptosOptions;

use crate::api::backend::Ops;

/// What the handlers need.
#[derive(Clone)]
struct Forms {
    options: LeptosOptions,
    ops: Ops,
    /// Gives a page its contexts.
    provide: Arc<dyn Fn() + Send + Sync>,
}

/// The routes of all forms. `provide` gives the contexts that pages need ([`crate::Bundle`] and `Ops`).
///
/// Every request must carry a [`crate::Csrf`] in its extensions; a post whose field `csrf` differs from it is refused.
pub fn routes(options: LeptosOptions, ops: Ops, provide: impl Fn() + Send + Sync + 'static) -> Router {
    let limit = usize::try_from(ops.choices().upload_limit).unwrap_or(usize::MAX);
    let forms = Forms { options, ops, provide: Arc::new(provide) };
    Router::new()
        .route("/skills/upload", post(upload::upload).layer(body::limit(limit)))
        .route("/skills/fetch", post(fetch::fetch))
        .route("/tasks/add", post(tasks::add))
        .route("/tasks/{id}/approve", post(approvals::approve))
        .route("/tasks/{id}/withdraw", post(approvals::withdraw))
        .route("/audits/start", post(audits::start))
        .route("/audits/{id}/cancel", post(audits::cancel))
        .route("/evaluations/check", post(evaluations::check))
        .route("/evaluations/start", post(evaluations::start))
        .route("/evaluations/{id}/cancel", post(evaluations::cancel))
        .route("/leaderboard/publish", post(leaderboard::publish))
        .route("/theme", post(theme::choose))
        .with_state(forms)
}
