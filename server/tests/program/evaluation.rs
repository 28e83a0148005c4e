//! `skilldelta eval`: the table, the JSON, and what the exit code says.

use serde_json::Value;

use crate::common::{Home, Task, trial};

/// What the JSON promises to those who read it by program.
const TOTALS: [&str; 13] = [
    "pairs_complete",
    "pairs_incomplete",
    "pass_rate_with",
    "pass_rate_without",
    "delta",
    "rescued",
    "broken",
    "both",
    "neither",
    "tokens_with",
    "tokens_without",
    "rho",
    "ce",
];
const TOP: [&str; 9] = ["schema", "evaluation_id", "skill", "agent", "model", "seed", "totals", "tasks", "trials"];
const TRIAL: [&str; 11] = [
    "task",
    "condition",
    "repeat",
    "attempts",
    "verdict",
    "reward",
    "tests",
    "usage",
    "activated",
    "phases_ms",
    "error",
];
const USAGE: [&str; 4] = ["input", "cache_read", "cache_write", "output"];

fn assert_fields(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no {field} in {value}");
    }
}

fn assert_shape(report: &Value) {
    assert_fields(report, &TOP);
    assert_fields(&report["skill"], &["name", "version"]);
    assert_fields(&report["agent"], &["name", "version"]);
    assert_fields(&report["totals"], &TOTALS);
    for task in report["tasks"].as_array().unwrap() {
        assert_fields(task, &["task"]);
    }
    for trial in report["trials"].as_array().unwrap() {
        assert_fields(trial, &TRIAL);
        assert_fields(&trial["usage"], &USAGE);
    }
    let text = report.to_string();
    assert!(!text.contains("NaN") && !text.contains("Infinity"), "{text}");
}

/// A task in the layout v1.1.
fn write_v1_1(home: &Home, name: &str) {
    let head = "---\nschema_version: \"1.3\"\nagent:\n  timeout_sec: 60\nverifier:\n  timeout_sec: 60\nenvironment:\n  \
                network_mode: no-network\n  memory_mb: 256\n---\n\nWrite the word done to /app/answer.txt.\n";
    let task = Task::new(name);
    home.write(&format!("tasks/{name}/task.md"), head);
    let dockerfile = format!("FROM {}\nLABEL test={}\nWORKDIR /app\n", home.base, home.mark);
    home.write(&format!("tasks/{name}/environment/Dockerfile"), dockerfile);
    home.write(&format!("tasks/{name}/verifier/test.sh"), &task.test);
    home.write(&format!("tasks/{name}/oracle/solve.sh"), &task.solve);
}

#[test]
fn oracle_passes_and_nop_fails_in_both_layouts() {
    let home = Home::new("layouts");
    home.task(&Task::new("old-layout"));
    write_v1_1(&home, "new-layout");
    for (agent, verdict, rate, flip) in [("oracle", "pass", 1.0, "both"), ("nop", "fail", 0.0, "neither")] {
        let (ended, report) = home.eval(&["--agent", agent, "--seed", "7"]);
        assert_eq!(ended.code, 0, "{ended}");
        assert_shape(&report);
        for task in ["old-layout", "new-layout"] {
            for condition in ["no-skill", "with-skill"] {
                let trial = trial(&report, task, condition);
                assert_eq!((&trial["verdict"], &trial["reward"]), (&verdict.into(), &rate.into()), "{trial}");
                assert_eq!((&trial["attempts"], &trial["error"]), (&1.into(), &Value::Null), "{trial}");
            }
        }
        let totals = &report["totals"];
        assert_eq!(
            (&totals["pass_rate_with"], &totals["delta"], &totals[flip]),
            (&rate.into(), &0.0.into(), &2.into())
        );
        assert_eq!((&totals["rho"], &totals["ce"]), (&Value::Null, &Value::Null));
        assert_eq!(
            (&report["agent"]["name"], &report["model"], &report["seed"]),
            (&agent.into(), &Value::Null, &7.into())
        );
        assert!(ended.out.contains("old-layout") && ended.out.contains("Δ 0 pp"), "{ended}");
    }
    home.finish();
}

#[test]
fn a_skill_that_decides_is_seen_and_what_a_command_spends_is_unknown() {
    let home = Home::new("decides");
    for name in ["one", "two"] {
        home.task(&Task::new(name));
    }
    let solve = "[ -f ~/.agents/skills/measured-words/SKILL.md ] && echo done > answer.txt; exit 0";
    let agent = ["--agent", "command", "--command", solve, "-k", "2"];
    let (ended, report) = home.eval(&[agent.as_slice(), &["--fail-if", "delta<1", "--fail-if", "broken>=1"]].concat());
    assert_eq!(ended.code, 0, "{ended}");
    assert_shape(&report);
    let totals = &report["totals"];
    assert_eq!((&totals["delta"], &totals["rescued"], &totals["broken"]), (&1.0.into(), &4.into(), &0.into()));
    for field in ["tokens_with", "tokens_without", "rho", "ce"] {
        assert_eq!(totals[field], Value::Null, "{field}");
    }
    let usage = &trial(&report, "one", "with-skill")["usage"];
    assert!(USAGE.iter().all(|class| usage[class].is_null()), "{usage}");
    // The same skill and the same seed are the same versions and the same order in a data folder of its own.
    let (ended, _) = home.eval(&[agent.as_slice(), &["--fail-if", "delta>0.5"]].concat());
    ended.told(3, &[]);
    let (ended, _) = home.eval(&[agent.as_slice(), &["--fail-if", "rho>0"]].concat());
    ended.told(3, &["unknown"]);
    home.finish();
}

#[test]
fn the_result_goes_to_standard_output_alone_where_it_is_asked_for() {
    let home = Home::new("stdout");
    home.task(&Task::new("one"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let args = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "oracle", "--json", "-"];
    let ended = home.run(&args);
    let report: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended}"));
    assert_shape(&report);
    assert!(ended.code == 0 && ended.err.contains("[2/2]"), "{ended}");
    home.finish();
}

#[test]
fn a_run_of_which_nothing_can_be_scored_has_failed_and_knows_nothing() {
    let home = Home::new("unscored");
    home.task(&Task { test: "exit 0\n".to_owned(), ..Task::new("silent") });
    let (ended, report) = home.eval(&["--agent", "nop"]);
    assert_eq!(ended.code, 1, "{ended}");
    assert_shape(&report);
    for field in ["pass_rate_with", "pass_rate_without", "delta", "tokens_with", "tokens_without", "rho", "ce"] {
        assert_eq!(report["totals"][field], Value::Null, "{field}");
    }
    assert_eq!((&report["totals"]["pairs_complete"], &report["totals"]["pairs_incomplete"]), (&0.into(), &1.into()));
    let trial = trial(&report, "silent", "no-skill");
    assert_eq!(
        (&trial["verdict"], &trial["attempts"], &trial["reward"]),
        (&"verifier_error".into(), &3.into(), &Value::Null)
    );
    assert!(trial["error"].as_str().unwrap().contains("no reward written (exit 0)"), "{trial}");
    home.finish();
}
