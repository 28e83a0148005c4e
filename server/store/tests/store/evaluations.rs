//! Plans become rows, are found again, stopped and removed.

use domain::attempt::AttemptResult;
use domain::comparison::Baseline;
use domain::id::{EvaluationId, EventId, SkillVersionId, TaskId};
use domain::plan::{EvaluationPlan, SkillRef, Treatment};
use domain::stop::{Seen, StopReason, Stopped};
use domain::verdict::{InfraClass, Verdict};
use store::{Store, StoreError, TrialCounts, Wanted};

use crate::fixtures::{at, claim, end, ended, infra, plan, skill, word};

#[tokio::test]
async fn the_trials_are_the_plans_order() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 5, 3).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let trials = store.trials(id).await.unwrap();
    let got: Vec<_> = trials.iter().map(|t| (t.position, t.task, t.condition, t.repeat)).collect();
    let want: Vec<_> =
        plan.order().iter().zip(0..).map(|(s, i)| (i, plan.tasks[s.task].id, s.condition, s.repeat)).collect();
    assert_eq!(got, want);
    let row = store.evaluation(id).await.unwrap();
    assert_eq!(row.plan, plan);
    assert_eq!(store.trial_counts(id).await.unwrap(), TrialCounts { queued: 30, ..TrialCounts::default() });
    assert!(!store.is_finished(id).await.unwrap());
    assert_eq!((row.created_at, row.started_at, row.finished_at, row.cancel_requested_at), (at(1), None, None, None));
}

#[tokio::test]
async fn a_plan_that_makes_no_sense_is_refused_whole() {
    let store = Store::temp().await.unwrap();
    let good = plan(&store, 2, 1).await;
    let ghost = SkillRef { id: SkillVersionId(1), name: "ghost".into(), version: good.tasks[0].version };
    let check = async |name: &str, words: &str, change: &dyn Fn(&mut EvaluationPlan)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        let message = store.create_evaluation(&wrong, at(1)).await.unwrap_err().to_string();
        assert!(message.contains(words), "{name}: {message}");
    };
    check("no task", "no task", &|p| p.tasks.clear()).await;
    check("a task twice", "twice", &|p| p.tasks[1] = p.tasks[0].clone()).await;
    check("no repeat", "repeats", &|p| p.repeats = 0).await;
    check("no place", "at least 1", &|p| p.settings.concurrency = 0).await;
    check("no attempt", "at least 1", &|p| p.settings.max_attempts = 0).await;
    check("NaN", "time-out multiplier", &|p| p.settings.timeout_multiplier = f64::NAN).await;
    check("no skill", "no skill", &|p| p.treatment = Treatment::Skills { versions: vec![] }).await;
    check("a baseline without a skill", "its baseline has no skill", &|p| {
        p.comparison.baseline = Baseline::Control { versions: vec![] };
    })
    .await;
    check("nothing against nothing", "both arms must be the same", &|p| p.treatment = Treatment::Nothing).await;
    check("unknown task", "there is no task 4", &|p| p.tasks[1].id = TaskId(4)).await;
    check("another task's bytes", "there is no task", &|p| p.tasks[1].version = p.tasks[0].version).await;
    let unknown = Treatment::Skills { versions: vec![ghost.clone()] };
    check("unknown skill", "there is no skill version 1 ghost", &|p| p.treatment = unknown.clone()).await;
    check("unknown distractor", "there is no skill version 1 ghost", &|p| {
        p.comparison.distractors = vec![ghost.clone()];
    })
    .await;
    assert!(store.evaluations().await.unwrap().is_empty());
}

