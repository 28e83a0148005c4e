//! `skilldelta evaluations`: what was run is listed, shown again and cancelled, without a server and beside one.

use serde_json::Value;

use crate::common::{Home, Running, Task};

#[test]
fn what_was_run_is_listed_and_shown_as_eval_told_it() {
    let home = Home::new("evaluations");
    let empty = home.run(&["evaluations", "list"]);
    assert!(empty.code == 0 && empty.out.contains("no evaluations yet"), "{empty}");
    for name in ["one", "two"] {
        home.task(&Task::new(name));
    }
    let (skill, tasks) = (home.skill(), home.tasks());
    let first = home.run(&["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "oracle"]);
    first.told(0, &["two: warning[same_task_twice]: one and two are the same bytes", "leave the copies out"]);
    let (second, report) = home.eval(&["--agent", "nop", "--task-ids", "one"]);
    assert_eq!(second.code, 0, "{second}");

    let list = home.run(&["evaluations", "list"]);
    let lines: Vec<Vec<&str>> = list
        .out
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let [head, newest, oldest, foot] = lines.as_slice() else { panic!("{list}") };
    assert_eq!(head[..], ["number", "planned", "state", "Δ", "verdict", "skill", "title"], "{list}");
    for (line, id, title) in [
        (newest, "2", "measured-words on 1 task (no coding agent)"),
        (oldest, "1", "measured-words on 2 tasks (no coding agent)"),
    ] {
        assert!(line[1].ends_with(" UTC"), "{list}");
        let cells = [line[0], line[2], line[3], line[4], line[5], line[6]];
        assert_eq!(cells, [id, "finished", "0 pp", "Cannot be resolved", "measured-words", title], "{list}");
    }
    assert_eq!(foot[..], ["2 evaluations"], "{list}");
    assert!(first.out.contains("Cannot be resolved."), "the word of eval: {first}");
    for (page, told) in [
        ("1", "1 to 1 of 2 evaluations; --page 2 goes on, --limit 2 shows all"),
        ("2", "2 to 2 of 2 evaluations; --limit 2 shows all"),
        ("9", "2 to 2 of 2 evaluations; --limit 2 shows all"),
    ] {
        let list = home.run(&["evaluations", "list", "--limit", "1", "--page", page]);
        assert!(list.code == 0 && list.out.ends_with(told) && list.out.lines().count() == 3, "{list}");
    }
    let json: Value = serde_json::from_str(&home.run(&["evaluations", "list", "--json"]).out).unwrap();
    let listed = &json["evaluations"][0];
    assert_eq!((&json["all"], &listed["id"], &listed["counts"]["failed"]), (&2.into(), &2.into(), &2.into()), "{json}");
    assert_eq!(listed["headline"]["class"], "cannot_be_resolved", "{json}");

    let shown = home.run(&["evaluations", "show", "1"]);
    assert_eq!((shown.code, shown.out), (0, first.out));
    let shown: Value = serde_json::from_str(&home.run(&["evaluations", "show", "2", "--json"]).out).unwrap();
    assert_eq!(shown, report);
    let audit = home.run(&["audit", &tasks, "--task-ids", "one", "-k", "1"]);
    let shown = home.run(&["evaluations", "show", "3"]);
    assert_eq!((shown.code, shown.out), (0, audit.out));
    for (args, told) in [
        (["show", "9"], "evaluation 9 does not exist"),
        (["cancel", "9"], "evaluation 9 does not exist"),
        (["cancel", "1"], "it is finished: there is nothing left to cancel"),
        (["list", "--limit=0"], "--limit"),
    ] {
        home.run(&[&["evaluations"], args.as_slice()].concat()).told(2, &[told]);
    }
    home.finish();
}

#[test]
fn what_was_interrupted_is_cancelled_and_not_gone_on_with() {
    let home = Home::new("cancelled");
    home.task(&Task::new("long"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--concurrency", "1", "--agent", "command", "--command"];
    let mut eval = Running::start(home.command(&[given.as_slice(), &["sleep 600"]].concat()));
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    eval.stop("INT").told(1, &["interrupted"]);
    let list = home.run(&["evaluations", "list"]);
    assert!(list.out.contains("0 of 2 finished") && list.out.contains("Running"), "{list}");
    let shown = home.run(&["evaluations", "show", "1"]);
    assert!(shown.code == 0 && shown.out.contains("Nothing to compare yet."), "{shown}");

    // The server that owns the data folder meanwhile shows it, and is told of; it would also go on with what was interrupted.
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("DOCKER_HOST", "unix:///nonexistent");
    let site = home.site(command);
    for args in [&["list"][..], &["show", "1"], &["cancel", "1"]] {
        let told = [format!("which serves {}", site.url("")), "use its pages".to_owned()];
        home.run(&[&["evaluations"], args].concat()).told(1, &[&told[0], &told[1]]);
    }
    site.stop();

    let cancelled = home.run(&["evaluations", "cancel", "1"]);
    assert!(cancelled.code == 0 && cancelled.out.contains("1 is cancelled"), "{cancelled}");
    let list = home.run(&["evaluations", "list"]);
    assert!(list.out.contains("finished, 2 trials not run") && list.out.contains("No result"), "{list}");
    let again = home.run(&[given.as_slice(), &["true"]].concat());
    assert!(again.code == 0 && again.out.contains("evaluation 2"), "{again}");
    home.finish();
}
