//! The task audit on the real engine: a small task for each thing that an audit can say, the command and its exit codes, what stays of it.

use bollard::query_parameters::UploadToContainerOptions;
use serde_json::Value;

use crate::common::{Ended, Home, PASS, Running, Task, until};

/// Writes a test report of these test cases (name and a shell condition each), and the reward 1 where all of them hold.
fn reporting(cases: &[(&str, &str)]) -> String {
    let mut script = "tests=\"\"; reward=1\n".to_owned();
    for (name, condition) in cases {
        script += &format!(
            "if {condition}; then status=passed; else status=failed; reward=0; fi\n\
             tests=\"$tests${{tests:+,}}{{\\\"name\\\":\\\"{name}\\\",\\\"status\\\":\\\"$status\\\",\\\"duration\\\":0}}\"\n"
        );
    }
    script
        + "echo \"{\\\"results\\\":{\\\"tests\\\":[$tests]}}\" > /logs/verifier/ctrf.json\necho $reward > /logs/verifier/reward.txt\n"
}

const DONE: &str = "[ \"$(cat /app/answer.txt 2>/dev/null)\" = done ]";

fn audit(home: &Home, args: &[&str]) -> (Ended, Value) {
    let json = home.path("audit.json").display().to_string();
    let ended = home.run(&[&["audit", &home.tasks(), "--concurrency", "4", "--json", &json], args].concat());
    let text = std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {ended}"));
    (ended, serde_json::from_str(&text).unwrap())
}

fn task<'a>(report: &'a Value, name: &str) -> &'a Value {
    let tasks = report["tasks"].as_array().unwrap();
    tasks.iter().find(|task| task["task"] == name).unwrap_or_else(|| panic!("no task {name} in {report}"))
}

