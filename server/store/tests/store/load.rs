//! Many writers and readers at once: nobody is turned away (case W03), and the write-ahead log stays bounded. Callers who go away half-way
//! leave nothing half done.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use domain::id::EventId;
use domain::verdict::Verdict;
use store::{Claim, Store};

use crate::fixtures::{at, claim, end, log, plan};

const ATTEMPTS: u32 = 8;
const WRITERS: u32 = 50;
const WRITES: i64 = 40;

async fn write(store: Store, claim: Claim) {
    for i in 0..WRITES {
        let event = log(claim.attempt, i, &"one sheep, ".repeat(90));
        store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap();
    }
}

async fn read(store: Store, claim: Claim) {
    for _ in 0..WRITES {
        store.results(claim.trial.evaluation).await.unwrap();
        store.evaluations().await.unwrap();
        store.events_after(claim.trial.evaluation, EventId(0), 200).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_writers_and_eight_readers_are_all_served() {
    let store = Store::temp().await.unwrap();
    let mut plan = plan(&store, 8, 1).await;
    plan.settings.concurrency = ATTEMPTS;
    let id = store.create_evaluation(&plan, at(0)).await.unwrap();
    let mut claims = Vec::new();
    while let Some(claim) = claim(&store, 1).await {
        claims.push(claim);
    }
    assert_eq!(claims.len(), ATTEMPTS as usize);
    let mut work = tokio::task::JoinSet::new();
    for i in 0..WRITERS {
        work.spawn(write(store.clone(), claims[(i % ATTEMPTS) as usize].clone()));
    }
    for claim in &claims {
        work.spawn(read(store.clone(), claim.clone()));
    }
    while let Some(done) = work.join_next().await {
        done.expect("no Busy, no other error");
    }
    for claim in &claims {
        assert!(end(&store, claim, 99, Verdict::Pass).await.is_yes());
    }
    let log = std::fs::metadata(store.dir().database().with_extension("sqlite-wal")).unwrap().len();
    assert!(log < 64 << 20, "{log} bytes of write-ahead log");
    let health = store.health().await.unwrap();
    assert!(health.readers_in_use <= health.readers, "{health:?}");
    let mut last = EventId(0);
    let mut seen = 0;
    loop {
        let page = store.events_after(id, last, 500).await.unwrap();
        let Some(event) = page.last() else { break };
        last = event.id;
        seen += page.len();
    }
    let events = i64::from(WRITERS) * WRITES + 3 * i64::from(ATTEMPTS);
    assert_eq!(seen as i64, events, "each log, and a claim, a move and an end for each attempt");
}

/// Drives `work` until it has been polled `polls` times, then drops it, as a server does whose client has gone; whether it was done by then.
async fn drop_after<T>(polls: usize, work: impl Future<Output = T>) -> bool {
    let mut work = pin!(work);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        match work.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if polled >= polls => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_caller_who_goes_away_leaves_nothing_half_done() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 3, 1).await;
    let mut dropped = 0;
    for round in 0..60 {
        let before = store.evaluations().await.unwrap().len();
        let done = drop_after(1 + round % 12, store.create_evaluation(&plan, at(1))).await;
        // The next write waits for the roll-back, so it shows that the writer is free again.
        store.create_campaign("next", at(2)).await.expect("the writer is free");
        let evaluations = store.evaluations().await.unwrap();
        for row in &evaluations {
            assert_eq!(store.trial_counts(row.id).await.unwrap().queued, 6, "whole or not at all");
        }
        let new = evaluations.len() - before;
        assert!(new == 1 || (new == 0 && !done), "{new} new, done: {done}");
        dropped += usize::from(!done);
    }
    assert!(dropped > 0, "nobody went away");
}
