//! The leaderboard over a real file: what is pooled into one row, what stays out, and that rows are a cache.

use domain::analysis::rank::Unranked;
use domain::attempt::AttemptResult;
use domain::comparison::{Baseline, Comparison};
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::id::{EvaluationId, SnapshotId};
use domain::leaderboard::{Attestation, LeaderboardPage, LeaderboardQuery, LeaderboardRow};
use domain::network::NetworkChoice;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillRef, Treatment};
use domain::task::NetworkPolicy;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, Verdict};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use store::{DataDir, Store, StoreError, Wanted};

use crate::broken::change;
use crate::fixtures::{at, claim, ended, infra, plan, skill};

/// A plan for a skill of that name in the store.
async fn skilled(store: &Store, name: &str, tasks: usize) -> EvaluationPlan {
    let package = skill(name, name);
    let put = store.put_skill_version("ada", &package, &[], Wanted::Itself, at(0)).await.unwrap();
    let version = SkillRef { id: put.version, name: name.to_owned(), version: package.version() };
    let model = ModelRef { name: "large".into(), upstream: "u".into(), scripted: false };
    EvaluationPlan {
        treatment: Treatment::Skills { versions: vec![version] },
        agent: AgentRef::new("bash", "1"),
        model: Some(model),
        ..plan(store, tasks, 1).await
    }
}

