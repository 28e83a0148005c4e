//! What happens when the program dies or is stopped: the normal path run again (design §6).

use std::collections::BTreeSet;

use bollard::models::{NetworkCreateRequest, VolumeCreateRequest};

use crate::common::{Home, INSTANCE, KeptTrial, Running, Task, shared, until};

/// A task whose solution takes a moment, so that the program can be caught at work.
fn slow(name: &str) -> Task {
    Task { solve: "sleep 4; echo done > /app/answer.txt\n".to_owned(), ..Task::new(name) }
}

fn start_eval(home: &Home, agent: &[&str], concurrency: &str) -> Running {
    let (skill, tasks) = (home.skill(), home.tasks());
    let given = ["eval", "--skill", &skill, "--tasks", &tasks, "--concurrency", concurrency];
    Running::start(home.command(&[given.as_slice(), agent].concat()))
}

/// Every trial passed once, by its last attempt; earlier ones were interrupted.
fn assert_complete(kept: &[KeptTrial], trials: usize) {
    assert_eq!(kept.len(), trials);
    for trial in kept {
        let verdicts = trial.verdicts();
        let (last, earlier) = verdicts.split_last().unwrap();
        assert_eq!(*last, "pass", "{}: {verdicts:?}", trial.name());
        assert!(earlier.iter().all(|word| *word == "infra_error"), "{}: {verdicts:?}", trial.name());
        let numbers: Vec<u32> = trial.attempts.iter().map(|attempt| attempt.number).collect();
        assert_eq!(numbers, (1..=u32::try_from(verdicts.len()).unwrap()).collect::<Vec<_>>());
        assert_eq!(trial.row.state.word(), "finished");
    }
}

/// Attempts with their end, of those that have one.
fn ended(kept: &[KeptTrial]) -> BTreeSet<(i64, i64, String)> {
    let attempts = kept.iter().flat_map(|trial| &trial.attempts);
    attempts
        .filter_map(|attempt| {
            let verdict = attempt.verdict.as_ref()?.word().to_owned();
            Some((attempt.id.0, attempt.ended_at?.0, verdict))
        })
        .collect()
}

#[test]
fn a_killed_evaluation_is_completed_by_the_next_start() {
    let home = Home::new("kill");
    for name in ["a", "b", "c", "d"] {
        home.task(&slow(name));
    }
    let mut eval = start_eval(&home, &["--agent", "oracle"], "2");
    eval.line("the second end", |line| line.starts_with("[2/8]"));
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    eval.stop("KILL");
    assert!(!home.containers().is_empty(), "nothing was under way");
    let before = home.kept(1);
    assert!(before.iter().any(|trial| trial.verdicts() == ["none"]) && ended(&before).len() >= 2);
    // Killed again at once, and then let go on.
    let mut site = home.serve(&[]);
    site.running.line("its start", |line| line.contains("removed what an earlier run left behind"));
    site.running.stop("KILL");
    let site = home.serve(&[]);
    site.idle_after(1);
    let stopped = site.stop();
    assert_eq!(stopped.code, 0, "{stopped}");
    let kept = home.kept(1);
    assert_complete(&kept, 8);
    assert!(ended(&kept).is_superset(&ended(&before)), "what had ended was changed");
    assert!(kept.iter().any(|trial| trial.attempts.len() > 1));
    let report = home.report(1);
    assert_eq!((report.totals.pairs_complete, report.totals.both, report.finished), (4, 4, true));
    home.finish();
}

#[test]
fn a_build_that_is_killed_with_the_program_leaves_nothing() {
    let home = Home::new("build");
    let dockerfile = "RUN sleep 4 && date > /built\n".to_owned();
    home.task(&Task { dockerfile, ..Task::new("slow-build") });
    let mut eval = start_eval(&home, &["--agent", "oracle"], "2");
    eval.line("a start", |line| line.ends_with(": preparing"));
    let building = || home.wait(home.containers_with("test", &home.mark));
    until("the build's own container", || (!building().is_empty()).then_some(()));
    eval.stop("KILL");
    until("the end of the build", || building().is_empty().then_some(()));
    let site = home.serve(&[]);
    site.idle_after(1);
    site.stop();
    assert_complete(&home.kept(1), 2);
    home.finish();
}

#[test]
fn another_evaluation_on_the_same_data_runs_alone_and_says_what_waits() {
    let home = Home::new("again");
    for name in ["a", "b"] {
        home.task(&slow(name));
    }
    let mut eval = start_eval(&home, &["--agent", "oracle"], "4");
    eval.line("a container", |line| line.ends_with(": preparing"));
    until("a container", || (!home.containers().is_empty()).then_some(()));
    eval.stop("KILL");
    let before = home.kept(1);
    // Another plan is another evaluation. What it was not asked for, and might cost money, it does not run.
    let ended = start_eval(&home, &["--agent", "oracle", "--seed", "7"], "4").end();
    ended.told(0, &["evaluation 1 was interrupted and waits", "skilldelta serve"]);
    assert_complete(&home.kept(2), 4);
    let attempts = |kept: &[KeptTrial]| kept.iter().map(|trial| trial.attempts.len()).sum::<usize>();
    assert_eq!(attempts(&home.kept(1)), attempts(&before), "it was run all the same");
    let site = home.serve(&[]);
    site.idle_after(1);
    site.stop();
    assert_complete(&home.kept(1), 4);
    home.finish();
}

