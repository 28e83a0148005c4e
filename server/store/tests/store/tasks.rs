//! Tasks and task sets.

use domain::finding::Finding;
use domain::id::{TaskId, TaskSetId};
use store::{Store, StoreError};

use crate::fixtures::{at, task};

#[tokio::test]
async fn a_task_is_one_row_for_each_name_and_bytes() {
    let store = Store::temp().await.unwrap();
    let first = task("count", "v1");
    let (id, new) = store.put_task(&first, &[], "examples/count", at(1)).await.unwrap();
    assert!(new);
    let finding = Finding::note("gpu", "task.toml", "asks for none");
    let (again, new) = store.put_task(&first, std::slice::from_ref(&finding), "elsewhere", at(2)).await.unwrap();
    assert_eq!((again, new), (id, false));
    let row = store.task(id).await.unwrap();
    assert_eq!((row.task, row.hash, row.source.as_str()), (first.clone(), first.version(), "elsewhere"));
    assert_eq!((row.findings, row.created_at), (vec![finding], at(1)));

    assert!(store.put_task(&task("count", "v2"), &[], "x", at(3)).await.unwrap().1, "other bytes");
    assert!(store.put_task(&task("tally", "v1"), &[], "x", at(3)).await.unwrap().1, "another name");
    let names: Vec<_> = store.tasks().await.unwrap().into_iter().map(|t| (t.name, t.metadata.tags)).collect();
    let tags = || vec!["sheep".to_owned()];
    assert_eq!(names, [("count".into(), tags()), ("count".into(), tags()), ("tally".into(), tags())]);
}

#[tokio::test]
async fn numbers_that_are_none_are_refused() {
    let store = Store::temp().await.unwrap();
    for (cpus, pass_mark) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, 1.5), (-1.0, 1.0)] {
        let mut wrong = task("t", "t");
        wrong.environment.cpus = cpus;
        wrong.verifier.pass_mark = pass_mark;
        let answer = store.put_task(&wrong, &[], "x", at(1)).await;
        assert!(matches!(answer, Err(StoreError::Invalid { .. })), "{cpus} {pass_mark}");
    }
    assert!(store.tasks().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_task_set_keeps_its_order_and_can_be_replaced() {
    let store = Store::temp().await.unwrap();
    let mut ids = Vec::new();
    for name in ["c", "a", "b"] {
        ids.push(store.put_task(&task(name, name), &[], "x", at(1)).await.unwrap().0);
    }
    let set = store.put_task_set("mine", &[ids[2], ids[0], ids[2], ids[1]], at(2)).await.unwrap();
    let members = |rows: Vec<store::TaskSummary>| rows.into_iter().map(|task| task.name).collect::<Vec<_>>();
    assert_eq!(members(store.task_set_members(set).await.unwrap()), ["b", "c", "a"]);

    assert_eq!(store.put_task_set("mine", &ids[..1], at(3)).await.unwrap(), set);
    assert_eq!(members(store.task_set_members(set).await.unwrap()), ["c"]);
    let row = store.task_set(set).await.unwrap();
    assert_eq!((row.name.as_str(), row.tasks, row.created_at), ("mine", 1, at(2)));

    let error = store.put_task_set("mine", &[ids[0], TaskId(3)], at(4)).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no task 3");
    assert_eq!(store.task_sets().await.unwrap()[0].tasks, 1, "a refused change changes nothing");
    assert!(matches!(store.task_set(TaskSetId(1)).await, Err(StoreError::NotFound { .. })));
}
