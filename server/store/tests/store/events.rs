//! What happened, in order, and who is woken.

use domain::attempt::AttemptResult;
use domain::id::EventId;
use domain::order::{Happening, TrialEvent};
use domain::spending::Spending;
use domain::trace::{Source, TraceStep};
use domain::trial::Phase;
use domain::usage::TokenUsage;
use domain::verdict::Verdict;
use store::Recorded;

use crate::fixtures::{at, claim, end, ended, log, one_pair, reached};

fn step(text: &str) -> TraceStep {
    let text = text.to_owned();
    TraceStep::said(Source::Agent, text)
}

#[tokio::test]
async fn events_tell_the_whole_story_in_order() {
    let (store, id) = one_pair().await;
    let got = claim(&store, 1).await.unwrap();
    let (attempt, trial) = (got.attempt, got.trial.id);
    let done = Happening::StepDone { step: Box::new(step("counted")) };
    for event in [
        reached(attempt, 2, Phase::Agent),
        log(attempt, 3, "one sheep\n"),
        TrialEvent { attempt, at: at(4), what: done },
        reached(attempt, 5, Phase::Agent),
        reached(attempt, 6, Phase::Verifying),
        ended(attempt, 7, AttemptResult::bare(Verdict::Pass)),
        ended(attempt, 8, AttemptResult::bare(Verdict::Cancelled)),
    ] {
        store.record_event(id, trial, &event).await.unwrap();
    }
    let events = store.events_after(id, EventId(0), 100).await.unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|event| match &event.what {
            Recorded::Moved { state } => state.word().to_owned(),
            Recorded::Log { text, .. } => text.trim().to_owned(),
            Recorded::StepDone { step } => step.text.clone(),
            Recorded::Spent { spent } => format!("{} tokens", spent.tokens),
            Recorded::Ended { verdict, counted } => format!("{} {counted}", verdict.word()),
        })
        .collect();
    let want = ["preparing", "agent", "one sheep", "counted", "verifying", "finished", "pass true", "cancelled false"];
    assert_eq!(told, want);
    assert!(events.is_sorted_by_key(|event| event.id));
    assert!(events.iter().all(|event| (event.trial, event.attempt) == (trial, Some(attempt))));
    let task = store.evaluation(id).await.unwrap().plan.tasks[0].name.clone();
    let whose = (task.as_str(), got.trial.condition, got.trial.repeat);
    assert!(events.iter().all(|event| (event.task.as_str(), event.condition, event.repeat) == whose), "{events:?}");
    assert_eq!(store.newest_events(id, 3).await.unwrap(), events[5..]);
    assert_eq!(store.newest_event(id).await.unwrap(), events[7].id);

    let mut paged = Vec::new();
    let mut last = EventId(0);
    loop {
        let page = store.events_after(id, last, 3).await.unwrap();
        let Some(event) = page.last() else { break };
        last = event.id;
        paged.extend(page);
    }
    assert_eq!(paged, events);
    assert_eq!(store.attempt_events_after(attempt, events[5].id, 9).await.unwrap(), events[6..]);
}

#[tokio::test]
async fn what_live_pages_alone_need_goes_once_the_evaluation_is_finished() {
    let (store, id) = one_pair().await;
    let spent = Spending { tokens: 7, ..Spending::default() };
    let (killed, got) = (claim(&store, 1).await.unwrap(), claim(&store, 1).await.unwrap());
    let done = Happening::StepDone { step: Box::new(step("counted")) };
    for what in [done, Happening::Spent { spent }] {
        let event = TrialEvent { attempt: got.attempt, at: at(2), what };
        store.record_event(id, got.trial.id, &event).await.unwrap();
    }
    for _ in 0..600 {
        store.record_event(id, got.trial.id, &log(got.attempt, 2, "baa")).await.unwrap();
    }
    store.record_event(id, killed.trial.id, &log(killed.attempt, 2, "last words")).await.unwrap();
    store.close_expired(at(99), &[got.attempt].into()).await.unwrap();
    end(&store, &got, 99, Verdict::Pass).await;
    assert_eq!(store.prune_events().await.unwrap(), 0, "a page may still follow it");
    let again = claim(&store, 100).await.unwrap();
    store.record_event(id, again.trial.id, &log(again.attempt, 101, "baa")).await.unwrap();
    end(&store, &again, 102, Verdict::Pass).await;
    assert_eq!(store.prune_events().await.unwrap(), 602);
    let left = store.events_after(id, EventId(0), 99).await.unwrap();
    let of = |attempt| left.iter().filter(move |event| event.attempt == Some(attempt)).map(|event| event.what.word());
    assert_eq!(of(got.attempt).collect::<Vec<_>>(), ["moved", "spent", "moved", "ended"]);
    assert_eq!(of(killed.attempt).collect::<Vec<_>>(), ["moved", "log", "moved"], "all that is known of it");
    assert_eq!(of(again.attempt).collect::<Vec<_>>(), ["moved", "moved", "ended"]);
}