/// Runs all that is queued: with the skill every task passes, without it none; each trial takes 100 tokens, 150 with the skill.
async fn run(store: &Store) {
    while let Some(claim) = claim(store, 1).await {
        let with = claim.trial.condition == Condition::WithSkill;
        let verdict = if with { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
        let output = Some(if with { 150 } else { 100 });
        let usage = TokenUsage { output, ..TokenUsage::ZERO };
        let result = AttemptResult { usage, ..AttemptResult::bare(verdict) };
        let event = ended(claim.attempt, 2, result);
        assert!(store.record_event(claim.trial.evaluation, claim.trial.id, &event).await.unwrap().is_yes());
    }
}

async fn evaluated(store: &Store, plan: &EvaluationPlan) -> EvaluationId {
    let id = store.create_evaluation(plan, at(0)).await.unwrap();
    run(store).await;
    id
}

async fn view(store: &Store, query: &str) -> LeaderboardPage {
    store.leaderboard().await.unwrap().page(&LeaderboardQuery::parse(query), 0)
}

async fn only(store: &Store) -> LeaderboardRow {
    let page = view(store, "").await;
    assert_eq!(page.rows.len(), 1, "{:?}", page.rows);
    page.rows.into_iter().next().unwrap()
}

#[tokio::test]
async fn finished_evaluations_of_one_key_are_one_row_and_running_ones_wait() {
    let store = Store::temp().await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    assert_eq!(view(&store, "").await.all, 0);
    let first = evaluated(&store, &plan).await;
    let row = only(&store).await;
    assert_eq!((row.record.evaluations.as_slice(), row.record.measured.pairs), ([first].as_slice(), 6));
    assert_eq!(row.record.measured.delta, Some(1.0));
    assert_eq!((row.says().word(), row.standing.tier), ("improves", Some(1)));
    assert_eq!(row.record.measured.tokens_per_solve, Some(150.0));
    assert_eq!((row.record.author().as_deref(), row.record.actor().as_str()), (Some("ada"), "bash 1 · large"));

    let again = EvaluationPlan { seed: 8, ..plan.clone() };
    let second = store.create_evaluation(&again, at(5)).await.unwrap();
    assert_eq!(only(&store).await.record.evaluations, [first], "a running one is not in it");
    run(&store).await;
    let row = only(&store).await;
    assert_eq!((row.record.evaluations, row.record.measured.pairs), (vec![first, second], 12));
    assert_eq!(row.record.measured.tasks, 6, "repeats, not tasks");
}

#[tokio::test]
async fn a_row_counts_what_could_not_be_scored_and_a_cancelled_evaluation_stays_in() {
    let store = Store::temp().await.unwrap();
    let mut plan = skilled(&store, "sheep", 2).await;
    plan.settings.max_attempts = 1;
    let id = store.create_evaluation(&plan, at(0)).await.unwrap();
    let lost = claim(&store, 1).await.unwrap();
    let event = ended(lost.attempt, 2, AttemptResult::bare(infra()));
    store.record_event(id, lost.trial.id, &event).await.unwrap();
    store.request_cancel(id, at(3)).await.unwrap();
    let row = only(&store).await;
    assert_eq!((row.record.measured.trials, row.record.measured.trials_not_scored), (1, 1));
    assert_eq!((row.says().word(), row.record.measured.pairs_incomplete), ("no_result", 2));
    assert!(row.record.unranked.is_some());
}

#[tokio::test]
async fn keys_that_differ_are_rows_of_their_own() {
    let store = Store::temp().await.unwrap();
    let plan = skilled(&store, "sheep", 9).await;
    let model = |name: &str, scripted| Some(ModelRef { name: name.into(), upstream: "u".into(), scripted });
    let part = EvaluationPlan { tasks: plan.tasks[..5].to_vec(), ..plan.clone() };
    for other in [
        plan.clone(),
        EvaluationPlan { model: model("small", false), ..plan.clone() },
        EvaluationPlan { model: model("large", true), ..plan.clone() },
        EvaluationPlan { agent: AgentRef::new("oracle", "1"), model: None, ..plan.clone() },
        part.clone(),
        EvaluationPlan { task_set: Some("flock".into()), ..part },
        EvaluationPlan { treatment: Treatment::TasksOwn, ..plan.clone() },
        skilled(&store, "goats", 9).await,
    ] {
        evaluated(&store, &other).await;
    }
    let page = view(&store, "sort=skill").await;
    assert_eq!(page.all, 8);
    for (query, rows) in [
        ("q=sheep", 6),
        ("q=task's+own", 1),
        ("model=small", 1),
        ("set=flock", 1),
        ("n=9", 6),
        ("resolvable=1", 6),
        ("verdict=improves", 6),
        ("sort=-rho", 8),
    ] {
        assert_eq!(view(&store, query).await.matching, rows, "{query}");
    }
    for (attestation, why) in
        [(Attestation::Scripted, Unranked::Scripted), (Attestation::NoCodingAgent, Unranked::NoCodingAgent)]
    {
        let marked = page.rows.iter().find(|row| row.record.attestation == attestation).unwrap();
        assert_eq!((marked.standing.tier, marked.standing.p_holm), (None, None), "{attestation:?}");
        assert_eq!((marked.record.unranked, marked.is_settled()), (Some(why), false), "{attestation:?}");
    }
    let goats = page.rows.iter().find(|row| row.record.skill_names() == "goats").unwrap();
    assert_eq!(goats.standing.family_size, 3, "sheep, goats and the tasks' own on the same tasks with the same model");
}

#[tokio::test]
async fn what_compares_something_else_or_changes_the_tasks_is_in_no_row() {
    let store = Store::temp().await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    let Treatment::Skills { versions } = plan.treatment.clone() else { panic!("{plan:?}") };
    for (treatment, baseline) in [
        (plan.treatment.clone(), Baseline::Same),
        (Treatment::Nothing, Baseline::Same),
        (plan.treatment.clone(), Baseline::PreviousVersion { versions: versions.clone() }),
        (plan.treatment.clone(), Baseline::Control { versions }),
    ] {
        let comparison = Comparison { baseline, ..Comparison::default() };
        evaluated(&store, &EvaluationPlan { treatment, comparison, ..plan.clone() }).await;
    }
    let network = NetworkChoice { agent: Some(NetworkPolicy::Public), verifier: None };
    let given = plan.settings.clone();
    for settings in [
        RunSettings { network, ..given.clone() },
        RunSettings { timeout_multiplier: 2.0, ..given.clone() },
        RunSettings { agent_seconds: Some(60), ..given.clone() },
        RunSettings { verifier_seconds: Some(60), ..given },
    ] {
        evaluated(&store, &EvaluationPlan { settings, ..plan.clone() }).await;
    }
    assert_eq!((view(&store, "").await.all, store.leaderboard_so_far().await.unwrap().1), (0, 0));
    evaluated(&store, &plan).await;
    assert_eq!(only(&store).await.record.measured.pairs, 6);
}

macro_rules! undo_13 {
    ($before:literal) => {
        concat!(
            $before,
            "DROP INDEX evaluations_by_actor; ALTER TABLE evaluations DROP COLUMN agent; \
             ALTER TABLE evaluations DROP COLUMN model; ALTER TABLE evaluations DROP COLUMN scripted; \
             DROP INDEX attempts_by_image; DROP INDEX attempts_interrupted; DROP INDEX attempts_unlisted; \
             ALTER TABLE attempts DROP COLUMN image; \
             ALTER TABLE leaderboard_members DROP COLUMN form; DELETE FROM _sqlx_migrations WHERE version = 13"
        )
    };
}

#[tokio::test]
async fn rows_are_a_cache_that_outlives_the_program_and_is_made_anew_where_it_must_be() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    let store = Store::open(&dir).await.unwrap();
    evaluated(&store, &skilled(&store, "sheep", 6).await).await;
    let made = only(&store).await;
    store.close().await;
    for damage in [
        "SELECT 1",
        "UPDATE leaderboard_rows SET form = 0, record = '{}'",
        "DELETE FROM leaderboard_members",
        "DELETE FROM leaderboard_rows; DELETE FROM leaderboard_members",
        "UPDATE leaderboard_members SET form = 1",
        // What an older rule left out.
        "UPDATE leaderboard_members SET form = 1, pool_key = NULL; DELETE FROM leaderboard_rows",
        // As the programs before migration 13 left it: an evaluation in a row, and one in none.
        undo_13!(""),
        undo_13!("UPDATE leaderboard_members SET pool_key = NULL; DELETE FROM leaderboard_rows;"),
    ] {
        let mut db = SqliteConnectOptions::new().filename(dir.database()).connect().await.unwrap();
        sqlx::raw_sql(damage).execute(&mut db).await.unwrap();
        db.close().await.unwrap();
        let store = Store::open(&dir).await.unwrap();
        assert_eq!(only(&store).await, made, "{damage}");
        store.close().await;
    }
}

