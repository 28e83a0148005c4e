//! The migrations on a fresh file, the rules of `migrations/README.md`, and the data folder's lock.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Row};
use store::{DataDir, Store, StoreError, Wanted};

use crate::fixtures::{at, one_pair, skill, task};

async fn look(dir: &DataDir) -> SqliteConnection {
    SqliteConnectOptions::new().filename(dir.database()).foreign_keys(true).connect().await.unwrap()
}

#[tokio::test]
async fn every_table_keeps_the_rules() {
    let store = Store::temp().await.unwrap();
    let mut db = look(store.dir()).await;
    let tables = sqlx::query(
        "SELECT name, strict, sql FROM pragma_table_list JOIN sqlite_schema USING (name) \
         WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%'",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    assert!(tables.len() >= 10, "{} tables", tables.len());
    for table in tables {
        let (name, sql): (String, String) = (table.get("name"), table.get("sql"));
        assert!(table.get::<bool, _>("strict"), "{name} is not STRICT");
        let keyed = sql.contains("AUTOINCREMENT") || sql.contains("WITHOUT ROWID");
        assert!(keyed, "ids of {name} may be used twice");
    }
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut db).await.unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn references_that_are_removed_by_cascade_have_an_index() {
    let store = Store::temp().await.unwrap();
    let mut db = look(store.dir()).await;
    let bare: Vec<(String, String)> = sqlx::query_as(
        "SELECT t.name, f.\"from\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f \
         WHERE t.type = 'table' AND f.\"table\" IN ('evaluations', 'trials', 'attempts', 'skills') \
         AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) i, pragma_index_info(i.name) c \
             WHERE c.seqno = 0 AND c.name = f.\"from\")",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    assert_eq!(bare, []);
}

#[tokio::test]
async fn a_second_start_finds_everything_again() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path().join("data")).unwrap();
    let store = Store::open(&dir).await.unwrap();
    let put = store.put_skill_version("ada", &skill("sheep", "v1"), &[], Wanted::Itself, at(1)).await.unwrap();
    store.close().await;
    assert!(matches!(store.skills().await, Err(StoreError::Closed)));
    let store = Store::open(&dir).await.unwrap();
    assert_eq!(store.skill(put.skill).await.unwrap().latest.id, put.version);
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    Store::open(&dir).await.unwrap().close().await;
    let mut db = look(&dir).await;
    sqlx::query("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', 1, x'00', 0)")
        .execute(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();
    let error = Store::examine(&dir).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerDatabase { version: 9999 }), "{error}");
    let error = Store::open(&dir).await.err().unwrap();
    assert!(matches!(error, StoreError::NewerDatabase { version: 9999 }), "{error}");
}

#[tokio::test]
async fn a_damaged_database_is_told_without_touching_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    Store::examine(&dir).await.unwrap();
    assert!(!dir.database().exists(), "made by looking at it");
    Store::open(&dir).await.unwrap().close().await;
    Store::examine(&dir).await.unwrap();
    let whole = std::fs::read(dir.database()).unwrap();
    // A page of SQLite has 4096 bytes here; the second is one of a table.
    for (what, damaged) in [
        ("no database", b"not a database at all".repeat(500)),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("a page overwritten", [&whole[..4096], &[0x5a; 4096], &whole[8192..]].concat()),
    ] {
        std::fs::write(dir.database(), &damaged).unwrap();
        let error = Store::examine(&dir).await.unwrap_err();
        assert!(matches!(error, StoreError::DatabaseDamaged { .. }), "{what}: {error:?}");
        assert!(error.to_string().contains("restore a copy"), "{what}: {error}");
        assert_eq!(std::fs::read(dir.database()).unwrap(), damaged, "{what}");
    }
}

#[test]
fn a_data_folder_has_one_owner_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/data");
    let first = DataDir::open(&path).unwrap();
    let second = first.clone();
    let message = DataDir::open(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("in use by process {}", std::process::id())), "{message}");
    assert!(message.contains("deep/data") && !message.contains("pages"), "{message}");
    first.is_served_at("http://127.0.0.1:3000").unwrap();
    let message = DataDir::open(&path).unwrap_err().to_string();
    let serves = format!("in use by process {}, which serves http://127.0.0.1:3000: ", std::process::id());
    assert!(message.contains(&serves) && message.contains("use its pages, stop that process or"), "{message}");
    drop(first);
    assert!(DataDir::open(&path).is_err(), "a clone still owns it");
    drop(second);
    assert!(DataDir::open(&path).is_ok());
}

#[tokio::test]
async fn ids_of_different_nouns_never_coincide_in_tests() {
    let (store, evaluation) = one_pair().await;
    let put = store.put_skill_version("ada", &skill("sheep", "v1"), &[], Wanted::Itself, at(1)).await.unwrap();
    let (task, _) = store.put_task(&task("t", "t"), &[], "tests", at(1)).await.unwrap();
    let claim = crate::fixtures::claim(&store, 1).await.unwrap();
    let mut ids = vec![put.skill.0, put.version.0, task.0, evaluation.0, claim.trial.id.0, claim.attempt.0]
        .into_iter()
        .map(|id| id / 10_000)
        .collect::<Vec<_>>();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn the_schema_itself_refuses_a_state_with_the_wrong_data() {
    let (store, _) = one_pair().await;
    let mut db = look(store.dir()).await;
    for wrong in [
        "UPDATE trials SET state = 'running'",
        "UPDATE trials SET state = 'agent'",
        "UPDATE trials SET state = 'finished'",
        "UPDATE trials SET lease_until = 5",
        "UPDATE trials SET state = 'finished', verdict = '{\"verdict\":\"pass\"}', finished_at = 5, not_before = 5",
        "UPDATE trials SET verdict = '{\"verdict\":\"pass\"}'",
        "INSERT INTO attempts (trial_id, number, started_at) VALUES (1, 1, 0)",
        "INSERT INTO attempts (trial_id, number, started_at, ended_at) SELECT min(id), 1, 0, 1 FROM trials",
        "INSERT INTO attempts (trial_id, number, started_at, reward) SELECT min(id), 1, 0, 1.5 FROM trials",
    ] {
        assert!(sqlx::query(wrong).execute(&mut db).await.is_err(), "{wrong}");
    }
}
