//! A row that this program cannot read, as a newer one may leave it behind, is an error where it is asked for, and hides no other.

use domain::id::EvaluationId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use store::{EvaluationRow, Store, StoreError, Wanted};

use crate::fixtures::{at, plan, skill};

pub async fn change(store: &Store, sql: &str) {
    let mut db = SqliteConnectOptions::new().filename(store.dir().database()).connect().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
}

fn ids(rows: Vec<EvaluationRow>) -> Vec<EvaluationId> {
    rows.into_iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn lists_leave_out_what_cannot_be_read() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, 3, 1).await;
    let [first, broken, last] = [
        store.create_evaluation(&plan, at(1)).await.unwrap(),
        store.create_evaluation(&plan, at(2)).await.unwrap(),
        store.create_evaluation(&plan, at(3)).await.unwrap(),
    ];
    change(&store, &format!("UPDATE evaluations SET plan = '{{\"title\":\"of tomorrow\"}}' WHERE id = {broken}")).await;
    change(&store, "UPDATE tasks SET findings = '[{}]' WHERE name = 't1'").await;
    for name in ["sheep", "goats"] {
        store.put_skill_version("ada", &skill(name, name), &[], Wanted::Itself, at(1)).await.unwrap();
    }
    change(
        &store,
        "UPDATE skill_versions SET manifest = '{}' WHERE skill_id = (SELECT id FROM skills WHERE name = 'goats')",
    )
    .await;

    let unreadable = store.evaluation(broken).await.unwrap_err();
    assert!(matches!(unreadable, StoreError::Unreadable { column: "evaluations.plan", .. }), "{unreadable}");
    assert_eq!(ids(store.evaluations().await.unwrap()), [last, first]);
    assert_eq!(ids(store.evaluations_after(0, 2).await.unwrap()), [last], "of the two newest");
    assert_eq!(ids(store.open_evaluations().await.unwrap()), [first, last]);
    let tasks: Vec<_> = store.tasks().await.unwrap().into_iter().map(|task| task.name).collect();
    assert_eq!(tasks, ["t0", "t2"]);
    let skills: Vec<_> = store.skills().await.unwrap().into_iter().map(|skill| skill.name).collect();
    assert_eq!(skills, ["sheep"]);
}