#[tokio::test]
async fn an_upgrade_does_not_pool_anew_what_is_in_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    let store = Store::open(&dir).await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    evaluated(&store, &plan).await;
    let left_out = Comparison { baseline: Baseline::Same, ..Comparison::default() };
    evaluated(&store, &EvaluationPlan { comparison: left_out, ..plan }).await;
    assert_eq!((view(&store, "").await.all, store.leaderboard_so_far().await.unwrap().1), (1, 0));
    store.close().await;
    let mut db = SqliteConnectOptions::new().filename(dir.database()).connect().await.unwrap();
    sqlx::raw_sql(undo_13!("")).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
    let store = Store::open(&dir).await.unwrap();
    assert_eq!(
        store.leaderboard_so_far().await.unwrap().1,
        1,
        "of the one that is in none it is not known by which form"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_in_no_row_and_keeps_nothing_else_out_until_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    let store = Store::open(&dir).await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    let [good, odd_plan, odd_attempt] = [
        evaluated(&store, &plan).await,
        evaluated(&store, &EvaluationPlan { seed: 8, ..plan.clone() }).await,
        evaluated(&store, &EvaluationPlan { seed: 9, ..plan.clone() }).await,
    ];
    let alone = evaluated(&store, &skilled(&store, "goats", 6).await).await;
    let whole = view(&store, "sort=skill").await;
    assert_eq!(whole.rows.iter().map(|row| row.record.evaluations.len()).collect::<Vec<_>>(), [1, 3]);
    // Swapped with what a newer program may have written, and back.
    let of = |id: EvaluationId| format!("trial_id IN (SELECT id FROM trials WHERE evaluation_id = {id})");
    let keep = format!(
        "CREATE TABLE kept_plans AS SELECT id, plan FROM evaluations; CREATE TABLE kept_results AS SELECT id, result FROM attempts; \
         UPDATE evaluations SET plan = '{{}}' WHERE id = {odd_plan}; \
         UPDATE attempts SET result = '{{}}' WHERE {} OR {}; \
         DELETE FROM leaderboard_members; DELETE FROM leaderboard_rows",
        of(odd_attempt),
        of(alone)
    );
    change(&store, &keep).await;
    store.close().await;
    let store = Store::open(&dir).await.unwrap();
    let row = only(&store).await;
    assert_eq!((row.record.skill_names().as_str(), row.record.evaluations), ("sheep", vec![good]));
    assert_eq!(store.leaderboard_so_far().await.unwrap().1, 0, "nothing waits");
    let later = evaluated(&store, &EvaluationPlan { seed: 10, ..plan }).await;
    assert_eq!(only(&store).await.record.evaluations, [good, later]);
    store.delete_evaluation(later).await.unwrap();
    change(
        &store,
        "UPDATE evaluations SET plan = (SELECT k.plan FROM kept_plans k WHERE k.id = evaluations.id); \
         UPDATE attempts SET result = (SELECT k.result FROM kept_results k WHERE k.id = attempts.id)",
    )
    .await;
    store.close().await;
    assert_eq!(view(&Store::open(&dir).await.unwrap(), "sort=skill").await, whole);
}