#[tokio::test]
async fn equal_plans_are_found_once_they_are_finished() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    while let Some(claim) = claim(&store, 2).await {
        assert!(store.find_finished_like(&plan).await.unwrap().is_none());
        end(&store, &claim, 3, Verdict::Pass).await;
    }
    assert_eq!(store.request_cancel(id, at(4)).await.unwrap(), None, "nothing is left to cancel");
    assert_eq!(store.evaluation(id).await.unwrap().cancel_requested_at, None);
    let retitled = EvaluationPlan { title: "Another".into(), ..plan.clone() };
    assert_eq!(store.find_finished_like(&retitled).await.unwrap().unwrap().id, id);
    let reseeded = EvaluationPlan { seed: 8, ..plan.clone() };
    assert!(store.find_finished_like(&reseeded).await.unwrap().is_none());

    let stopped = store.create_evaluation(&reseeded, at(4)).await.unwrap();
    store.request_cancel(stopped, at(5)).await.unwrap();
    assert!(store.find_finished_like(&reseeded).await.unwrap().is_none(), "a stopped one is no result");

    let ended = EvaluationPlan { seed: 9, ..plan.clone() };
    let id = store.create_evaluation(&ended, at(6)).await.unwrap();
    let claimed = claim(&store, 7).await.unwrap();
    let (why, seen) = (StopReason::ProviderDenied, Seen::NOTHING);
    let why = Stopped { why, at: at(8), seen, told: Some("denied (401)".to_owned()) };
    assert_eq!(store.stop_early(id, &why, at(8)).await.unwrap(), 1);
    let denied = Verdict::InfraError { class: InfraClass::ProviderDenied, message: "denied (401)".to_owned() };
    end(&store, &claimed, 9, denied.clone()).await;
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.stopped, row.finished_at), (Some(why), Some(at(9))), "no attempt is made again");
    let verdicts: Vec<_> = store.verdicts(id).await.unwrap().into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, [Verdict::Cancelled, denied]);
    assert!(store.find_finished_like(&ended).await.unwrap().is_none(), "one that was denied its model is no result");
}

