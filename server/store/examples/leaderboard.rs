//! Measures the leaderboard over many rows: fills a data folder with finished evaluations, pools them, then asks for pages in every order and with
//! every filter, beside the floor of reading the same fifty rows by their keys.
//! `cargo run --release --package store --example leaderboard [ROWS] [TASKS] [FOLDER]`; a folder that is given is kept and used again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::analysis::rank::Direction;
use domain::attempt::AttemptResult;
use domain::comparison::Comparison;
use domain::condition::Condition;
use domain::draw::Draw;
use domain::hash::ContentHash;
use domain::id::{SkillVersionId, TaskId};
use domain::leaderboard::{Column, LeaderboardQuery, Sort};
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, PlanKind, RunSettings, SkillRef, TaskRef, Treatment};
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, Verdict};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use store::{DataDir, Store};

type Failure = Box<dyn std::error::Error>;

/// What a page may take at the median, and the program in memory.
const TARGET: Duration = Duration::from_millis(50);
const TARGET_MEMORY: u64 = 300;
/// Times each view is asked for.
const ROUNDS: usize = 9;
/// Tasks that all plans choose from.
const TASKS: i64 = 400;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let rows: i64 = args.next().map_or(Ok(20_000), |text| text.parse())?;
    let tasks: i64 = args.next().map_or(Ok(25), |text| text.parse())?;
    let given = args.next().map(PathBuf::from);
    let temporary = tempfile::tempdir()?;
    let folder = given.unwrap_or_else(|| temporary.path().to_owned());
    let dir = DataDir::open(&folder)?;
    if !dir.database().exists() {
        Store::open(&dir).await?.close().await;
        let begun = Instant::now();
        fill(&dir, rows, tasks).await?;
        println!("{rows} evaluations, {} trials written in {:.1?}", rows * tasks * 2, begun.elapsed());
    }
    let store = Store::open(&dir).await?;
    let begun = Instant::now();
    let snapshot = store.leaderboard().await?;
    let all = snapshot.page(&LeaderboardQuery::default(), 0).all;
    println!("{all} rows brought up to date in {:.1?}", begun.elapsed());
    drop(snapshot);
    store.close().await;

    let store = Store::open(&dir).await?;
    let begun = Instant::now();
    store.leaderboard().await?;
    println!("{all} rows read at a start in {:.1?}", begun.elapsed());
    let floor = floor(&dir).await?;
    println!("floor: 50 rows by their keys from the file {floor:.2?}");
    let mut slowest = Duration::ZERO;
    for (what, query) in views() {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let page = store.leaderboard().await?.page(&query, 0);
            times.push(begun.elapsed());
            found = page.matching;
        }
        let median = median(times);
        slowest = slowest.max(median);
        println!(
            "{what:<32} {found:>6} rows  {median:>9.2?}  {:>6.1} × floor",
            median.as_secs_f64() / floor.as_secs_f64()
        );
    }
    let memory = memory();
    println!("slowest median {slowest:.2?} (under {TARGET:?}); largest memory {memory} MB (under {TARGET_MEMORY})");
    if slowest < TARGET && memory < TARGET_MEMORY { Ok(()) } else { Err("not reached".into()) }
}

fn views() -> Vec<(String, LeaderboardQuery)> {
    let mut views = Vec::new();
    for column in Column::ALL {
        for direction in [Direction::Descending, Direction::Ascending] {
            let sort = Sort { column, direction };
            views.push((format!("sort={}", sort.word()), LeaderboardQuery { sort, ..LeaderboardQuery::default() }));
        }
    }
    for asked in [
        "q=skill-77",
        "q=model+agent+1",
        "model=model-1",
        "agent=agent-2&model=model-1",
        "verdict=improves",
        "quadrant=dominant",
        "n=20&resolvable=1",
        "cat=maths",
        "q=skill&model=model-1&resolvable=1&sort=-rho",
        "q=skill&sort=skill&page=300",
    ] {
        views.push((asked.to_owned(), LeaderboardQuery::parse(asked)));
    }
    views
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Largest resident memory of this process in MB, as Linux tells it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
}

async fn floor(dir: &DataDir) -> Result<Duration, Failure> {
    let mut db = connect(dir).await?;
    let keys: Vec<String> =
        sqlx::query_scalar("SELECT pool_key FROM leaderboard_rows ORDER BY pool_key LIMIT 50 OFFSET 20")
            .fetch_all(&mut db)
            .await?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS * 5 {
        let begun = Instant::now();
        for key in &keys {
            let _record: String = sqlx::query_scalar("SELECT record FROM leaderboard_rows WHERE pool_key = $1")
                .bind(key)
                .fetch_one(&mut db)
                .await?;
        }
        times.push(begun.elapsed());
    }
    db.close().await?;
    Ok(median(times))
}

async fn connect(dir: &DataDir) -> Result<SqliteConnection, Failure> {
    Ok(SqliteConnectOptions::new().filename(dir.database()).foreign_keys(true).connect().await?)
}

