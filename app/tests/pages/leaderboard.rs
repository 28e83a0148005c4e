//! The leaderboard's shapes, and the archive of its published snapshots with the badges that speak of it.

use axum::http::{StatusCode, header};
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::id::{SkillId, SnapshotId};
use domain::plan::{EvaluationPlan, ModelRef};
use ops::{BadgeChoice, Ops};
use store::Store;

use crate::support::seed::{ended, plan, run, verdict};
use crate::support::{TOKEN, get, post, site_and_ops};

const GREEN: &str = "#00725a";

async fn twelve(store: &Store) -> EvaluationPlan {
    let tasks: Vec<(String, &str)> = (0..12).map(|i| (format!("task-{i:03}"), "documents")).collect();
    plan(store, "Count sheep", &tasks, 1).await
}

/// Every task passes in the one arm and fails in the other; its row is made at once, since a page does not wait for it.
async fn finish(store: &Store, plan: &EvaluationPlan, winner: Condition) {
    run(store, plan, |_, condition, _| Some(ended(verdict(condition == winner), condition, 20_000))).await;
    store.leaderboard().await.unwrap();
}

async fn badge(ops: &Ops, skill: SkillId) -> String {
    ops.badge(Some(skill), &BadgeChoice::default()).await.unwrap().svg
}

fn address(snapshot: SnapshotId) -> String {
    format!("/leaderboard?data=snapshot-{snapshot}")
}

#[tokio::test]
async fn a_published_snapshot_stands_still_and_badges_speak_of_it_alone() {
    let store = Store::temp().await.unwrap();
    let (site, ops) = site_and_ops(store.clone());
    let fields = format!("csrf={TOKEN}");
    let publish = || post(&site, "/leaderboard/publish", &fields);
    let empty = publish().await;
    assert!(empty.status.is_client_error() && empty.body.contains("there is no row to publish"), "{}", empty.body);
    assert!(get(&site, "/leaderboard/snapshots").await.body.contains("Nothing published yet"));

    let plan = twelve(&store).await;
    store.blobs().put(b"count-sheep".to_vec()).await.unwrap();
    finish(&store, &plan, Condition::WithSkill).await;
    assert!(get(&site, "/leaderboard").await.body.contains("Nothing is published yet, so badges stay grey."));
    let board = get(&site, "/leaderboard").await.body;
    let skill = board.split("href=\"/skills/").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let skill: SkillId = skill.parse().unwrap();
    let page = get(&site, &format!("/skills/{skill}")).await.body;
    assert!(page.contains("the badge is grey until it is"), "{skill} {page}");
    let grey = badge(&ops, skill).await;
    assert!(grey.contains("not published") && !grey.contains(GREEN), "{grey}");

    for _ in 0..2 {
        let answer = publish().await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        let published = ops.published_snapshots().await.unwrap();
        assert_eq!(published.len(), 1, "the same rows are one snapshot");
        assert_eq!(answer.header(header::LOCATION), address(published[0].id));
    }
    let published = ops.published_snapshots().await.unwrap()[0];
    let green = badge(&ops, skill).await;
    assert!(green.contains(GREEN) && green.contains(&format!("published snapshot {} of ", published.id)), "{green}");

    // The key's next evaluation goes the other way: the rows of now change, what was published does not.
    finish(&store, &EvaluationPlan { seed: 8, ..plan }, Condition::NoSkill).await;
    let now = get(&site, "/leaderboard").await.body;
    assert!(now.contains("2 evaluations") && now.contains(&format!("snapshot {}", published.id)), "{now}");
    let then = get(&site, &address(published.id)).await.body;
    assert!(then.contains("Improves") && then.contains(&published.hash.to_hex()), "{then}");
    assert!(!then.contains("2 evaluations") && !then.contains("A newer one was published"), "{then}");
    assert_eq!(badge(&ops, skill).await, green);

    assert_eq!(publish().await.status, StatusCode::SEE_OTHER);
    let newest = ops.published_snapshots().await.unwrap()[0];
    assert!(newest.id > published.id);
    let then = get(&site, &address(published.id)).await.body;
    assert!(then.contains("Improves") && then.contains("A newer one was published"), "{then}");
    assert!(!badge(&ops, skill).await.contains(GREEN), "the badge is that of the newest snapshot");
    let archive = get(&site, "/leaderboard/snapshots").await.body;
    for snapshot in [newest, published] {
        assert!(archive.contains(&format!("Snapshot {}", snapshot.id)), "{archive}");
    }
    let document = ops.snapshot_document(published.id).await.unwrap();
    assert_eq!(ContentHash::of(&document.files[0].bytes), published.hash);
    assert_eq!(get(&site, &address(SnapshotId(99))).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_rows_can_be_seen_as_intervals_and_against_their_tokens() {
    let store = Store::temp().await.unwrap();
    let (site, _) = site_and_ops(store.clone());
    let plan = twelve(&store).await;
    for name in ["large", "small"] {
        let model = ModelRef { name: name.to_owned(), upstream: "u".to_owned(), scripted: false };
        finish(&store, &EvaluationPlan { model: Some(model), ..plan.clone() }, Condition::WithSkill).await;
    }
    for (shape, drawn) in [("forest", "small · set "), ("scatter", "Change of pass rate against change of tokens")] {
        let page = get(&site, &format!("/leaderboard?view={shape}")).await.body;
        assert!(page.contains(drawn) && page.contains("The same rows as a table"), "{page}");
        assert!(page.contains(&format!("name=\"view\" value=\"{shape}\"")), "a filter keeps the shape: {page}");
        let large = get(&site, &format!("/leaderboard?model=large&view={shape}")).await.body;
        assert!(!large.contains("small · set "), "the same filters: {large}");
        let none = get(&site, &format!("/leaderboard?q=nothing&view={shape}")).await;
        assert!(none.status == StatusCode::OK && none.body.contains("No row matches"), "{}", none.body);
    }
}
