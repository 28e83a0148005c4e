//! The server at work: start, watch and cancel by the pages' own forms, under load (W01, W03, W04).

use serde_json::Value;

use crate::common::{Home, Task, until};

fn ids(stream: &str) -> Vec<u64> {
    stream.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

#[test]
fn events_come_at_once_unbuffered_and_resume_where_they_broke_off() {
    let home = Home::new("events");
    home.task(&Task { solve: "sleep 1; echo done > /app/answer.txt\n".to_owned(), ..Task::new("one") });
    let site = home.serve(&[]);
    let id = site.start("oracle");
    let path = format!("/api/evaluations/{id}/events");
    let (head, first) = site.events(&path, Some("0"), |text| !ids(text).is_empty());
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
    let id = site.start("oracle");
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
fn without_an_engine_the_pages_are_served_and_say_why_nothing_runs() {
    let home = Home::new("headless");
    home.task(&Task::new("one"));
    let tasks = home.tasks();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--task-root", &tasks]);
    command.env("DOCKER_HOST", "unix:///nonexistent");
    let site = home.site(command);
    let health = site.json("/api/health");
    assert!(health["paused"].as_str().unwrap().contains("start Docker"), "{health}");
    let id = site.start("oracle");
    assert_eq!(site.get(&format!("/evaluations/{id}")).status, 200);
    let stopped = site.stop();
    assert_eq!(stopped.code, 0, "{stopped}");
    // What was planned meanwhile is made once there is an engine.
    let site = home.serve(&[]);
    site.idle_after(id);
    site.stop();
    assert_eq!(home.report(id).totals.both, 1);
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
    let id = site.start("oracle");
    let paths = ["/", "/skills", "/tasks", "/evaluations", "/evaluations/new", "/api/health"].map(str::to_owned);
    let paths = [paths.as_slice(), &[format!("/evaluations/{id}")]].concat();
    let mut rounds = 0;
    loop {
        let requests = (0..50).map(|n| {
            let request = site.client.get(site.url(&paths[n % paths.len()]));
            crate::common::answer(request)
        });
        let answers = home.wait(futures::future::join_all(requests));
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(answer.status, 200, "{}: {}", paths[n % paths.len()], answer.body);
        }
        // Writes by many at once, while trials write as well.
        let csrf = site.csrf();
        let uploads = (0..20).map(|n| {
            let skill = format!("---\nname: skill-{n}\ndescription: Round {rounds}.\n---\nx\n");
            let name = format!("skill-{n}/SKILL.md");
            site.uploaded(&csrf, &[(&name, skill.as_bytes())])
        });
        for answer in home.wait(futures::future::join_all(uploads)) {
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        rounds += 1;
        let report = site.get(&format!("/evaluations/{id}"));
        assert_eq!(report.status, 200);
        let health: Value = site.json("/api/health");
        assert_eq!(health["database"], "ok", "{health}");
        if health["running"] == 0 && rounds > 2 {
            break;
        }
    }
    site.idle_after(id);
    site.stop();
    assert_eq!(home.report(id).totals.both, 6);
    home.finish();
}
