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

/// Whatever failed it fails the next one as well, and each has spent what an attempt spends.
#[tokio::test]
async fn a_worker_that_fails_uses_up_attempts_and_waits_as_other_trouble() {
    let mut bench = Bench::new().await;
    let (first, _beside) = (bench.claim().await, bench.claim().await);
    let mut claim = first;
    for (attempt, wait) in [(1, Some(SECOND * 10)), (2, Some(SECOND * 40)), (3, None)] {
        bench.scheduler.workers.start(Making::of(&claim), CancellationToken::new(), async { panic!("a bug") });
        let left = bench.scheduler.workers.next().await.unwrap();
        bench.scheduler.left(left).await;
        let trial = bench.store.trial(claim.trial.id).await.unwrap();
        assert_eq!((claim.number, bench.scheduler.round().await), (attempt, wait), "{trial:?}");
        let Some(wait) = wait else {
            let verdict = trial.state.verdict().unwrap();
            assert!(matches!(verdict, Verdict::InfraError { class: InfraClass::Worker, .. }), "{verdict:?}");
            break;
        };
        bench.now.fetch_add(i64::try_from(wait.as_millis()).unwrap(), Ordering::Relaxed);
        claim = bench.claim().await;
    }
}

#[tokio::test]
async fn alone_is_alone_also_when_the_store_could_not_be_asked() {
    let mut bench = Bench::new().await;
    let other = bench.store.open_evaluations().await.unwrap()[0].clone();
    let own = bench.store.create_evaluation(&other.plan, Timestamp(1)).await.unwrap();
    bench.scheduler.limit = 9;
    bench.scheduler.available.only = Some(own);
    let closed = Store::temp().await.unwrap();
    closed.close().await;
    bench.scheduler.store = closed;
    bench.scheduler.claim().await.unwrap_err();
    bench.scheduler.store = bench.store.clone();
    for _ in 0..2 {
        let claimed = bench.scheduler.claim().await.unwrap();
        assert!(matches!(&claimed, Claimed::Trial(claim) if claim.trial.evaluation == own), "{claimed:?}");
    }
    assert!(matches!(bench.scheduler.claim().await.unwrap(), Claimed::Nothing));
    let reasons: Vec<&str> = bench.scheduler.stranded.iter().map(|stranded| stranded.reason.as_str()).collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].starts_with(&format!("audit {} was interrupted", other.id)), "{reasons:?}");
}

/// How the store comes upon one is tested with it.
#[tokio::test]
async fn an_evaluation_that_cannot_be_read_waits_with_its_id_and_holds_up_no_other() {
    let mut bench = Bench::new().await;
    let broken = bench.store.open_evaluations().await.unwrap()[0].clone();
    let next = bench.store.create_evaluation(&broken.plan, Timestamp(1)).await.unwrap();
    let error = StoreError::Unreadable { column: "evaluations.plan", found: "{}".to_owned(), source: None };
    bench.scheduler.strand(Stranded::unreadable(broken.id, &error));
    bench.scheduler.limit = 9;
    for _ in 0..2 {
        let claimed = bench.scheduler.claim().await.unwrap();
        assert!(matches!(&claimed, Claimed::Trial(claim) if claim.trial.evaluation == next), "{claimed:?}");
    }
    bench.scheduler.round().await;
    let status = bench.scheduler.status().borrow().clone();
    assert_eq!(status.paused, None);
    let [reason] = &status.waiting[..] else { panic!("{status:?}") };
    assert!(reason.starts_with(&format!("evaluation {} cannot be read", broken.id)), "{reason}");
}
