//! Who runs what next.

use std::collections::{BTreeMap, BTreeSet};

use domain::attempt::AttemptResult;
use domain::comparison::{Baseline, Comparison};
use domain::condition::Condition;
use domain::order::{Happening, TrialEvent};
use domain::plan::{EvaluationPlan, RunSettings, SkillRef, Treatment};
use domain::spending::Spending;
use domain::trial::RetryWait;
use domain::usage::TokenUsage;
use domain::verdict::Verdict;
use store::{Among, Claimed, Store, StoreError, Wanted};

use crate::broken::change;
use crate::fixtures::{at, claim, end, ended, infra, plan, skill, task};

#[tokio::test]
async fn trials_are_claimed_in_order_up_to_the_evaluations_concurrency() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 2, 1).await;
    let old = store.create_evaluation(&plan, at(1)).await.unwrap();
    let new = store.create_evaluation(&plan, at(2)).await.unwrap();
    let mut got = Vec::new();
    while let Some(claim) = claim(&store, 3).await {
        got.push((claim.trial.evaluation, claim.trial.position));
        if got.len() == 2 {
            // Only now is the older one's first place free again.
            end(&store, &claim, 4, Verdict::Pass).await;
        }
    }
    assert_eq!(got, [(old, 0), (old, 1), (old, 2), (new, 0), (new, 1)]);
    assert_eq!(store.evaluation(old).await.unwrap().started_at, Some(at(3)));
}

#[tokio::test]
async fn the_global_limit_holds() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 2, 1).await;
    store.create_evaluation(&plan, at(1)).await.unwrap();
    assert!(store.claim_next(at(2), at(60), 0).await.unwrap().is_none());
    assert!(store.claim_next(at(2), at(60), 1).await.unwrap().is_some());
    assert!(store.claim_next(at(2), at(60), 1).await.unwrap().is_none());
}

#[tokio::test]
async fn an_evaluation_that_waits_is_passed_over() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let old = store.create_evaluation(&plan, at(1)).await.unwrap();
    let new = store.create_evaluation(&plan, at(2)).await.unwrap();
    for (only, but, want) in [
        (None, vec![old], Some(new)),
        (None, vec![old, new], None),
        (Some(new), vec![], Some(new)),
        (Some(new), vec![], None),
        (Some(old), vec![old], None),
        (None, vec![], Some(old)),
    ] {
        let claimed = store.claim_among(at(3), at(60), 9, Among { only, but: &but }).await.unwrap();
        let got = match &claimed {
            Claimed::Trial(claim) => Some(claim.trial.evaluation),
            Claimed::Unreadable { error, .. } => panic!("{error}"),
            Claimed::Nothing => None,
        };
        assert_eq!(got, want, "{only:?} {but:?}");
    }
}

#[tokio::test]
async fn an_evaluation_that_cannot_be_read_is_named_and_holds_up_no_other() {
    for broken in [
        "UPDATE evaluations SET plan = json_set(plan, '$.kind', json('{\"kind\":\"of tomorrow\"}')) WHERE id = ",
        "UPDATE trials SET condition = 'of tomorrow' WHERE position = 0 AND evaluation_id = ",
    ] {
        let store = Store::temp().await.unwrap();
        let plan = plan(&store, 1, 1).await;
        let old = store.create_evaluation(&plan, at(1)).await.unwrap();
        let new = store.create_evaluation(&plan, at(2)).await.unwrap();
        change(&store, &format!("{broken}{old}")).await;
        let first = store.claim_among(at(3), at(60), 9, Among::default()).await.unwrap();
        let Claimed::Unreadable { evaluation, error: StoreError::Unreadable { .. } } = first else {
            panic!("{first:?}")
        };
        assert_eq!(evaluation, old);
        assert_eq!(store.live_attempts().await.unwrap(), [], "no attempt is left open");
        let next = store.claim_among(at(3), at(60), 9, Among { only: None, but: &[old] }).await.unwrap();
        assert!(matches!(&next, Claimed::Trial(claim) if claim.trial.evaluation == new), "{next:?}");
    }
}