#[tokio::test]
async fn a_published_snapshot_is_noted_once_and_stays() {
    let store = Store::temp().await.unwrap();
    let [first, second] = [b"rows".as_slice(), b"more rows"].map(ContentHash::of);
    assert!(store.snapshots().await.unwrap().is_empty());
    let (published, is_new) = store.put_snapshot(first, 2, at(1)).await.unwrap();
    assert!(is_new);
    assert_eq!(store.put_snapshot(first, 2, at(9)).await.unwrap(), (published, false), "with its first date");
    let (newer, _) = store.put_snapshot(second, 3, at(2)).await.unwrap();
    assert_eq!(store.snapshots().await.unwrap(), [newer, published]);
    assert_eq!(store.snapshot(published.id).await.unwrap(), published);
    assert!(matches!(store.snapshot(SnapshotId(99)).await, Err(StoreError::NotFound { .. })));
    let mut db = SqliteConnectOptions::new().filename(store.dir().database()).connect().await.unwrap();
    for change in ["UPDATE published_snapshots SET rows = 9", "DELETE FROM published_snapshots"] {
        let refused = sqlx::raw_sql(change).execute(&mut db).await.unwrap_err();
        assert!(refused.to_string().contains("a published snapshot is never"), "{refused}");
    }
}

#[tokio::test]
async fn what_is_removed_leaves_its_row_and_what_waits_is_told() {
    let store = Store::temp().await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    let first = evaluated(&store, &plan).await;
    let second = evaluated(&store, &EvaluationPlan { seed: 9, ..plan.clone() }).await;
    let (none_yet, waiting) = store.leaderboard_so_far().await.unwrap();
    assert_eq!((none_yet.page(&LeaderboardQuery::default(), 0).all, waiting), (0, 2));
    assert_eq!(only(&store).await.record.evaluations, [first, second]);
    store.delete_evaluation(second).await.unwrap();
    assert_eq!(only(&store).await.record.evaluations, [first]);
    assert_eq!(store.leaderboard_so_far().await.unwrap().1, 0);
    store.delete_evaluation(first).await.unwrap();
    assert_eq!(view(&store, "").await.all, 0);
}

#[tokio::test]
async fn a_task_set_that_grows_grows_in_its_rows() {
    let store = Store::temp().await.unwrap();
    let plan = skilled(&store, "sheep", 6).await;
    let tasks: Vec<_> = plan.tasks.iter().map(|task| task.id).collect();
    store.put_task_set("flock", &tasks[..4], at(0)).await.unwrap();
    store.put_task_set("other", &tasks[..1], at(0)).await.unwrap();
    let flock = EvaluationPlan { task_set: Some("flock".into()), tasks: plan.tasks[..4].to_vec(), ..plan.clone() };
    let id = evaluated(&store, &flock).await;
    let size = async || {
        let row = only(&store).await;
        assert_eq!(row.record.evaluations, [id]);
        row.record.task_set.tasks
    };
    assert_eq!(size().await, Some(4));
    store.put_task_set("flock", &tasks, at(3)).await.unwrap();
    assert_eq!(size().await, Some(6));
    store.put_task_set("other", &tasks, at(4)).await.unwrap();
    store.put_task_set("flock", &tasks, at(4)).await.unwrap();
    assert_eq!(store.leaderboard_so_far().await.unwrap().1, 0, "what changes no number is not pooled anew");
}