#[test]
fn an_audit_says_of_each_task_whether_it_can_be_trusted() {
    let home = Home::new("audit");
    let sound = [("answer is there", "[ -e /app/answer.txt ]"), ("answer is right", DONE), ("shell works", "true")];
    home.task(&Task { test: reporting(&sound), ..Task::new("sound") });
    home.task(&Task { test: PASS.to_owned(), ..Task::new("ceiling") });
    home.task(&Task { solve: "echo wrong > /app/answer.txt\n".to_owned(), ..Task::new("unsolvable") });
    home.task(&Task { solve: "exit 3\n".to_owned(), ..Task::new("stumbling") });
    let unjudged = format!("set -e\n{DONE}\necho 1 > /logs/verifier/reward.txt\n");
    home.task(&Task { test: unjudged, ..Task::new("unjudged") });
    home.task(&Task::new("unproven"));
    std::fs::remove_dir_all(home.path("tasks/unproven/solution")).unwrap();
    let unequal = "if [ -e /app/answer.txt ]; then echo 1; else echo 0.25; fi > /logs/verifier/reward.txt\n";
    home.task(&Task { test: unequal.to_owned(), ..Task::new("partial") });
    let (ended, report) = audit(&home, &["-k", "2"]);
    assert_eq!(ended.code, 3, "{ended}");
    assert_eq!((&report["schema"], &report["finished"]), (&"skilldelta.audit.v1".into(), &true.into()));
    for (name, outcome, words) in [
        ("sound", "discriminating", "1 of 3 test cases passes without doing anything: it measures nothing."),
        ("ceiling", "at_ceiling", "It passes although nothing was done, in 2 of 2 runs"),
        ("unsolvable", "unsolvable", "Its own solution does not pass, in 2 of 2 runs."),
        ("stumbling", "unsolvable", "solve.sh: exit 3"),
        ("unjudged", "unjudged", "no result where nothing was done: no reward written"),
        ("unproven", "discriminating", "nothing shows that it can be passed"),
        ("partial", "discriminating", "passes with its own solution"),
    ] {
        let task = task(&report, name);
        assert_eq!((&task["outcome"], &task["trusted"]), (&outcome.into(), &(outcome == "discriminating").into()));
        assert!(task["sentence"].as_str().unwrap().contains(words), "{task}");
        let runs = task["runs"].as_array().unwrap();
        assert_eq!(runs.len(), if name == "unproven" { 2 } else { 4 }, "{task}");
        assert!(runs.iter().all(|run| run["image"].as_str().is_some_and(|id| id.starts_with("sha256:"))), "{task}");
    }
    let classes: Vec<_> = task(&report, "sound")["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| (test["name"].as_str().unwrap(), test["class"].as_str().unwrap()))
        .collect();
    assert_eq!(
        classes,
        [("answer is there", "fail-to-pass"), ("answer is right", "fail-to-pass"), ("shell works", "pass-to-pass")]
    );
    for words in [
        "pass 0/2    pass 2/2",
        "at ceiling without an agent",
        "3 of 7 tasks can be trusted",
        "pass-to-pass  shell works (nop 2/2, oracle 2/2)",
    ] {
        assert!(ended.out.contains(words), "no {words:?} in {ended}");
    }
    // What is audited is no evaluation: no list of results has it.
    let refused = home.run(&["export", "1", "--format", "csv"]);
    assert!(refused.code == 2 && refused.err.contains("1 is a task audit"), "{refused}");
    let (ended, report) = audit(&home, &["-k", "1", "--task-ids", "sound"]);
    assert_eq!((ended.code, report["tasks"].as_array().unwrap().len()), (0, 1), "{ended}");
    home.finish();
}

#[test]
fn pages_say_of_each_task_how_it_stands_and_audits_are_started_there() {
    let home = Home::new("audit-pages");
    home.task(&Task { test: reporting(&[("answer is right", DONE), ("shell works", "true")]), ..Task::new("a-sound") });
    home.task(&Task { test: PASS.to_owned(), ..Task::new("b-ceiling") });
    assert_eq!(audit(&home, &["-k", "1"]).0.code, 3);
    home.task(&Task::new("c-new"));
    let (ended, _) = home.eval(&["--agent", "nop"]);
    ended.told(0, &["task b-ceiling failed its audit: It passes although nothing was done"]);
    let site = home.serve(&[]);
    let seen = |path: &str, words: &[&str]| {
        let page = site.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        for word in words {
            assert!(page.body.contains(word), "no {word:?} in {path}: {}", page.body);
        }
    };
    seen(
        "/tasks",
        &["discriminating", "1 of 2 test cases passes without work", "at ceiling without an agent", "not audited"],
    );
    seen(
        "/tasks/1",
        &["Audit this task", "pass-to-pass", "fail-to-pass", "answer is right", "0 of 1", "/audits/1/runs/1/1"],
    );
    seen("/tasks/3", &["Not audited yet"]);
    seen("/audits/1", &["1 of 2 tasks can be trusted", "It passes although nothing was done"]);
    seen("/audits/1/runs/1/1", &["nop", "oracle", "shell works", "verifier output"]);
    seen("/evaluations/2/pairs/1/1", &["Tests that pass without doing anything", "1 test: 0 rescued"]);
    for (path, status) in
        [("/evaluations/1", 404), ("/evaluations/1/pairs/1/1", 404), ("/audits/2", 404), ("/audits/1/runs/9/1", 404)]
    {
        assert_eq!(site.get(path).status, status, "{path}");
    }
    assert!(!site.get("/evaluations").body.contains("Audit of"), "an audit stands among the evaluations");
    for fields in [
        &[("task", "1"), ("k", "0")][..],
        &[("task", "1"), ("k", "many")],
        &[("task", "99"), ("k", "1")],
        &[("task", "x"), ("k", "1")],
    ] {
        assert!(matches!(site.post("/audits/start", fields).status, 404 | 422), "{fields:?}");
    }
    let started = site.post("/audits/start", &[("task", "3"), ("k", "1")]);
    assert_eq!((started.status, started.header("location")), (303, "/audits/3"), "{}", started.body);
    site.idle_after(3);
    seen("/audits/3", &["1 of 1 task can be trusted", "discriminating"]);
    let started = site.post("/audits/start", &[("k", "1")]);
    assert_eq!(started.header("location"), "/audits/4", "{}", started.body);
    assert_eq!(site.post("/audits/4/cancel", &[]).header("location"), "/audits/4");
    site.idle_after(4);
    // What was cancelled says nothing; what was known before still holds.
    seen("/tasks", &["discriminating", "at ceiling without an agent"]);
    site.stop();
    home.finish();
}

#[test]
fn what_keeps_a_task_from_being_audited_is_no_verdict_on_it() {
    let home = Home::new("audit-open");
    home.task(&Task { dockerfile: "RUN exit 9\n".to_owned(), ..Task::new("unbuilt") });
    let (ended, report) = audit(&home, &["-k", "1"]);
    assert_eq!((ended.code, &report["tasks"][0]["outcome"]), (1, &"undecided".into()), "{ended}");
    assert!(report["tasks"][0]["sentence"].as_str().unwrap().contains("RUN exit 9"), "{report}");
    home.run(&["audit", "no/such/folder"]).told(2, &["no/such/folder"]);
    home.run(&["audit", &home.tasks(), "-k", "0"]).told(2, &["repeats"]);
    home.finish();
}

/// The verifier's reward comes from outside, and this test gives it: 1 and 0 in turn.
#[test]
fn repeats_that_disagree_are_seen() {
    let home = Home::new("audit-flaky");
    let waits = "while [ ! -s /given/reward ]; do sleep 0.1; done\ncp /given/reward /logs/verifier/reward.txt\n";
    home.task(&Task { test: waits.to_owned(), ..Task::new("moody") });
    std::fs::remove_dir_all(home.path("tasks/moody/solution")).unwrap();
    let json = home.path("audit.json").display().to_string();
    let given = ["audit", &home.tasks(), "-k", "2", "--concurrency", "1", "--json", &json];
    let mut running = Running::start(home.command(&given));
    let mut served: Vec<String> = Vec::new();
    until("two runs, or the end", || {
        for id in home.containers() {
            if !served.contains(&id) && home.wait(give(&home, &id, served.is_empty())) {
                served.push(id);
            }
        }
        (served.len() == 2 || !running.is_running()).then_some(())
    });
    let ended = running.end();
    assert_eq!(ended.code, 3, "{ended}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let task = task(&report, "moody");
    assert_eq!(task["outcome"], "flaky", "{report}");
    assert!(task["sentence"].as_str().unwrap().contains("nop passed 1 of 2 runs"), "{task}");
    home.finish();
}

/// Puts a reward into a container that runs; `false` where it does not, or no longer.
async fn give(home: &Home, id: &str, pass: bool) -> bool {
    let mut archive = tar::Builder::new(Vec::new());
    let reward: &[u8] = if pass { b"1\n" } else { b"0\n" };
    let mut header = tar::Header::new_gnu();
    header.set_size(reward.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "given/reward", reward).unwrap();
    let options = UploadToContainerOptions { path: "/".to_owned(), ..UploadToContainerOptions::default() };
    let bytes = bollard::body_full(archive.into_inner().unwrap().into());
    home.docker.upload_to_container(id, Some(options), bytes).await.is_ok()
}