#[tokio::test]
async fn a_trial_waits_after_trouble_while_others_go_first() {
    let store = Store::temp().await.unwrap().with_retry_wait(RetryWait { first_ms: 10_000 });
    let plan = plan(&store, 1, 1).await;
    store.create_evaluation(&plan, at(1)).await.unwrap();
    let next = async |seconds| {
        let claim = claim(&store, seconds).await?;
        Some((claim.trial.position, claim.number, claim))
    };
    let (0, 1, first) = next(2).await.unwrap() else { panic!() };
    end(&store, &first, 3, infra()).await;
    let (1, 1, other) = next(4).await.unwrap() else { panic!("the other goes first") };
    end(&store, &other, 5, Verdict::Pass).await;
    assert!(next(12).await.is_none());
    assert_eq!(store.next_due(at(12)).await.unwrap(), Some(at(13)));
    let (0, 2, second) = next(13).await.unwrap() else { panic!() };
    end(&store, &second, 14, infra()).await;
    assert_eq!((next(53).await, store.next_due(at(53)).await.unwrap()), (None, Some(at(54))));
    // A clock that is put back by more than anybody waits keeps nobody waiting.
    let (0, 3, third) = next(54 - 601).await.unwrap() else { panic!() };
    store.close_all_running(at(55)).await.unwrap();
    assert_eq!(store.next_due(at(55)).await.unwrap(), None, "an interruption is no trouble of the trial's");
    let (0, 4, fourth) = next(55).await.unwrap() else { panic!() };
    assert_eq!(third.trial.id, fourth.trial.id);
    end(&store, &fourth, 56, infra()).await;
    assert_eq!(store.trial(first.trial.id).await.unwrap().state.word(), "finished", "attempts run out as ever");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn claimers_in_parallel_never_get_one_trial_twice() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 10, 5).await;
    let settings = RunSettings { concurrency: 7, ..plan.settings.clone() };
    let id = store.create_evaluation(&EvaluationPlan { settings, ..plan }, at(1)).await.unwrap();
    let claimers: Vec<_> = (0..16)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                let mut most = 0;
                while store.evaluation(id).await.unwrap().finished_at.is_none() {
                    let Some(got) = claim(&store, 2).await else {
                        tokio::task::yield_now().await;
                        continue;
                    };
                    most = most.max(store.live_attempts().await.unwrap().len());
                    assert!(end(&store, &got, 3, Verdict::Pass).await.is_yes());
                    mine.push(got);
                }
                (mine, most)
            })
        })
        .collect();
    let mut claims = Vec::new();
    for claimer in claimers {
        let (mine, most) = claimer.await.unwrap();
        assert!(most <= 7, "{most} ran at a time");
        claims.extend(mine);
    }
    assert_eq!(claims.len(), 100);
    assert_eq!(claims.iter().map(|c| c.trial.id).collect::<BTreeSet<_>>().len(), 100);
    assert_eq!(claims.iter().map(|c| c.attempt).collect::<BTreeSet<_>>().len(), 100);
    let pairs = claims.iter().fold(BTreeMap::<_, u32>::new(), |mut pairs, c| {
        *pairs.entry((c.trial.task, c.trial.repeat)).or_default() += 1;
        pairs
    });
    assert!(pairs.len() == 50 && pairs.values().all(|trials| *trials == 2));
}

#[tokio::test]
async fn an_order_holds_what_the_executor_needs() {
    let store = Store::temp().await.unwrap();
    let own = plan(&store, 1, 1).await;
    store.create_evaluation(&own, at(1)).await.unwrap();
    let got = claim(&store, 2).await.unwrap();
    let order = store.order(&got).await.unwrap();
    assert_eq!((order.trial, order.attempt, order.repeat), (got.trial.id, got.attempt, 1));
    assert_eq!((order.condition, order.evaluation), (got.trial.condition, got.trial.evaluation));
    assert_eq!(order.task, task("t0", "task 0"));
    assert_eq!((order.skills.without, order.skills.with), (vec![], vec![skill("sheep", "bundled")]));
    assert_eq!((order.agent, order.settings), (own.agent.clone(), own.settings.clone()));

    let package = skill("goats", "v1");
    let put = store.put_skill_version("ada", &package, &[], Wanted::Itself, at(3)).await.unwrap();
    let versions = vec![SkillRef { id: put.version, name: "goats".into(), version: package.version() }];
    let treated = EvaluationPlan { treatment: Treatment::Skills { versions }, ..own };
    store.request_cancel(got.trial.evaluation, at(4)).await.unwrap();
    store.create_evaluation(&treated, at(5)).await.unwrap();
    let got = claim(&store, 6).await.unwrap();
    assert_eq!(store.order(&got).await.unwrap().skills.with, [package]);
}

