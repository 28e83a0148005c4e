//! The server at work: start, watch and cancel by the pages' own forms, under load (W01, W03, W04).

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Home, Site, Task, until};

/// Uploads the skill, adds the tasks and starts an evaluation, as the pages do.
fn start(home: &Home, site: &Site<'_>, agent: &str) -> i64 {
    let skill = std::fs::read_to_string(home.path("skills/measured-words/SKILL.md")).unwrap();
    let csrf = site.csrf();
    let body = format!(
        "--SEAM\r\ncontent-disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n--SEAM\r\ncontent-disposition: form-data; \
         name=\"file\"; filename=\"measured-words/SKILL.md\"\r\n\r\n{skill}\r\n--SEAM--\r\n"
    );
    let request = site.client.post(site.url("/skills/upload")).header("origin", site.url(""));
    let request = request.header("content-type", "multipart/form-data; boundary=SEAM").body(body);
    assert_eq!(site.send(request).status, 200);
    let tasks = home.tasks();
    let added = site.post("/tasks/add", &[("path", &tasks)]);
    assert_eq!(added.status, 200, "{}", added.body);
    let count = std::fs::read_dir(&tasks).unwrap().count();
    let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
    let mut fields = vec![("skill", "1"), ("agent", agent), ("k", "1"), ("concurrency", "2")];
    fields.extend(ids.iter().map(|id| ("task", id.as_str())));
    let started = site.post("/evaluations/start", &fields);
    assert_eq!(started.status, 303, "{}", started.body);
    let place = started.header("location");
    place.strip_prefix("/evaluations/").and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("{place}"))
}

fn ids(stream: &str) -> Vec<u64> {
    stream.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

#[test]
fn events_come_at_once_unbuffered_and_resume_where_they_broke_off() {
    let home = Home::new("events");
    home.task(&Task { solve: "sleep 1; echo done > /app/answer.txt\n".to_owned(), ..Task::new("one") });
    let site = home.serve(&[]);
    let id = start(&home, &site, "oracle");
    let path = format!("/api/evaluations/{id}/events");
    let begun = Instant::now();
    let (head, first) = site.events(&path, Some("0"), |text| !ids(text).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!((head.status, head.header("content-type")), (200, "text/event-stream"));
    assert_eq!((head.header("x-accel-buffering"), head.header("cache-control")), ("no", "no-cache"));
    assert_eq!(head.header("content-encoding"), "");
    let first = ids(&first)[0];
    let (_, all) = site.events(&path, Some("0"), |text| text.contains("event: done"));
    let all = ids(&all);
    assert!(all.len() > 6 && all.is_sorted() && all[0] == first, "{all:?}");
    // From the middle: what is after it, each once.
    let middle = all[all.len() / 2];
    let (_, rest) = site.events(&path, Some(&middle.to_string()), |text| text.contains("event: done"));
    assert_eq!(ids(&rest), all[all.len() / 2 + 1..]);
    assert_eq!(site.get("/api/evaluations/999/events").status, 404);
    let page = site.get(&format!("/evaluations/{id}"));
    assert!(page.status == 200 && page.body.contains("Δ"), "{}", page.body);
    let stopped = site.stop();
    assert_eq!(stopped.code, 0, "{stopped}");
    home.finish();
}

#[test]
fn an_evaluation_is_cancelled_by_its_page_and_its_containers_go() {
    let home = Home::new("cancel");
    for name in ["one", "two"] {
        home.task(&Task { solve: "sleep 600\n".to_owned(), ..Task::new(name) });
    }
    let site = home.serve(&[]);
    let id = start(&home, &site, "oracle");
    let path = format!("/api/evaluations/{id}/events");
    site.events(&path, Some("0"), |text| text.contains("\"phase\":\"agent\""));
    assert!(!home.containers().is_empty());
    let cancel = format!("/evaluations/{id}/cancel");
    let forged = site.send(site.form(&cancel, &[("csrf", "0")]).header("origin", site.url("")));
    assert_eq!(forged.status, 403);
    assert_eq!(site.post(&cancel, &[]).status, 303);
    until("the containers' end", || home.containers().is_empty().then_some(()));
    until("an idle queue", || (site.json("/api/health")["running"] == 0).then_some(()));
    site.idle_after(id);
    let page = site.get(&format!("/evaluations/{id}"));
    assert!(page.body.to_lowercase().contains("cancelled"), "{}", page.body);
    site.stop();
    for trial in home.kept(id) {
        let word = trial.row.state.verdict().map(domain::verdict::Verdict::word);
        assert_eq!(word, Some("cancelled"), "{}", trial.name());
    }
    home.finish();
}

#[test]
fn pages_answer_while_trials_run() {
    let home = Home::new("load");
    for name in ["a", "b", "c", "d", "e", "f"] {
        home.task(&Task {
            solve: "for i in $(seq 200); do echo line $i; done; echo done > /app/answer.txt\n".to_owned(),
            ..Task::new(name)
        });
    }
    let site = home.serve(&[]);
    let id = start(&home, &site, "oracle");
    let paths = ["/", "/skills", "/tasks", "/evaluations", "/evaluations/new", "/api/health"].map(str::to_owned);
    let paths = [paths.as_slice(), &[format!("/evaluations/{id}")]].concat();
    let mut rounds = 0;
    let path = format!("/api/evaluations/{id}/events");
    loop {
        let requests = (0..50).map(|n| {
            let request = site.client.get(site.url(&paths[n % paths.len()]));
            crate::common::answer(request)
        });
        let answers = home.wait(futures::future::join_all(requests));
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(answer.status, 200, "{}: {}", paths[n % paths.len()], answer.body);
        }
        rounds += 1;
        let (_, text) = site.events(&path, Some("0"), |text| text.contains("event: "));
        let report = site.get(&format!("/evaluations/{id}"));
        assert_eq!(report.status, 200);
        let health: Value = site.json("/api/health");
        assert_eq!(health["database"], "ok", "{health} {text}");
        if health["running"] == 0 && rounds > 2 {
            break;
        }
    }
    site.idle_after(id);
    site.stop();
    assert_eq!(home.report(id).totals.both, 6);
    home.finish();
}
