//! Every state change goes through the domain's `step`, whatever the order of inputs.

use std::collections::HashSet;

use domain::attempt::AttemptResult;
use domain::draw::Draw;
use domain::id::AttemptId;

use domain::trial::{Allowance, MAX_INTERRUPTIONS, Phase, RetryWait, Step, TrialInput, TrialState, interrupted};
use domain::verdict::{FailReason, Verdict};
use store::{Claim, Store, StoreError};

use crate::fixtures::{at, claim, end, ended, infra, one_pair, plan, reached};

/// Over before the next input the first time, and after several the second.
const WAIT: RetryWait = RetryWait { first_ms: 10_000 };
const PHASES: [Phase; 3] = [Phase::Preparing, Phase::Agent, Phase::Verifying];

/// One trial in the store beside the same trial in memory.
struct Twin {
    store: Store,
    first: Claim,
    attempt: AttemptId,
    model: TrialState,
    interrupted: u32,
    now: i64,
}

impl Twin {
    async fn new() -> Self {
        let store = Store::temp().await.unwrap().with_retry_wait(WAIT);
        let mut plan = plan(&store, 1, 1).await;
        plan.settings.concurrency = 1;
        store.create_evaluation(&plan, at(0)).await.unwrap();
        let first = claim(&store, 0).await.unwrap();
        Self { model: first.trial.state.clone(), attempt: first.attempt, store, first, interrupted: 0, now: 0 }
    }

    async fn apply(&mut self, choice: usize, draw: &mut Draw) {
        self.now += 20;
        let (store, trial) = (self.store.clone(), self.first.trial.clone());
        let (attempt, now) = (if draw.below(4) == 0 { self.first.attempt } else { self.attempt }, at(self.now));
        let input = match choice {
            0 => {
                let lease_until = now.plus_ms(60_000);
                match store.claim_next(now, lease_until, 1).await.unwrap() {
                    Some(claim) if claim.trial.id == trial.id => {
                        self.attempt = claim.attempt;
                        TrialInput::Claimed { attempt: claim.attempt, at: now, lease_until }
                    }
                    // The pair's other trial: give its place back.
                    Some(claim) => {
                        end(&store, &claim, self.now, Verdict::Pass).await;
                        return;
                    }
                    None => return,
                }
            }
            1 => {
                let phase = PHASES[draw.below(3)];
                store.record_event(trial.evaluation, trial.id, &reached(attempt, self.now, phase)).await.unwrap();
                TrialInput::PhaseReached { attempt, phase, at: now }
            }
            2 => {
                let lease_until = now.plus_ms(30_000);
                store.renew_lease(attempt, lease_until).await.unwrap();
                TrialInput::LeaseRenewed { attempt, lease_until }
            }
            3 => {
                let wrong = Verdict::Fail { reason: FailReason::WrongResult };
                let verdict = [infra(), infra(), Verdict::Pass, wrong][draw.below(4)].clone();
                let event = ended(attempt, self.now, AttemptResult::bare(verdict.clone()));
                store.record_event(trial.evaluation, trial.id, &event).await.unwrap();
                TrialInput::Ended { attempt, verdict, at: now }
            }
            4 => {
                store.close_expired(now, &HashSet::new()).await.unwrap();
                TrialInput::LeaseChecked { at: now }
            }
            _ => {
                store.request_cancel(trial.evaluation, now).await.unwrap();
                TrialInput::CancelRequested { at: now }
            }
        };
        let allowance = Allowance { max_attempts: 3, interrupted: self.interrupted };
        if let Step::Moved(next) = self.model.step(input.clone(), allowance, WAIT) {
            self.interrupted += u32::from(matches!(input, TrialInput::LeaseChecked { .. }));
            self.model = next;
        }
    }
}

#[tokio::test]
async fn the_store_agrees_with_the_state_machine_on_any_sequence() {
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..25 {
        let mut draw = Draw::from_seed(seed);
        let mut twin = Twin::new().await;
        for turn in 0..25 {
            let choice = if draw.below(40) == 0 { 5 } else { draw.below(5) };
            twin.apply(choice, &mut draw).await;
            let row = twin.store.trial(twin.first.trial.id).await.unwrap();
            assert_eq!(row.state, twin.model, "seed {seed}, turn {turn}, input {choice}");
            let attempts = twin.store.attempts(row.id).await.unwrap();
            assert_eq!(attempts.len(), row.state.attempts() as usize, "seed {seed}: one row for each attempt");
            let open = attempts.iter().filter(|attempt| attempt.ended_at.is_none()).count();
            assert_eq!(open, usize::from(matches!(row.state, TrialState::Running { .. })), "seed {seed}");
        }
        ends.insert(twin.model.verdict().map(Verdict::word));
    }
    assert!(ends.len() >= 4, "too few kinds of ends to prove much: {ends:?}");
}

