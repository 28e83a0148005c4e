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
    scheduler: &'static str,
    running: usize,
    paused: Option<String>,
    waiting: Vec<String>,
    connections_in_use: u32,
    connections: u32,
}

/// Answers 503 where the database does not answer, or the scheduler has come to its end.
pub async fn health(State((ops, queue)): State<(Ops, watch::Receiver<QueueStatus>)>) -> (StatusCode, Json<Health>) {
    let store = ops.store().health().await.ok();
    // Whoever would change the queue's status is gone.
    let is_scheduled = queue.has_changed().is_ok();
    let queue = queue.borrow().clone();
    let status = if store.is_some() && is_scheduled { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let health = Health {
        version: env!("CARGO_PKG_VERSION"),
        database: if store.is_some() { "ok" } else { "does not answer" },
        scheduler: if is_scheduled { "ok" } else { "has ended" },
        running: queue.running,
        paused: queue.paused,
        waiting: queue.waiting,
        connections_in_use: store.as_ref().map_or(0, |health| health.readers_in_use),
        connections: store.as_ref().map_or(0, |health| health.readers),
    };
    (status, Json(health))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::time::Timestamp;
    use ops::OpsConfig;
    use store::Store;

    use super::*;

    #[tokio::test]
    async fn a_program_whose_scheduler_or_database_is_gone_is_not_well() {
        let store = Store::temp().await.unwrap();
        let ops = Ops::new(store.clone(), Arc::new(|| Timestamp(0)), OpsConfig::default());
        let queue = watch::Sender::new(QueueStatus::default());
        let look = async |queue: &watch::Receiver<QueueStatus>| {
            let (status, Json(told)) = health(State((ops.clone(), queue.clone()))).await;
            (status.as_u16(), told.database, told.scheduler)
        };
        let seen = queue.subscribe();
        assert_eq!(look(&seen).await, (200, "ok", "ok"));
        drop(queue);
        assert_eq!(look(&seen).await, (503, "ok", "has ended"));
        store.close().await;
        assert_eq!(look(&seen).await, (503, "does not answer", "has ended"));
    }
}
