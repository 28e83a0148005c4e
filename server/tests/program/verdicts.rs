//! The troubles of verifiers and agents that were met elsewhere (the H cases), each as a tiny task: many in one evaluation.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{Ended, Home, KeptTrial, PASS, Task, rewarding, shared, trial};

/// The agent that runs a task's instruction as a script.
const SCRIPT_AGENT: [&str; 4] = ["--agent", "command", "--command", "exec sh \"$INSTRUCTION_FILE\""];
const LOGS: &str = "[verifier.env]\nLOGS = \"/logs\"\n";

/// A task, and what its trials must say: verdict, reward, and a part of the error.
struct Case {
    task: Task,
    verdict: &'static str,
    reward: Option<f64>,
    error: &'static str,
}

fn case(task: Task, verdict: &'static str, reward: Option<f64>, error: &'static str) -> Case {
    Case { task, verdict, reward, error }
}

/// A task whose verifier alone matters.
fn judged(name: &str, test: &str) -> Task {
    Task { settings: LOGS.to_owned(), ..Task::script(name, "true\n", test) }
}

/// Evaluates all tasks at once and holds both arms of each against what is wanted.
fn check(home: &Home, cases: &[Case]) -> (Ended, Value) {
    for case in cases {
        home.task(&case.task);
    }
    let (ended, report) = home.eval(&SCRIPT_AGENT);
    for case in cases {
        for condition in ["no-skill", "with-skill"] {
            let trial = trial(&report, &case.task.name, condition);
            let error = trial["error"].as_str().unwrap_or_default();
            assert_eq!(trial["verdict"], case.verdict, "{trial}");
            assert_eq!(trial["reward"].as_f64(), case.reward, "{trial}");
            assert!(error.contains(case.error), "{:?} is not in {trial}", case.error);
            let attempts = if matches!(case.verdict, "pass" | "fail") { 1 } else { 3 };
            assert_eq!(trial["attempts"], attempts, "{trial}");
        }
    }
    (ended, report)
}