#[tokio::test]
async fn an_expired_lease_queues_the_trial_anew_until_it_was_interrupted_too_often() {
    let (store, evaluation) = one_pair().await;
    let mut kept = Vec::new();
    let most = MAX_INTERRUPTIONS + 1;
    for number in 1..=most {
        let seconds = i64::from(number) * 100;
        let got = claim(&store, seconds).await.unwrap();
        assert_eq!((got.trial.position, got.number), (0, number));
        assert!(store.close_expired(at(seconds + 60), &HashSet::new()).await.unwrap().is_empty(), "the lease holds");
        assert!(store.renew_lease(got.attempt, at(seconds + 80)).await.unwrap().is_yes());
        assert!(store.close_expired(at(seconds + 80), &HashSet::new()).await.unwrap().is_empty(), "it was renewed");
        let alive = HashSet::from([got.attempt]);
        assert!(store.close_expired(at(seconds + 81), &alive).await.unwrap().is_empty(), "its worker is seen");
        let closed = store.close_expired(at(seconds + 81), &HashSet::new()).await.unwrap();
        assert_eq!(closed.iter().map(|c| (c.attempt, c.evaluation)).collect::<Vec<_>>(), [(got.attempt, evaluation)]);
        assert!(!store.renew_lease(got.attempt, at(seconds + 99)).await.unwrap().is_yes(), "too late");
        kept.push(got);
    }
    let trial = store.trial(kept[0].trial.id).await.unwrap();
    assert_eq!(
        trial.state,
        TrialState::Finished { attempts: most, verdict: interrupted(), at: at(i64::from(most) * 100 + 81) }
    );
    let attempts = store.attempts(trial.id).await.unwrap();
    assert!(attempts.iter().all(|a| a.verdict == Some(interrupted()) && a.result.is_none()));

    // The second worker was only slow: its pass comes when the last attempt has long been decided.
    assert!(!end(&store, &kept[1], 2000, Verdict::Pass).await.is_yes());
    assert_eq!(store.trial(trial.id).await.unwrap(), trial);
    assert_eq!(store.attempt(kept[1].attempt).await.unwrap().verdict, Some(interrupted()));
}

#[tokio::test]
async fn at_the_start_every_running_attempt_is_closed_whatever_its_lease() {
    let (store, _) = one_pair().await;
    let (one, two) = (claim(&store, 1).await.unwrap(), claim(&store, 1).await.unwrap());
    let live: Vec<_> = store.live_attempts().await.unwrap().iter().map(|a| (a.attempt, a.phase)).collect();
    assert_eq!(live, [(one.attempt, Phase::Preparing), (two.attempt, Phase::Preparing)]);
    let closed = store.close_all_running(at(2)).await.unwrap();
    assert_eq!(closed.len(), 2);
    assert!(closed.iter().all(|c| c.state == TrialState::Queued { attempts: 1, not_before: None }));
    assert!(store.live_attempts().await.unwrap().is_empty());
    assert!(store.close_all_running(at(3)).await.unwrap().is_empty(), "run again it does nothing");
}

#[tokio::test]
async fn a_reward_that_is_no_share_is_refused_and_changes_nothing() {
    let (store, evaluation) = one_pair().await;
    let got = claim(&store, 1).await.unwrap();
    let report = |reward| AttemptResult { reward: Some(reward), ..AttemptResult::bare(Verdict::Pass) };
    for reward in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
        let answer = store.record_event(evaluation, got.trial.id, &ended(got.attempt, 2, report(reward))).await;
        assert!(matches!(answer, Err(StoreError::Invalid { .. })), "{reward}");
    }
    assert_eq!(store.trial(got.trial.id).await.unwrap().state, got.trial.state);
    let huge = AttemptResult {
        usage: domain::usage::TokenUsage { input: Some(u64::MAX), ..domain::usage::TokenUsage::ZERO },
        ..report(1.0)
    };
    assert!(store.record_event(evaluation, got.trial.id, &ended(got.attempt, 3, huge.clone())).await.unwrap().is_yes());
    assert_eq!(store.attempt(got.attempt).await.unwrap().result, Some(huge));
}

#[tokio::test]
async fn an_event_about_another_trial_is_not_taken() {
    let (store, evaluation) = one_pair().await;
    let (one, two) = (claim(&store, 1).await.unwrap(), claim(&store, 1).await.unwrap());
    let crossed = ended(one.attempt, 2, AttemptResult::bare(Verdict::Pass));
    assert!(!store.record_event(evaluation, two.trial.id, &crossed).await.unwrap().is_yes());
    for claim in [one, two] {
        assert_eq!(store.trial(claim.trial.id).await.unwrap(), claim.trial);
    }
    assert!(store.record_event(evaluation, domain::id::TrialId(1), &crossed).await.is_ok());
}

#[tokio::test]
async fn the_first_report_of_an_attempt_stays() {
    let (store, evaluation) = one_pair().await;
    let got = claim(&store, 1).await.unwrap();
    let report = |reward| AttemptResult { reward: Some(reward), ..AttemptResult::bare(Verdict::Pass) };
    for (seconds, reward) in [(2, 1.0), (3, 0.25)] {
        store.record_event(evaluation, got.trial.id, &ended(got.attempt, seconds, report(reward))).await.unwrap();
    }
    let attempt = store.attempt(got.attempt).await.unwrap();
    assert_eq!((attempt.result, attempt.ended_at), (Some(report(1.0)), Some(at(2))));
}

#[tokio::test]
async fn an_image_was_used_last_when_the_last_attempt_in_it_ended() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 4, 2).await;
    store.create_evaluation(&plan, at(0)).await.unwrap();
    assert_eq!(store.images_used().await.unwrap(), []);
    for (seconds, image) in
        [(5, Some("sha256:a")), (9, Some("sha256:b")), (7, Some("sha256:a")), (20, None), (6, Some("sha256:b"))]
    {
        let got = claim(&store, 1).await.unwrap();
        let result = AttemptResult { image: image.map(str::to_owned), ..AttemptResult::bare(Verdict::Pass) };
        assert!(
            store
                .record_event(got.trial.evaluation, got.trial.id, &ended(got.attempt, seconds, result))
                .await
                .unwrap()
                .is_yes()
        );
    }
    claim(&store, 30).await.unwrap();
    let mut used = store.images_used().await.unwrap();
    used.sort();
    assert_eq!(used, [("sha256:a".to_owned(), at(7)), ("sha256:b".to_owned(), at(9))]);
}
