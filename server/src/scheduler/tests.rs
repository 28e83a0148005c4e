//! Rounds at instants of the tests' choice. No trial is started here: nothing of the engine is used but its address.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::listing::AuditRequest;
use domain::task::DataVersion;

use super::*;
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

const HOUR_MS: i64 = 3_600_000;

/// A scheduler that claims nothing, over an audit of two trials.
struct Bench {
    store: Store,
    scheduler: Scheduler,
    now: Arc<AtomicI64>,
    _data: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let args = CommonArgs {
            data: data.path().to_owned(),
            config: None,
            image_stand_ins: Vec::new(),
            repository_mirrors: Vec::new(),
            ca_bundle: None,
            scripted_model: None,
        };
        let runtime = Runtime::open(Config::load(&args).unwrap(), None).await.unwrap();
        let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tasks");
        let tasks = runtime.ops.add_task_folders(&[examples], DataVersion::Auto).await.unwrap().accepted;
        let request = AuditRequest {
            tasks: tasks.iter().map(|task| task.id).take(1).collect(),
            repeats: 1,
            concurrency: 2,
            seed: Some(1),
            timeout_multiplier: 1.0,
            rebuild_images: false,
        };
        runtime.ops.start_audit(&request).await.unwrap();
        let now = Arc::new(AtomicI64::new(HOUR_MS));
        let clock = Arc::clone(&now);
        let mut scheduler = runtime.scheduler().await.unwrap();
        scheduler.limit = 0;
        scheduler.clock = Arc::new(move || Timestamp(clock.load(Ordering::Relaxed)));
        Self { store: runtime.store.clone(), scheduler, now, _data: data }
    }

    async fn claim(&self) -> Claim {
        let now = self.scheduler.now();
        self.store.claim_next(now, now.plus_ms(LEASE_MS), 9).await.unwrap().unwrap()
    }

    async fn live(&self) -> Vec<AttemptId> {
        self.store.live_attempts().await.unwrap().iter().map(|live| live.attempt).collect()
    }
}

#[tokio::test]
async fn a_clock_that_leaps_ends_no_attempt_whose_worker_is_here() {
    let mut bench = Bench::new().await;
    let (made, left) = (bench.claim().await, bench.claim().await);
    let cancel = CancellationToken::new();
    bench.scheduler.workers.start(Making::of(&made), cancel.clone(), std::future::pending());
    bench.scheduler.round().await;
    assert_eq!(bench.live().await, [made.attempt, left.attempt]);
    bench.now.fetch_add(HOUR_MS, Ordering::Relaxed);
    bench.scheduler.round().await;
    assert_eq!(bench.live().await, [made.attempt]);
    assert!(!cancel.is_cancelled());
}
