//! The page of one pair: it reads its own trials whole, of all others what decides their order, and does without a file that is lost.

use domain::attempt::{AttemptResult, BlobRef};
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::listing::TraceView;
use domain::order::Happening;
use domain::report::matrix::View;
use domain::report::{TrialReport, index, tasks_of};
use domain::verdict::Verdict;
use ops::OpsError;

use crate::rig::Rig;

#[tokio::test]
async fn a_patch_is_that_of_a_trials_last_attempt() {
    let mut rig = Rig::new().await;
    rig.store().blobs().put(b"diff".to_vec()).await.unwrap();
    let plan = rig.plan(0..6, 2).await;
    let (id, other) = (rig.evaluated(&plan).await, rig.planned(&plan).await);
    let records = rig.store().records(&rig.store().evaluation(id).await.unwrap()).await.unwrap();
    let mut found = Vec::new();
    for record in records {
        let want = record.result.and_then(|result| result.patch?.file).map(|_| b"diff".to_vec());
        assert_eq!(rig.ops.patch(id, record.id).await.ok(), want);
        assert!(matches!(rig.ops.patch(other, record.id).await, Err(OpsError::NotFound { .. })));
        found.push(want.is_some());
    }
    assert!(found.contains(&true) && found.contains(&false));
}

#[tokio::test]
async fn a_pair_stands_where_whole_results_put_it() {
    let mut rig = Rig::new().await;
    let plan = rig.plan(0..8, 3).await;
    let id = rig.planned(&plan).await;
    rig.run(4).await;
    let records = rig.store().records(&rig.store().evaluation(id).await.unwrap()).await.unwrap();
    let tasks = tasks_of(&plan, &index(&records));
    let labels = rig.store().task_labels(&plan.tasks.iter().map(|task| task.id).collect::<Vec<_>>()).await.unwrap();
    let groups = labels.iter().filter_map(|(task, labels)| Some((*task, labels.group()?.to_owned()))).collect();
    let mut sizes = Vec::new();
    for query in ["", "?sort=tokens", "?sort=harm&group=yes", "?flip=rescued&sort=tokens", "?flip=incomplete"] {
        let view = View::from_query(query);
        let order = view.pairs(&tasks, &groups);
        sizes.push(order.len());
        for (place, (task, repeat)) in order.iter().enumerate() {
            let pair = rig.ops.pair(id, *task, *repeat, view, TraceView::default()).await.unwrap();
            assert_eq!((pair.place, pair.of), (Some(place + 1), order.len()), "{query}");
            let before = place.checked_sub(1).map(|before| order[before]);
            assert_eq!((pair.previous, pair.next), (before, order.get(place + 1).copied()), "{query}");
            for (arm, condition) in [(pair.arms.without, Condition::NoSkill), (pair.arms.with, Condition::WithSkill)] {
                let of_arm = |one: &&domain::report::TrialRecord| {
                    (one.task_id, one.repeat, one.condition) == (*task, *repeat, condition)
                };
                let record = records.iter().find(of_arm).unwrap();
                let arm = arm.unwrap();
                assert_eq!((arm.trial, arm.result), (TrialReport::from(record), record.result.clone()), "{query}");
            }
        }
    }
    assert!(sizes[0] == 24 && sizes[1] == 24 && sizes[3] > 0 && sizes[4] > 0, "{sizes:?}");
}

#[tokio::test]
async fn a_lost_file_hides_nothing_else_of_its_pair() {
    let rig = Rig::new().await;
    let plan = rig.plan(0..1, 1).await;
    let id = rig.planned(&plan).await;
    let kept = rig.store().blobs().put(b"what the verifier said".to_vec()).await.unwrap();
    let lost = Some(BlobRef { hash: ContentHash::of(b"lost"), size: 4 });
    while let Some(claim) = rig.claim().await {
        let result = AttemptResult {
            trace: lost,
            calls: lost,
            agent_log: lost,
            verifier_log: Some(kept),
            ..AttemptResult::bare(Verdict::Pass)
        };
        rig.tell(&claim, Happening::Ended { result: Box::new(result) }).await;
    }
    let pair = rig.ops.pair(id, plan.tasks[0].id, 1, View::default(), TraceView::default()).await.unwrap();
    let arm = pair.arms.with.unwrap();
    assert_eq!((arm.trial.verdict.as_deref(), arm.trace, arm.calls), (Some("pass"), None, None));
    assert_eq!(arm.verifier_log, "what the verifier said");
    assert!(arm.agent_log.contains("not in the data folder"), "{}", arm.agent_log);
}