#[tokio::test]
async fn a_cancel_ends_everything_at_once_and_keeps_late_evidence() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 2, 1).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let done = claim(&store, 2).await.unwrap();
    end(&store, &done, 3, Verdict::Pass).await;
    let running = claim(&store, 4).await.unwrap();

    assert_eq!(store.request_cancel(id, at(5)).await.unwrap(), Some(vec![running.attempt]));
    assert_eq!(store.request_cancel(id, at(6)).await.unwrap(), Some(vec![]), "asked again");
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.cancel_requested_at, row.finished_at), (Some(at(5)), Some(at(5))));
    assert_eq!(store.trial_counts(id).await.unwrap(), TrialCounts { finished: 4, ..TrialCounts::default() });
    assert!(store.is_finished(id).await.unwrap());
    assert!(claim(&store, 7).await.is_none());
    assert!(store.live_attempts().await.unwrap().is_empty());

    let spent = AttemptResult {
        usage: domain::usage::TokenUsage { input: Some(9), ..Default::default() },
        ..AttemptResult::bare(Verdict::Pass)
    };
    let late = ended(running.attempt, 8, spent);
    assert!(!store.record_event(id, running.trial.id, &late).await.unwrap().is_yes());
    let attempt = store.attempt(running.attempt).await.unwrap();
    assert_eq!((attempt.verdict.clone(), attempt.ended_at), (Some(Verdict::Cancelled), Some(at(5))));
    let result = attempt.result.unwrap();
    assert_eq!((result.verdict, result.usage.input, result.usage.output), (Verdict::Cancelled, Some(9), None));
    assert!(matches!(store.request_cancel(EvaluationId(1), at(9)).await, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn a_removed_evaluation_leaves_no_row_behind() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let (kept, id) =
        (store.create_evaluation(&plan, at(1)).await.unwrap(), store.create_evaluation(&plan, at(1)).await.unwrap());
    store.request_cancel(kept, at(2)).await.unwrap();
    let running = claim(&store, 3).await.unwrap();
    assert_eq!(running.trial.evaluation, id);
    let message = store.delete_evaluation(id).await.unwrap_err().to_string();
    assert!(message.contains("stop it first"), "{message}");

    store.request_cancel(id, at(4)).await.unwrap();
    store.delete_evaluation(id).await.unwrap();
    assert!(store.trials(id).await.unwrap().is_empty());
    assert!(matches!(store.attempt(running.attempt).await, Err(StoreError::NotFound { .. })));
    assert!(!end(&store, &running, 5, Verdict::Pass).await.is_yes(), "a report about a removed attempt is no error");
    assert_eq!(store.trials(kept).await.unwrap().len(), 2);
    assert!(matches!(store.delete_evaluation(id).await, Err(StoreError::NotFound { .. })));
    assert_eq!(store.counts().await.unwrap().evaluations, 1);
    assert!(store.events_after(id, EventId(0), 9).await.unwrap().is_empty());
    assert_eq!(store.events_after(kept, EventId(0), 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn evaluations_are_listed_by_skill_and_by_campaign() {
    let store = Store::temp().await.unwrap();
    let package = skill("sheep", "v1");
    let put = store.put_skill_version("ada", &package, &[], Wanted::Itself, at(1)).await.unwrap();
    let own = plan(&store, 1, 1).await;
    let versions = vec![SkillRef { id: put.version, name: "sheep".into(), version: package.version() }];
    let treated = EvaluationPlan { treatment: Treatment::Skills { versions }, ..own.clone() };
    let first = store.create_evaluation(&own, at(2)).await.unwrap();
    let second = store.create_evaluation(&treated, at(3)).await.unwrap();
    let ids = |rows: Vec<store::EvaluationRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(store.evaluations().await.unwrap()), [second, first]);
    assert_eq!(ids(store.evaluations_of_skill(put.skill).await.unwrap()), [second]);
    assert_eq!(store.skill(put.skill).await.unwrap().evaluations, 1);

    let campaign = store.create_campaign("Both", at(4)).await.unwrap();
    store.set_campaign(first, Some(campaign)).await.unwrap();
    store.set_campaign(second, Some(campaign)).await.unwrap();
    assert_eq!(ids(store.evaluations_of_campaign(campaign).await.unwrap()), [first, second]);
    store.set_campaign(first, None).await.unwrap();
    assert_eq!(store.campaigns().await.unwrap()[0].evaluations, 1);
    assert!(store.set_campaign(EvaluationId(1), None).await.is_err());
}

#[tokio::test]
async fn results_pair_each_trial_with_its_last_attempt() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let first = claim(&store, 2).await.unwrap();
    end(&store, &first, 3, crate::fixtures::infra()).await;
    let second = claim(&store, 4).await.unwrap();
    assert_eq!((second.trial.id, second.number), (first.trial.id, 2), "a trial that is tried again is first in line");
    end(&store, &second, 5, Verdict::Pass).await;
    let results = store.results(id).await.unwrap();
    let got: Vec<_> = results.iter().map(|(t, a)| (t.position, a.as_ref().map(|a| a.id))).collect();
    assert_eq!(got, [(0, Some(second.attempt)), (1, None)]);
    assert_eq!(results[0].1.as_ref().unwrap().result, Some(AttemptResult::bare(Verdict::Pass)));
    let attempts: Vec<_> = store.attempts(first.trial.id).await.unwrap().iter().map(|a| (a.number, a.id)).collect();
    assert_eq!(attempts, [(1, first.attempt), (2, second.attempt)]);
    assert_eq!(word(&store, first.trial.id).await, "finished");
}

#[tokio::test]
async fn an_early_end_cancels_what_waits_and_lets_finish_what_runs() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 3, 1).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let running = claim(&store, 2).await.unwrap();
    let seen = Seen { tasks: 0, rescued: 0, broken: 0, e_value: 1.0 };
    let why = Stopped { why: StopReason::Futility, at: at(3), seen, told: None };
    assert_eq!(store.stop_early(id, &why, at(3)).await.unwrap(), 5);
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.stopped, row.finished_at), (Some(why.clone()), None));
    let counts = store.trial_counts(id).await.unwrap();
    assert_eq!(counts, TrialCounts { queued: 0, running: 1, finished: 5 });
    assert_eq!(store.claim_next(at(4), at(64), 9).await.unwrap(), None);

    // The one that ran comes back after trouble: it is cancelled as well, and the first reason stays.
    end(&store, &running, 5, infra()).await;
    assert_eq!(store.trial_counts(id).await.unwrap().queued, 1);
    let later = Stopped { why: StopReason::Evidence, at: at(6), seen, told: None };
    assert_eq!(store.stop_early(id, &later, at(6)).await.unwrap(), 1);
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.stopped, row.finished_at, row.cancel_requested_at), (Some(why.clone()), Some(at(6)), None));
    assert!(matches!(store.stop_early(EvaluationId(99), &why, at(6)).await, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn where_nothing_waits_nothing_is_ended_early() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 1, 1).await;
    let id = store.create_evaluation(&plan, at(1)).await.unwrap();
    let running = [claim(&store, 2).await.unwrap(), claim(&store, 2).await.unwrap()];
    let seen = Seen { tasks: 1, rescued: 1, broken: 0, e_value: 1.0 };
    let why = Stopped { why: StopReason::Futility, at: at(3), seen, told: None };
    assert_eq!(store.stop_early(id, &why, at(3)).await.unwrap(), 0);
    for claim in running {
        end(&store, &claim, 4, Verdict::Pass).await;
    }
    assert_eq!(store.stop_early(id, &why, at(5)).await.unwrap(), 0);
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.stopped, row.finished_at, row.cancel_requested_at), (None, Some(at(4)), None));
}