#[test]
fn the_same_command_goes_on_with_what_was_killed_instead_of_running_it_twice() {
    let home = Home::new("same");
    for name in ["a", "b"] {
        home.task(&slow(name));
    }
    let mut eval = start_eval(&home, &["--agent", "oracle"], "2");
    eval.line("the second end", |line| line.starts_with("[2/4]"));
    eval.stop("KILL");
    let before = home.kept(1);
    start_eval(&home, &["--agent", "oracle"], "2").end().told(0, &["evaluation 1, of the same plan", "--seed"]);
    assert_eq!(home.evaluations(&home.data()), 1);
    let kept = home.kept(1);
    assert_complete(&kept, 4);
    assert!(ended(&kept).is_superset(&ended(&before)), "what had ended was changed");
    // What is finished is run anew: that is how a row of the leaderboard grows.
    assert_eq!(start_eval(&home, &["--agent", "oracle"], "2").end().code, 0);
    assert_eq!(home.evaluations(&home.data()), 2);
    home.finish();
}

#[test]
fn the_same_audit_goes_on_with_what_was_killed() {
    let home = Home::new("same-audit");
    for name in ["a", "b"] {
        home.task(&slow(name));
    }
    let tasks = home.tasks();
    let command = ["audit", &tasks, "--concurrency", "1", "-k", "2"];
    let mut audit = Running::start(home.command(&command));
    audit.line("the second end", |line| line.starts_with("[2/8]"));
    audit.stop("KILL");
    let before = home.kept(1);
    Running::start(home.command(&command)).end().told(0, &["audit 1, of the same plan"]);
    let kept = home.kept(1);
    assert!(ended(&kept).is_superset(&ended(&before)), "what had ended was changed");
    assert!(kept.iter().all(|trial| trial.row.state.word() == "finished"));
    home.finish();
}

#[test]
fn a_container_that_vanishes_is_no_score_and_is_tried_again() {
    let home = Home::new("vanish");
    home.task(&slow("one"));
    let mut eval = start_eval(&home, &["--agent", "oracle"], "2");
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    home.wait(home.remove_labelled(&home.instance));
    let ended = eval.end();
    ended.told(0, &["attempt 1 could not be scored"]);
    let kept = home.kept(1);
    assert_complete(&kept, 2);
    assert!(kept.iter().any(|trial| trial.attempts.len() == 2), "{kept:?}");
    home.finish();
}

#[test]
fn a_stopped_evaluation_leaves_no_container_and_says_how_to_go_on() {
    let home = Home::new("term");
    let script = shared("H02/agent.sh").unwrap_or("sleep 600\n".to_owned());
    home.task(&Task::script("sleeper", &script, "exit 0\n"));
    let mut eval = start_eval(&home, &["--agent", "command", "--command", "sh \"$INSTRUCTION_FILE\""], "2");
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    let ended = eval.stop("TERM");
    ended.told(1, &["interrupted", "the same command goes on with evaluation 1"]);
    assert_eq!(home.labelled(), Vec::<String>::new());
    let kept = home.kept(1);
    assert!(kept.iter().all(|trial| trial.row.state.word() == "queued"), "{kept:?}");
    home.finish();
}

#[test]
fn an_evaluation_whose_agent_is_not_here_waits_for_it() {
    let home = Home::new("waits");
    home.task(&Task::new("one"));
    let [mine, other] = ["sleep 5; echo done > answer.txt", "sleep 5; echo other > answer.txt"];
    let agent = |command| ["--agent", "command", "--command", command];
    let mut eval = start_eval(&home, &agent(mine), "2");
    eval.line("an agent at work", |line| line.ends_with(": agent"));
    eval.stop("TERM").told(1, &["interrupted"]);
    let queued = || home.kept(1).iter().all(|trial| trial.row.state.word() == "queued");
    let site = home.serve(&[]);
    let health = until("the queue's first look", || {
        let health = site.json("/api/health");
        (health["waiting"] != serde_json::json!([])).then_some(health)
    });
    let waiting = health["waiting"][0].as_str().unwrap();
    assert!(waiting.contains("evaluation 1 waits for the agent command") && waiting.contains("cancel"), "{waiting}");
    site.stop();
    assert!(queued());
    let ended = start_eval(&home, &agent(other), "2").end();
    ended.told(0, &["evaluation 1 waits"]);
    assert!(queued());
    let ended = start_eval(&home, &agent(mine), "2").end();
    assert_eq!(ended.code, 0, "{ended}");
    assert_complete(&home.kept(1), 2);
    home.finish();
}

#[test]
fn what_a_crash_left_is_removed_and_what_is_foreign_stays() {
    let home = Home::new("stale");
    home.task(&Task::new("fine"));
    let foreign = format!("{:016x}", u64::from(std::process::id()) << 20);
    let mark = home.mark.clone();
    let labels = |instance: &str| Some([(INSTANCE.to_owned(), instance.to_owned())].into());
    home.wait(async {
        for (name, instance) in [("stale-1", &home.instance), ("stale-2", &home.instance), ("foreign", &foreign)] {
            let name = format!("{mark}-{name}");
            let network = NetworkCreateRequest {
                name: name.clone(),
                labels: labels(instance),
                ..NetworkCreateRequest::default()
            };
            home.docker.create_network(network).await.unwrap();
            let volume =
                VolumeCreateRequest { name: Some(name), labels: labels(instance), ..VolumeCreateRequest::default() };
            home.docker.create_volume(volume).await.unwrap();
        }
    });
    let (ended, report) = home.eval(&["--agent", "oracle"]);
    let foreigners = home.labelled_as(&foreign);
    home.wait(home.remove_labelled(&foreign));
    assert_eq!((ended.code, &report["totals"]["both"]), (0, &1.into()), "{ended}");
    assert_eq!(foreigners.len(), 2, "{foreigners:?}");
    home.finish();
}