#[test]
fn a_reward_is_read_as_one_number_or_not_at_all() {
    let home = Home::new("rewards");
    let reward = |name: &str, bytes: &str| judged(name, &rewarding(bytes));
    let json = |name: &str, txt: Option<&str>, json: &str| {
        let txt = txt.map(rewarding).unwrap_or_default();
        judged(name, &format!("{txt}printf '%s' '{json}' > /logs/verifier/reward.json\n"))
    };
    check(
        &home,
        &[
            // H06
            case(reward("h06-one", "1\\n"), "pass", Some(1.0), ""),
            case(reward("h06-bom", "\\357\\273\\2771"), "pass", Some(1.0), ""),
            case(reward("h06-blanks", "  0.5 \\r\\n"), "fail", Some(0.5), ""),
            case(reward("h06-minus-zero", "-0"), "fail", Some(0.0), ""),
            case(reward("h06-empty", ""), "verifier_error", None, "empty"),
            case(reward("h06-nan", "nan"), "verifier_error", None, "not finite"),
            case(reward("h06-ten", "10"), "verifier_error", None, "10"),
            case(reward("h06-words", "1abc"), "verifier_error", None, "1abc"),
            // H09
            case(json("h09-equal", Some("1"), r#"{"reward":1,"lint":0.25}"#), "pass", Some(1.0), ""),
            case(json("h09-conflict", Some("0"), r#"{"reward":1}"#), "verifier_error", None, "reward.json"),
            case(json("h09-broken", Some("1"), r#"{"reward":"#), "verifier_error", None, "reward.json"),
            // H23: a value with Windows line ends reads as it is meant.
            case(reward("h23-crlf", "1\\r\\n"), "pass", Some(1.0), ""),
        ],
    );
    home.finish();
}

#[test]
fn a_verifier_that_measured_nothing_gives_no_score() {
    let home = Home::new("nothing");
    let mut cases = vec![
        case(judged("none-0", "exit 0\n"), "verifier_error", None, "no reward written (exit 0)"),
        case(judged("none-1", "exit 1\n"), "verifier_error", None, "no reward written (exit 1)"),
        case(judged("absent", "/no/such/program\n"), "verifier_error", None, "exit 127"),
        case(judged("slow", &format!("{PASS}sleep 600\n")), "verifier_error", None, "did not end within its limit"),
    ];
    cases[3].task.verifier_seconds = 1.0;
    if let Some(test) = shared("H07/dir.sh") {
        cases.push(case(judged("h07-dir", &test), "verifier_error", None, "no reward written"));
    }
    if let Some(test) = shared("H10/test.sh") {
        cases.push(case(judged("h10", &test), "verifier_error", None, "could not set up"));
    }
    for (name, error) in [("zero", "no test ran"), ("all-skipped", "no test ran"), ("collect-error", "sheepfold")] {
        if let Some(report) = shared(&format!("H11/{name}.ctrf.json")) {
            let test = format!("cp \"$(dirname \"$0\")/report\" /logs/verifier/ctrf.json\n{PASS}");
            let task = judged(&format!("h11-{name}"), &test).file("tests/report", &report);
            cases.push(case(task, "verifier_error", None, error));
        }
    }
    let (ended, report) = check(&home, &cases);
    assert_eq!(ended.code, 1, "{ended}");
    assert_eq!(report["totals"]["pairs_complete"], 0);
    home.finish();
}

/// Looks for what the agent has started: whether its heartbeat still grows, and whether any process but the verifier's own is left.
const DEAD: &str = r#"before=$(wc -l < /tmp/heartbeat); sleep 2; after=$(wc -l < /tmp/heartbeat)
others=$(for p in /proc/[0-9]*; do tr '\0' ' ' < "$p/cmdline" 2>/dev/null; echo; done | grep -c "[i]nstruction")
echo "heartbeat $before $after, of the agent: $others"
[ "$before" -ge 1 ] && [ "$before" = "$after" ] && [ "$others" = 0 ] && echo 1 > /logs/verifier/reward.txt
[ -e /logs/verifier/reward.txt ] || echo 0 > /logs/verifier/reward.txt
"#;

#[test]
fn an_agent_that_is_ended_is_told_by_its_cause() {
    let home = Home::new("causes");
    let Some(spin) = shared("H03/agent.sh") else { return };
    let (oom, self137) = (shared("H05/oom.sh").unwrap(), shared("H05/self137.sh").unwrap());
    let small = |task: Task| Task { memory_mb: 64, ..task };
    let fails = rewarding("0");
    let spin = Task { agent_seconds: 5.0, ..Task::script("h03", &spin, DEAD) };
    check(
        &home,
        &[
            case(spin, "fail", Some(1.0), "timed out (limit 5 s)"),
            case(small(Task::script("h05-agent", &oom, &fails)), "fail", Some(0.0), "out of memory (limit 64 MB)"),
            case(
                small(judged("h05-verifier", &oom)),
                "infra_error",
                None,
                "out of memory in the verifier (limit 64 MB)",
            ),
            case(Task::script("h05-kill", &self137, &fails), "fail", Some(0.0), "killed by signal 9"),
            // An agent that ends badly but has done its work has done its work.
            case(Task::script("h05-done", "echo done > answer.txt; exit 3\n", PASS), "pass", Some(1.0), ""),
        ],
    );
    for kept in home.kept(1).iter().filter(|kept| kept.task == "h03") {
        let spent = kept.last().phases.agent.unwrap();
        assert!(spent >= 5000, "{}: {spent} ms", kept.name());
    }
    home.finish();
}

#[test]
fn odd_scripts_output_and_files_do_no_harm() {
    let home = Home::new("odd");
    let Some(emit) = shared("H19/emit.sh") else { return };
    let crlf = shared("H23/crlf-test.sh").unwrap().replace("\r\n", "\n").replace('\n', "\r\n");
    let locked = shared("H24/agent.sh").unwrap();
    let cases = [
        case(Task::script("h19", &emit, PASS), "pass", Some(1.0), ""),
        case(judged("h23-noexec", &shared("H23/noexec-test.sh").unwrap()), "pass", Some(1.0), ""),
        case(judged("h23-value", &shared("H23/crlf-value.sh").unwrap()), "pass", Some(1.0), ""),
        case(
            Task {
                settings: LOGS.to_owned(),
                ..Task::script("h24", &locked, &format!("cp -a /app /logs/verifier/app\n{PASS}"))
            },
            "pass",
            Some(1.0),
            "",
        ),
    ];
    check(&home, &cases);
    let kept: BTreeMap<String, KeptTrial> = home.kept(1).into_iter().map(|kept| (kept.name(), kept)).collect();
    let bytes = home.blob(kept["h19 no-skill"].last().agent_log);
    let lines = [b"\xe7\xbe\x8a\n".as_slice(), b"bad \xff\xfe bytes\n", b"nul \0 here\n", b"\rstep 3/3"];
    for line in lines {
        assert!(bytes.windows(line.len()).any(|window| window == line), "{line:?} is not in {bytes:?}");
    }
    let trace = String::from_utf8(home.blob(kept["h19 no-skill"].last().trace)).unwrap();
    assert!(trace.contains('羊') && trace.contains("step 3/3") && !trace.contains("step 2/3"), "{trace}");
    assert!(!trace.contains("\\u001b") && trace.contains("red"), "{trace}");
    // A script with Windows line ends is refused before anything runs, or converted.
    home.task(&judged("h23-crlf", &crlf));
    let ended = home.run(&["check", &home.tasks()]);
    assert!(ended.out.contains("h23-crlf") && ended.out.contains("line ends"), "{ended}");
    std::fs::remove_dir_all(home.data()).unwrap();
    home.finish();
}

#[test]
fn an_image_follows_its_content_and_both_arms_have_the_same() {
    let home = Home::new("h25");
    let Some(v1) = shared("H25/v1/Dockerfile") else { return };
    let v2 = shared("H25/v2/Dockerfile").unwrap();
    let stand_in = format!("debian:bookworm-local={}", home.base);
    let show = Task { test: format!("cat /version /pen.txt\n{PASS}"), ..Task::new("pen") };
    let mut ids = Vec::new();
    for (number, (dockerfile, pen, want)) in
        [(&v1, "3", "v1\n3"), (&v1, "3", "v1\n3"), (&v2, "3", "v2\n3"), (&v2, "4", "v2\n4")].into_iter().enumerate()
    {
        home.task(&show);
        home.write("tasks/pen/environment/Dockerfile", format!("{dockerfile}\nLABEL test={}\n", home.mark));
        home.write("tasks/pen/environment/pen.txt", pen);
        let (ended, report) = home.eval(&["--agent", "nop", "--image-stand-in", &stand_in]);
        assert_eq!((ended.code, &report["totals"]["both"]), (0, &1.into()), "{ended}");
        let kept = home.kept(number as i64 + 1);
        let images: Vec<_> = kept.iter().map(|kept| kept.last().image.clone().unwrap()).collect();
        assert!(images[0] == images[1] && images[0].starts_with("sha256:"), "{images:?}");
        assert!(kept.iter().all(|kept| kept.last().build_context.is_some()));
        for trial in &kept {
            let log = home.blob(trial.last().verifier_log);
            assert!(String::from_utf8_lossy(&log).starts_with(want), "{log:?}");
        }
        ids.push(images[0].clone());
    }
    // A change of times alone builds nothing, every other change does.
    assert_eq!(ids[0], ids[1]);
    assert!(ids[1] != ids[2] && ids[2] != ids[3], "{ids:?}");
    home.finish();
}
