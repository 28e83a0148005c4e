//! How the server is, for monitors.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use ops::Ops;
use serde::Serialize;
use tokio::sync::watch;

use crate::scheduler::QueueStatus;

/// The answer of `/api/health`.
#[derive(Serialize)]
pub struct Health {
    version: &'static str,
    database: &'static str,
    running: usize,
    paused: Option<String>,
    waiting: Vec<String>,
    connections_in_use: u32,
    connections: u32,
}

/// Answers 503 where the database does not answer.
pub async fn health(State((ops, queue)): State<(Ops, watch::Receiver<QueueStatus>)>) -> (StatusCode, Json<Health>) {
    let store = ops.store().health().await.ok();
    let queue = queue.borrow().clone();
    let status = if store.is_some() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let health = Health {
        version: env!("CARGO_PKG_VERSION"),
        database: if store.is_some() { "ok" } else { "does not answer" },
        running: queue.running,
        paused: queue.paused,
        waiting: queue.waiting,
        connections_in_use: store.as_ref().map_or(0, |health| health.readers_in_use),
        connections: store.as_ref().map_or(0, |health| health.readers),
    };
    (status, Json(health))
}
