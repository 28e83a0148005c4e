//! Rounds at instants of the tests' choice. No trial is started here: nothing of the engine is used but its address.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::listing::AuditRequest;
use domain::task::DataVersion;

use super::*;
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

const HOUR_MS: i64 = 3_600_000;
const SECOND: Duration = Duration::from_secs(1);

/// A scheduler that claims nothing, over an audit of two trials.
struct Bench {
    store: Store,
    ops: Ops,
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
        Self { store: runtime.store.clone(), ops: runtime.ops.clone(), scheduler, now, _data: data }
    }

    async fn claim(&self) -> Claim {
        let now = self.scheduler.now();
        self.store.claim_next(now, now.plus_ms(LEASE_MS), 9).await.unwrap().unwrap()
    }

    /// Ends a claim with trouble.
    async fn fail(&self, claim: &Claim) {
        let verdict = Verdict::InfraError { class: InfraClass::Image, message: "no registry".to_owned() };
        let what = Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) };
        let event = TrialEvent { attempt: claim.attempt, at: self.scheduler.now(), what };
        self.store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap();
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

#[tokio::test]
async fn it_looks_again_when_a_trial_is_due_that_waits_after_trouble() {
    let mut bench = Bench::new().await;
    assert_eq!(bench.scheduler.round().await, None);
    let (one, other) = (bench.claim().await, bench.claim().await);
    bench.fail(&one).await;
    bench.now.fetch_add(4000, Ordering::Relaxed);
    bench.fail(&other).await;
    for (wait, then) in [(Some(SECOND * 6), 6000), (Some(SECOND * 4), 4000), (None, 0)] {
        assert_eq!(bench.scheduler.round().await, wait);
        bench.now.fetch_add(then, Ordering::Relaxed);
    }
    let again = bench.claim().await;
    bench.fail(&again).await;
    assert_eq!(bench.scheduler.round().await, Some(SECOND * 40));
    let told = bench.ops.live_log(again.trial.evaluation).await.unwrap();
    let texts = told.iter().rev().filter_map(|event| match &event.what {
        Happening::Log { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let last: Vec<&str> = texts.take(2).collect();
    let waits = "attempt 2 could not be scored; the trial is queued again and waits 40 s\n";
    assert_eq!(last, ["attempt without a score: no registry\n", waits], "why, at once");
}