/// One evaluation of its own key for each row; ten models and agents, so that families are large.
async fn fill(dir: &DataDir, rows: i64, tasks: i64) -> Result<(), Failure> {
    let mut db = connect(dir).await?;
    sqlx::query("BEGIN").execute(&mut db).await?;
    for id in 1..=TASKS {
        sqlx::query("INSERT INTO tasks VALUES ($1, $2, $3, 'skillsbench-1.0', $4, '[]', '', 0)")
            .bind(id)
            .bind(format!("task-{id}"))
            .bind(version("task", id).to_hex())
            .bind(format!(r#"{{"metadata":{{"category":"{}"}}}}"#, category(id)))
            .execute(&mut db)
            .await?;
    }
    let mut draw = Draw::from_seed(1);
    for row in 1..=rows {
        sqlx::query("INSERT INTO skills VALUES ($1, $2, $3, 0)")
            .bind(row)
            .bind(format!("owner-{}", row % 97))
            .bind(format!("skill-{row}"))
            .execute(&mut db)
            .await?;
        sqlx::query("INSERT INTO skill_versions VALUES ($1, $1, $2, $3, '{}', '[]', 0)")
            .bind(row)
            .bind(version("skill", row).to_hex())
            .bind(format!(r#"{{"name":"skill-{row}","description":"Made up.","license":null}}"#))
            .execute(&mut db)
            .await?;
        evaluation(&mut db, row, tasks, &mut draw).await?;
    }
    sqlx::query("COMMIT").execute(&mut db).await?;
    db.close().await?;
    Ok(())
}

fn version(what: &str, id: i64) -> ContentHash {
    ContentHash::of(format!("{what} {id}").as_bytes())
}

fn category(task: i64) -> &'static str {
    if task <= TASKS / 2 { "maths" } else { "writing" }
}

fn plan(row: i64, tasks: i64) -> EvaluationPlan {
    // The tasks of sixteen sets, each all of one category.
    let first = row % 16 * (TASKS / 16) + 1;
    let task = |id: i64| TaskRef { id: TaskId(id), name: format!("task-{id}"), version: version("task", id) };
    let skill = SkillRef { id: SkillVersionId(row), name: format!("skill-{row}"), version: version("skill", row) };
    EvaluationPlan {
        title: format!("Evaluation {row}"),
        kind: PlanKind::Evaluation,
        treatment: Treatment::Skills { versions: vec![skill] },
        comparison: Comparison::default(),
        tasks: (first..first + tasks).map(|id| task((id - 1) % TASKS + 1)).collect(),
        task_set: None,
        agent: AgentRef::new(format!("agent-{}", row % 3), "1"),
        model: Some(ModelRef { name: format!("model-{}", row % 5), upstream: "u".to_owned(), scripted: row % 50 == 0 }),
        repeats: 1,
        seed: row.unsigned_abs(),
        settings: RunSettings::default(),
    }
}

async fn evaluation(db: &mut SqliteConnection, row: i64, tasks: i64, draw: &mut Draw) -> Result<(), Failure> {
    let plan = plan(row, tasks);
    sqlx::query(
        "INSERT INTO evaluations (id, plan, plan_key, concurrency, max_attempts, created_at, started_at, finished_at) \
         VALUES ($1, $2, $3, 1, 1, $4, $4, $4)",
    )
    .bind(row)
    .bind(serde_json::to_string(&plan)?)
    .bind(format!("{row}"))
    .bind(1_772_323_200_000 + row * 60_000)
    .execute(&mut *db)
    .await?;
    let (mut trials, mut attempts) = (Vec::new(), Vec::new());
    for (position, slot) in (0_i64..).zip(plan.order()) {
        let Some(task) = plan.tasks.get(slot.task) else { continue };
        // Skills differ in how much they help; the arms in their tokens.
        let with = slot.condition == Condition::WithSkill;
        let luck = draw.below(1000) as u64;
        let passes = luck < if with { 300 + row.unsigned_abs() % 7 * 80 } else { 400 };
        let verdict = if passes { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
        let output = 1000 + luck + if with { row.unsigned_abs() % 500 } else { 0 };
        let usage = TokenUsage { output: Some(output), ..TokenUsage::ZERO };
        let result = AttemptResult { usage, ..AttemptResult::bare(verdict.clone()) };
        let (id, verdict) = (row * 1000 + position, serde_json::to_string(&verdict)?);
        trials.push((id, position, task.id, slot.condition, slot.repeat, verdict.clone()));
        attempts.push((id, verdict, serde_json::to_string(&result)?));
    }
    sqlx::query(
        "INSERT INTO trials (id, evaluation_id, position, task_id, condition, repeat, state, attempts, verdict, finished_at, revision) \
         SELECT v.value ->> 0, $1, v.value ->> 1, v.value ->> 2, v.value ->> 3, v.value ->> 4, 'finished', 1, v.value ->> 5, 0, 0 \
         FROM json_each($2) v",
    )
    .bind(row)
    .bind(serde_json::to_string(&trials)?)
    .execute(&mut *db)
    .await?;
    sqlx::query(
        "INSERT INTO attempts (trial_id, number, started_at, ended_at, verdict, result) \
         SELECT v.value ->> 0, 1, 0, 1, v.value ->> 1, v.value ->> 2 FROM json_each($1) v",
    )
    .bind(serde_json::to_string(&attempts)?)
    .execute(&mut *db)
    .await?;
    Ok(())
}
