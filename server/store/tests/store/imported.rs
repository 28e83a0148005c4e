//! Evaluations that others ran: kept as reported, beside own ones and never among them.

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, TrialHistory};
use domain::id::{TaskId, TrialId};
use domain::imported::{Imported, ResultFormat};
use domain::plan::{EvaluationPlan, TaskRef};
use domain::stop::{Seen, StopReason, Stopped};
use domain::trial::TrialState;
use domain::verdict::Verdict;
use store::{Store, StoreError};

use crate::fixtures::{at, claim, plan};

fn imported(source: &[u8]) -> Imported {
    Imported {
        format: ResultFormat::Harbor,
        source: "job".into(),
        hash: ContentHash::of(source),
        at: at(9),
        findings: Vec::new(),
        before: None,
    }
}

fn trial(id: i64, condition: Condition, verdict: Verdict) -> TrialHistory {
    let attempt = AttemptHistory {
        number: 1,
        started_at: None,
        ended_at: None,
        verdict: Some(verdict.clone()),
        result: Some(AttemptResult { reward: Some(1.0), ..AttemptResult::bare(verdict.clone()) }),
        told: None,
    };
    let state = TrialState::Finished { attempts: 1, verdict, at: at(1) };
    TrialHistory { id: TrialId(id), task: TaskId(-1), condition, repeat: 1, state, attempts: vec![attempt] }
}

async fn foreign_plan(store: &Store) -> EvaluationPlan {
    let own = plan(store, 1, 1).await;
    EvaluationPlan { tasks: vec![TaskRef { id: TaskId(-1), name: "t0".into(), version: ContentHash::UNKNOWN }], ..own }
}

#[tokio::test]
async fn what_others_ran_is_finished_from_its_first_instant_and_is_never_claimed() {
    let store = Store::temp().await.unwrap();
    let plan = foreign_plan(&store).await;
    let trials = [trial(-1, Condition::NoSkill, Verdict::Cancelled), trial(-2, Condition::WithSkill, Verdict::Pass)];
    let mark = imported(b"x");
    let seen = Seen { tasks: 1, rescued: 1, broken: 0, e_value: 20.5 };
    let stopped = Stopped { why: StopReason::Evidence, at: at(1), seen, told: None };
    let (id, is_new) = store.put_imported(&plan, &trials, &mark, 0, at(1), Some(stopped.clone())).await.unwrap();
    assert!(is_new);
    let row = store.evaluation(id).await.unwrap();
    assert_eq!((row.created_at, row.finished_at, row.imported), (at(1), Some(at(9)), Some(mark.clone())));
    assert_eq!(row.stopped, Some(stopped), "an early end stays known");
    assert_eq!(store.imported_trials(id).await.unwrap(), trials);
    assert_eq!(store.trials(id).await.unwrap(), [], "not among own trials");
    assert!(claim(&store, 10).await.is_none());
    assert_eq!(store.find_finished_like(&plan).await.unwrap(), None, "no own plan is answered with it");
    assert_eq!(
        store.put_imported(&plan, &[], &mark, 0, at(2), None).await.unwrap(),
        (id, false),
        "the same bytes again"
    );
    assert_eq!(store.imported_trials(id).await.unwrap().len(), 2, "and it stays as it is");
    assert!(
        store.put_imported(&plan, &trials, &mark, 1, at(2), None).await.unwrap().1,
        "another evaluation of the source"
    );
    store.delete_evaluation(id).await.unwrap();
    assert_eq!(store.imported_trials(id).await.unwrap(), []);
    assert!(
        store.put_imported(&plan, &trials, &mark, 0, at(3), None).await.unwrap().1,
        "after its removal it may come again"
    );
}

#[tokio::test]
async fn own_evaluations_bear_no_mark() {
    let (store, id) = crate::fixtures::one_pair().await;
    assert_eq!(store.evaluation(id).await.unwrap().imported, None);
    assert_eq!(store.imported_trials(id).await.unwrap(), []);
}

#[tokio::test]
async fn what_makes_no_sense_is_not_kept() {
    let store = Store::temp().await.unwrap();
    let plan = foreign_plan(&store).await;
    let mut unfinished = trial(-1, Condition::NoSkill, Verdict::Pass);
    unfinished.state = TrialState::NEW;
    let mut greedy = trial(-1, Condition::NoSkill, Verdict::Pass);
    greedy.attempts[0].result.as_mut().unwrap().reward = Some(7.0);
    let empty = EvaluationPlan { tasks: Vec::new(), ..plan.clone() };
    for (plan, trials) in [(&plan, vec![unfinished]), (&plan, vec![greedy]), (&empty, Vec::new())] {
        let refused = store.put_imported(plan, &trials, &imported(b"x"), 0, at(1), None).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(store.evaluations().await.unwrap(), []);
}
