//! The leaderboard, its downloads and badges over the real server: what a first evaluation shows, and the published table.

use crate::common::{Home, Task};

#[test]
fn a_finished_evaluation_is_a_row_a_download_and_a_grey_badge() {
    let home = Home::new("board");
    for name in ["one", "two"] {
        // Tasks of the same bytes would be one task.
        let task = Task::new(name);
        home.task(&Task { instruction: format!("{}This is task {name}.\n", task.instruction), ..task });
    }
    let site = home.serve(&[]);
    let empty = site.get("/leaderboard");
    assert!(empty.status == 200 && empty.body.contains("No rows yet"), "{}", empty.body);
    let id = site.start("oracle");
    site.idle_after(id);

    let page = site.get("/leaderboard");
    for words in
        ["measured-words", "oracle", "set ", "2 × 1", "Cannot be resolved", "no coding agent", "Calls no model: "]
    {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert!(
        page.body.contains("1 row is scripted, imported or by no coding agent: shown, never ranked."),
        "{}",
        page.body
    );
    assert!(page.body.contains("aria-sort=\"descending\""), "{}", page.body);
    for (query, there) in [
        ("q=measured", true),
        ("q=nothing", false),
        ("agent=oracle&n=2", true),
        ("resolvable=1", false),
        ("verdict=cannot_be_resolved&sort=-rho&cols=skill,delta", true),
        ("sort=;drop&page=-1&cols=%00&unknown=1", true),
    ] {
        let page = site.get(&format!("/leaderboard?{query}"));
        assert_eq!((page.status, page.body.contains("/skills/1\"")), (200, there), "{query}: {}", page.body);
        assert_eq!(page.body.contains("No row matches"), !there, "{query}");
    }
    let skill = site.get("/skills/1");
    assert!(skill.body.contains("Results by version") && skill.body.contains("/badge/1.svg"), "{}", skill.body);
    assert!(skill.body.contains(&site.url("/skills/1)")), "the badge links back: {}", skill.body);

    let csv = site.get("/leaderboard/export/csv?agent=oracle");
    assert_eq!((csv.status, csv.body.lines().count()), (200, 2), "{}", csv.body);
    assert!(csv.header("content-disposition").contains("leaderboard.csv"));
    let json = site.json("/leaderboard/export/json?q=nothing");
    assert_eq!(
        (json["schema"].as_str(), json["rows"].as_array().unwrap().len()),
        (Some("skilldelta.leaderboard.v1"), 0)
    );
    assert_eq!(site.get("/leaderboard/export/xlsx").status, 422, "told which formats there are");

    let published = site.post("/leaderboard/publish", &[]);
    assert_eq!(published.header("location"), "/leaderboard?data=snapshot-1");
    let document = site.get("/leaderboard/snapshots/1/document");
    assert!(document.body.contains("skilldelta.snapshot.v1") && document.body.contains("measured-words"));
    assert_eq!(site.get("/leaderboard/snapshots/9/document").status, 404);
    assert_eq!(site.get("/leaderboard/export/csv?data=snapshot-1").body, csv.body);

    let badge = site.get("/badge/1.svg");
    assert_eq!((badge.status, badge.header("content-type")), (200, "image/svg+xml"));
    assert!(badge.body.contains("no coding agent · oracle · v1"), "{}", badge.body);
    assert!(badge.body.contains("#6b7480") && !badge.body.contains("#00725a"), "{}", badge.body);
    assert_eq!(badge.header("cache-control"), "public, max-age=300");
    assert_eq!(badge.header("cross-origin-resource-policy"), "cross-origin", "shown on pages of others");
    assert_eq!(badge.header("x-content-type-options"), "nosniff");
    let tag = badge.header("etag").to_owned();
    let again = site.send(site.client.get(site.url("/badge/1.svg")).header("if-none-match", tag));
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert!(site.get("/badge/1.svg?model=other").body.contains("not evaluated"));
    for unknown in ["/badge/99.svg", "/badge/x.svg", "/badge/1"] {
        let badge = site.get(unknown);
        assert_eq!((badge.status, badge.body.contains("unknown skill")), (404, true), "{unknown}");
    }
    site.stop();
    for (args, code, told) in [
        (&["publish"][..], 0, &["these rows are published already", "snapshot 1 · "][..]),
        (&["snapshots"], 0, &["snapshot 1 · ", " · 1 row · sha256 "]),
        (&["export", "--format", "csv", "--snapshot", "1", "--out", "-"], 0, &["measured-words"]),
        (&["export", "--format", "csv", "--snapshot", "9"], 2, &["published snapshot 9 does not exist"]),
    ] {
        let ended = home.run(&[&["leaderboard"], args].concat());
        let text = ended.to_string();
        assert!(ended.code == code && told.iter().all(|words| text.contains(words)), "{told:?} {text}");
    }
    home.finish();
}

#[test]
fn the_published_table_is_marked_and_settles_nothing() {
    let home = Home::new("paper");
    let site = home.serve(&[]);
    let page = site.get("/leaderboard?data=paper");
    for words in [
        "published by others",
        "49 of 49 rows are inconclusive or null: 49 cannot be resolved. 0 improve, 0 harm.",
        "none of the 49 rows can be told from chance",
        "it is 0 in 39 rows",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    let json = site.json("/leaderboard/export/json?data=paper&sort=-delta");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 49);
    let deltas: Vec<f64> = rows.iter().map(|row| row["measured"]["delta"].as_f64().unwrap()).collect();
    assert!(deltas.is_sorted_by(|a, b| a >= b) && (deltas[0] - 0.3).abs() < 1e-12, "{deltas:?}");
    for row in rows {
        assert_eq!((&row["says"], &row["tier"]), (&"cannot_be_resolved".into(), &serde_json::Value::Null));
    }
    assert!(site.get("/leaderboard?data=paper&resolvable=1").body.contains("No row matches"));
    let markdown = site.get("/leaderboard/export/markdown?data=paper&cols=skill,delta,verdict");
    assert_eq!(markdown.body.lines().filter(|line| line.starts_with("| ")).count(), 51, "{}", markdown.body);
    site.stop();
    home.finish();
}