/// The budget of an evaluation is read from these words wherever a result does not count everything.
#[tokio::test]
async fn of_what_was_spent_only_what_no_result_holds_outlives_the_evaluation() {
    let usage = TokenUsage { input: Some(5), cache_read: Some(0), cache_write: Some(1), output: Some(1) };
    let counted = AttemptResult { usage, cost: Some(0.5), model_calls: Some(2), ..AttemptResult::bare(Verdict::Pass) };
    let without = |change: fn(&mut AttemptResult)| {
        let mut result = counted.clone();
        change(&mut result);
        Some(result)
    };
    for (name, result, uncounted, kept) in [
        ("all counted", Some(counted.clone()), 0, 0),
        ("a call was not counted", Some(counted.clone()), 1, 1),
        ("a class is unknown", without(|result| result.usage.output = None), 0, 1),
        ("the cost is unknown", without(|result| result.cost = None), 0, 1),
        ("the calls are unknown", without(|result| result.model_calls = None), 0, 1),
        ("killed", None, 0, 1),
    ] {
        let (store, id) = one_pair().await;
        let (got, other) = (claim(&store, 1).await.unwrap(), claim(&store, 1).await.unwrap());
        for tokens in 1..=7 {
            let what = Happening::Spent { spent: Spending { tokens, calls: 2, uncounted, ..Spending::default() } };
            store.record_event(id, got.trial.id, &TrialEvent { attempt: got.attempt, at: at(2), what }).await.unwrap();
        }
        match result {
            Some(result) => {
                store.record_event(id, got.trial.id, &ended(got.attempt, 3, result)).await.unwrap();
            }
            None => {
                store.close_expired(at(99), &[other.attempt].into()).await.unwrap();
                let again = claim(&store, 100).await.unwrap();
                end(&store, &again, 101, Verdict::Pass).await;
            }
        }
        end(&store, &other, 102, Verdict::Pass).await;
        let spent = store.spent(id).await.unwrap();
        assert_eq!(store.prune_events().await.unwrap(), 7 - kept, "{name}");
        assert_eq!(store.spent(id).await.unwrap(), spent, "{name}: the sum is the same");
        assert_eq!(store.prune_events().await.unwrap(), 0, "{name}");
    }
}

#[tokio::test]
async fn readers_wake_once_an_event_can_be_read() {
    let (store, id) = one_pair().await;
    let (mut live, mut queue) = (store.subscribe(id), store.subscribe_queue());
    assert!(!live.has_changed().unwrap());
    let got = claim(&store, 1).await.unwrap();
    live.changed().await.unwrap();
    let newest = *live.borrow_and_update();
    assert_eq!(store.events_after(id, EventId(0), 9).await.unwrap().last().unwrap().id, newest);
    assert!(!queue.has_changed().unwrap(), "a claim frees no place");

    store.renew_lease(got.attempt, at(99)).await.unwrap();
    assert!(!live.has_changed().unwrap(), "a renewal is no event");

    end(&store, &got, 2, Verdict::Pass).await;
    queue.changed().await.unwrap();
    assert!(live.has_changed().unwrap());
    store.request_cancel(id, at(3)).await.unwrap();
    assert!(queue.has_changed().unwrap());
}

#[tokio::test]
async fn a_wake_is_never_about_another_evaluation() {
    let (store, first) = one_pair().await;
    let plan = store.evaluation(first).await.unwrap().plan;
    let second = store.create_evaluation(&plan, at(1)).await.unwrap();
    let (one, two) = (store.subscribe(first), store.subscribe(second));
    store.request_cancel(second, at(2)).await.unwrap();
    assert!(!one.has_changed().unwrap() && two.has_changed().unwrap());
}