#[tokio::test]
async fn an_order_says_what_each_arm_holds() {
    let store = Store::temp().await.unwrap();
    let mut stored = Vec::new();
    for (name, text) in [("goats", "new"), ("goats", "old"), ("cows", "c")] {
        let package = skill(name, text);
        let put = store.put_skill_version("ada", &package, &[], Wanted::Itself, at(0)).await.unwrap();
        stored.push((SkillRef { id: put.version, name: name.into(), version: package.version() }, package));
    }
    let [(new, new_files), (old, old_files), (cows, cow_files)] = stored.as_slice() else { panic!() };
    let own = plan(&store, 1, 1).await;
    let with = Treatment::Skills { versions: vec![new.clone()] };
    let previous = Baseline::PreviousVersion { versions: vec![old.clone()] };
    let control = Baseline::Control { versions: vec![cows.clone()] };
    let bundled = skill("sheep", "bundled");
    for (treatment, baseline, distractors, want) in [
        (with.clone(), Baseline::NoSkill, vec![], [vec![], vec![new_files]]),
        (with.clone(), Baseline::NoSkill, vec![cows.clone()], [vec![cow_files], vec![new_files, cow_files]]),
        (with.clone(), previous, vec![], [vec![old_files], vec![new_files]]),
        (Treatment::TasksOwn, control, vec![], [vec![cow_files], vec![&bundled]]),
        (with, Baseline::Same, vec![], [vec![new_files], vec![new_files]]),
        (Treatment::Nothing, Baseline::Same, vec![cows.clone()], [vec![cow_files], vec![cow_files]]),
        (Treatment::Nothing, Baseline::Same, vec![], [vec![], vec![]]),
    ] {
        let plan = EvaluationPlan { treatment, comparison: Comparison { baseline, distractors }, ..own.clone() };
        let id = store.create_evaluation(&plan, at(1)).await.unwrap();
        for _ in Condition::BOTH {
            let got = claim(&store, 2).await.unwrap();
            let order = store.order(&got).await.unwrap();
            let arm = usize::from(order.condition == Condition::WithSkill);
            assert_eq!(order.placed(), want[arm], "{:?} {}", plan.comparison, order.condition);
        }
        store.request_cancel(id, at(3)).await.unwrap();
    }
}

#[tokio::test]
async fn an_order_under_a_limit_of_the_whole_evaluation_says_what_is_spent() {
    let store = Store::temp().await.unwrap();
    let mut plan = plan(&store, 2, 1).await;
    for (limit, spent) in [
        (Some(9.0), Spending { tokens: 12 + 130, money: 0.5 + 0.5, calls: 3, uncounted: 1 }),
        (None, Spending::default()),
    ] {
        plan.settings.spending.evaluation_money = limit;
        let id = store.create_evaluation(&plan, at(1)).await.unwrap();
        let usage = TokenUsage { input: Some(7), output: Some(5), ..TokenUsage::UNKNOWN };
        // One attempt tells its cost, one does not.
        for (verdict, cost) in [(infra(), Some(0.5)), (Verdict::Pass, None)] {
            let claim = claim(&store, 2).await.unwrap();
            let usage = if cost.is_some() { usage } else { TokenUsage::UNKNOWN };
            let result = AttemptResult { usage, cost, ..AttemptResult::bare(verdict) };
            let event = ended(claim.attempt, 3, result);
            assert!(store.record_event(id, claim.trial.id, &event).await.unwrap().is_yes());
        }
        // It told what it had spent, twice, and was then killed in the middle of a call.
        let killed = claim(&store, 4).await.unwrap();
        let told = [(100, 0.25, 1), (130, 0.5, 2), (130, 0.5, 3)];
        let told =
            told.map(|(tokens, money, calls)| Spending { tokens, money, calls, uncounted: u64::from(calls > 2) });
        for spent in told {
            let what = Happening::Spent { spent };
            let event = TrialEvent { attempt: killed.attempt, at: at(4), what };
            store.record_event(id, killed.trial.id, &event).await.unwrap();
        }
        assert_eq!(store.close_all_running(at(5)).await.unwrap().len(), 1);
        let kept: Vec<_> = store.attempts(killed.trial.id).await.unwrap();
        assert_eq!(
            kept.iter().map(|attempt| (&attempt.result, attempt.told)).collect::<Vec<_>>(),
            [(&None, Some(told[2]))]
        );
        let next = claim(&store, 6).await.unwrap();
        assert_eq!((next.trial.evaluation, store.order(&next).await.unwrap().spent), (id, spent));
        store.request_cancel(id, at(7)).await.unwrap();
    }
}
