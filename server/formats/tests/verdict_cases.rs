//! Reward files, test reports and verdicts, as tables; the shared cases where they are at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use domain::task::Scoring;
use domain::test_case::TestStatus;
use formats::verdict::ctrf::{merge, read_ctrf};
use formats::verdict::pytest::{collection_error, read_pytest};
use formats::verdict::setup_failure::setup_failure;
use formats::verdict::{Judgement, VerifierEnding, VerifierRun, judge, read_reward};

const ZERO: &str = r#"{"results":{"tool":{"name":"pytest"},"summary":{"tests":0,"start":1,"stop":2},"tests":[]}}"#;
const SKIPPED: &str = r#"{"results":{"tests":[{"name":"a","status":"skipped"},{"name":"b","status":"pending"}]}}"#;
const UNCOLLECTED: &str = r#"{"results":{"tests":[
    {"name":"tests/test_pen.py","status":"other","message":"ImportError: No module named sheepfold"}]}}"#;
const GREEN: &str = r#"{"results":{"tests":[{"name":"a","status":"passed","duration":12}]}}"#;
const RED: &str =
    r#"{"results":{"tests":[{"name":"a","status":"passed"},{"name":"b","status":"failed","message":"no"}]}}"#;
const APT: &str = "Reading package lists...\nE: Unable to locate package no-such-package-here\n";
const NO_CTRF_OPTION: &str =
    "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --ctrf /logs/verifier/ctrf.json";

fn case_file(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/cases/verdict/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn shared(path: &str) -> Option<String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")).join(path);
    let text = fs::read_to_string(&path).ok();
    if text.is_none() {
        println!("skipped: {} is not there", path.display());
    }
    text
}

fn reading(txt: Option<&str>, json: Option<&str>) -> Result<Option<f64>, &'static str> {
    match read_reward(txt.map(str::as_bytes), json.map(str::as_bytes)) {
        Ok(reward) => Ok(reward.map(|reward| reward.value)),
        Err(error) => Err(error.code()),
    }
}

#[test]
fn rewards_are_read_or_refused_by_kind() {
    for (txt, json, want) in [
        (None, None, Ok(None)),
        (Some("1\n"), None, Ok(Some(1.0))),
        (Some("1\r\n"), None, Ok(Some(1.0))),
        (Some("  0.5 \r\n"), None, Ok(Some(0.5))),
        (Some("\u{feff}1"), None, Ok(Some(1.0))),
        (Some(".50\n"), None, Ok(Some(0.5))),
        (Some("-0"), None, Ok(Some(0.0))),
        (Some(" \n"), None, Err("empty")),
        (Some("nan"), None, Err("not_finite")),
        (Some("-inf"), None, Err("not_finite")),
        (Some("10"), None, Err("out_of_range")),
        (Some("1.0000001"), None, Err("out_of_range")),
        (Some("1abc"), None, Err("not_a_number")),
        (Some("0,5"), None, Err("not_a_number")),
        (Some("1\n0\n"), None, Err("not_a_number")),
        (Some("0x1"), None, Err("not_a_number")),
        (Some("1"), Some(r#"{"reward":1}"#), Ok(Some(1.0))),
        (Some("0"), Some(r#"{"reward":1}"#), Err("conflict")),
        (Some("1"), Some(r#"{"reward":"#), Err("bad_json")),
        (Some("oops"), Some("1"), Err("not_a_number")),
        (None, Some("0.5"), Ok(Some(0.5))),
        (None, Some(r#"{"reward":true}"#), Err("not_a_number")),
        (None, Some(r#"{"reward":NaN}"#), Err("bad_json")),
        (None, Some(r#"{"reward":"1"}"#), Err("not_a_number")),
        (None, Some(r#"{"score":1}"#), Err("not_a_number")),
        (None, Some("[1]"), Err("not_a_number")),
        (None, Some(r#"{"reward":2}"#), Err("out_of_range")),
        (None, Some(""), Err("empty")),
    ] {
        assert_eq!(reading(txt, json), want, "{txt:?} {json:?}");
    }
    let sign = read_reward(Some(b"-0"), None).unwrap().unwrap().value.is_sign_negative();
    assert!(!sign, "-0 reads as 0");
    let metrics = read_reward(None, Some(br#"{"reward":1,"lint":0.25,"note":"x"}"#)).unwrap().unwrap().metrics;
    assert_eq!(metrics.into_iter().collect::<Vec<_>>(), [("lint".to_owned(), 0.25)]);
}

#[test]
fn a_broken_reward_is_shown_but_not_whole() {
    let text = format!("Traceback {}", "x".repeat(5000));
    let message = read_reward(Some(text.as_bytes()), None).unwrap_err().to_string();
    assert!(message.contains("reward.txt") && message.contains("Traceback xxx"), "{message}");
    assert!(message.chars().count() < 260, "{message}");
}

#[test]
fn the_shared_rewards_read_as_written_there() {
    for table in ["H06/cases.json", "H09/cases.json"] {
        let Some(text) = shared(table) else { continue };
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            let txt = row["bytes"].as_str().or_else(|| row["txt"].as_str());
            let read = read_reward(txt.map(str::as_bytes), row["json"].as_str().map(str::as_bytes));
            match row["right"].as_f64() {
                Some(want) => assert_eq!(read.as_ref().unwrap().as_ref().unwrap().value, want, "{table} {row}"),
                None => {
                    assert_eq!(format!("error:{}", read.as_ref().unwrap_err().code()), row["right"], "{table} {row}")
                }
            }
            if let Some(metrics) = row["metrics"].as_object() {
                let read = read.unwrap().unwrap().metrics;
                assert_eq!(serde_json::to_value(read).unwrap(), serde_json::json!(metrics), "{table} {row}");
            }
        }
    }
}

#[test]
fn a_report_of_pytest_json_ctrf_is_read_with_seconds_as_milliseconds() {
    let tests = read_ctrf(case_file("pytest-json-ctrf-0.3.5.ctrf.json").as_bytes()).unwrap();
    let statuses: Vec<_> = tests.iter().map(|test| (test.name.rsplit("::").next().unwrap(), test.status)).collect();
    let (passed, failed, skipped) = (TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped);
    assert_eq!(
        statuses,
        [
            ("test_pass", passed),
            ("test_fail", failed),
            ("test_skip", skipped),
            ("test_setup_error", failed),
            ("test_xfail", skipped),
            ("test_param", passed),
            ("test_in_class", passed),
        ]
    );
    assert_eq!(tests[0].duration_ms, Some(251));
    assert_eq!(tests[0].message, None);
    assert!(tests[1].message.as_ref().unwrap().contains("one is not two"));
}

#[test]
fn durations_follow_the_unit_of_the_report() {
    let report = |start: &str, duration: &str| {
        let text = format!(
            r#"{{"results":{{"summary":{{"start":{start}}},"tests":[{{"name":"a","status":"passed","duration":{duration}}}]}}}}"#
        );
        read_ctrf(text.as_bytes()).unwrap()[0].duration_ms
    };
    for (start, duration, want) in [
        ("1796040125632", "250", Some(250)),
        ("1796040125632", "250.4", Some(250)),
        ("1796040125.6", "0.25", Some(250)),
        ("1796040125", "2", Some(2000)),
        ("1", "1.5", Some(1500)),
        ("1", "150", Some(150)),
        ("1", "-3", None),
        ("1", "1e300", None),
        ("1", "\"x\"", None),
    ] {
        assert_eq!(report(start, duration), want, "{start} {duration}");
    }
}

#[test]
fn several_reports_are_merged_and_equal_names_stay_apart() {
    let read = |text: &str| read_ctrf(text.as_bytes()).unwrap();
    let tests = merge(vec![("ctrf_a.json".to_owned(), read(RED)), ("ctrf_b.json".to_owned(), read(GREEN))]);
    let names: Vec<_> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["ctrf_a.json: a", "b", "ctrf_b.json: a"]);
}

#[test]
fn the_lines_of_pytest_stand_in_for_a_missing_report() {
    let output = case_file("pytest-8.4.1-rA-v.txt");
    let tests = read_pytest(&output);
    let count = |status| tests.iter().filter(|test| test.status == status).count();
    assert_eq!((count(TestStatus::Passed), count(TestStatus::Failed), count(TestStatus::Skipped)), (4, 2, 2));
    let progress = output.split("short test summary").next().unwrap();
    assert_eq!(read_pytest(progress).len(), 8);
    let coloured = "\u{1b}[32mPASSED\u{1b}[0m t/test_ok.py::\u{1b}[1mtest_pass\u{1b}[0m";
    assert_eq!(read_pytest(coloured)[0].name, "t/test_ok.py::test_pass");
    let broken = case_file("pytest-8.4.1-collection-error.txt");
    assert!(read_pytest(&broken).is_empty());
    let cause = collection_error(&broken).unwrap();
    assert!(cause.contains("t/test_imp.py") && cause.contains("No module named 'sheepfold'"), "{cause}");
    assert_eq!(collection_error(&output), None);
}

fn run(reward_txt: Option<&str>, ctrf: &[&str], output: &str) -> VerifierRun {
    VerifierRun {
        ending: VerifierEnding::Exited { code: 0 },
        reward_txt: reward_txt.map(|text| text.as_bytes().to_vec()),
        reward_json: None,
        ctrf: ctrf.iter().enumerate().map(|(i, text)| (format!("ctrf{i}.json"), text.as_bytes().to_vec())).collect(),
        junit: Vec::new(),
        checks: None,
        output: output.to_owned(),
        pass_mark: 1.0,
        scoring: Scoring::Reward,
    }
}

/// One line: verdict word, what it says, and the codes of the flags.
fn told(judgement: &Judgement) -> String {
    let flags: Vec<_> = judgement.flags.iter().map(|flag| flag.code.as_str()).collect();
    let detail = judgement.verdict.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!("{}{detail} {flags:?}", judgement.verdict.word())
}

fn check(run: &VerifierRun, want: &str) {
    let judgement = judge(run);
    let told = told(&judgement);
    assert!(told.starts_with(want), "{told}\nis not {want}\n{run:?}");
    assert_eq!(
        judgement.reward.is_some(),
        judgement.verdict.scored().is_some(),
        "a reward exactly where it is scored: {told}"
    );
}

#[test]
fn verdicts_follow_reward_and_tests() {
    for (reward, ctrf, output, want) in [
        (Some("1"), &[GREEN][..], "", "pass []"),
        (Some("0"), &[RED], "", "fail []"),
        (Some("0.667"), &[RED], "", "fail []"),
        (Some("1"), &[RED], "", r#"pass ["reward_disagrees"]"#),
        (Some("0"), &[GREEN], "", r#"fail ["reward_disagrees"]"#),
        (Some("1"), &[], "", r#"pass ["no_report"]"#),
        (Some("0"), &[], "", r#"fail ["no_report"]"#),
        (Some("1"), &[], "PASSED t/a.py::x", "pass []"),
        (Some("1"), &["{"], "PASSED t/a.py::x", r#"pass ["bad_report"]"#),
        // H07
        (None, &[], "", "verifier_error: no reward written (exit 0) []"),
        (None, &[GREEN], "", "verifier_error: no reward written (exit 0) []"),
        // H06, H09
        (Some("nan"), &[GREEN], "", "verifier_error: reward.txt holds a number that is not finite"),
        // H10 and the trap of a reward 0 that measured nothing
        (Some("0"), &[], APT, "verifier_error: could not set up: no test ran, the reward is 0"),
        (Some("0"), &[], NO_CTRF_OPTION, "verifier_error: could not set up"),
        (Some("0"), &[ZERO], APT, "verifier_error: could not set up"),
        (Some("0"), &[RED], APT, r#"fail ["setup_failure"]"#),
        (Some("0"), &[], &format!("{APT}FAILED t/a.py::x - no"), r#"fail ["setup_failure"]"#),
        (Some("1"), &[GREEN], APT, r#"pass ["setup_failure"]"#),
        (Some("0.5"), &[], APT, r#"fail ["setup_failure", "no_report"]"#),
        // H11
        (Some("1"), &[ZERO], "", "verifier_error: no test ran (0 skipped)"),
        (Some("0"), &[ZERO], "", "verifier_error: no test ran (0 skipped)"),
        (Some("1"), &[SKIPPED], "", "verifier_error: no test ran (2 skipped)"),
        (
            Some("1"),
            &[UNCOLLECTED],
            "",
            "verifier_error: no test ran although the reward says 1: the tests could not be collected: \
             tests/test_pen.py: ImportError: No module named sheepfold",
        ),
        (Some("0"), &[UNCOLLECTED], "", r#"fail ["not_collected"]"#),
        // One of several reports is enough.
        (Some("1"), &[ZERO, GREEN], "", "pass []"),
    ] {
        check(&run(reward, ctrf, output), want);
    }
    let real = run(
        Some("0.0\n"),
        &[&case_file("pytest-json-ctrf-0.3.5-collection-error.ctrf.json")],
        &case_file("pytest-8.4.1-collection-error.txt"),
    );
    check(&real, r#"fail ["not_collected"]"#);
}

#[test]
fn the_ending_decides_over_any_reward() {
    let ended = |ending| VerifierRun { ending, ..run(Some("1"), &[GREEN], "") };
    let exited = |code| VerifierRun { ending: VerifierEnding::Exited { code }, ..run(None, &[], "") };
    check(
        &ended(VerifierEnding::TimedOut { limit: Duration::from_secs(900) }),
        "verifier_error: the verifier did not end within its limit of 900 s",
    );
    check(
        &ended(VerifierEnding::OutOfMemory { limit_mb: 64 }),
        "infra_error: out of memory in the verifier (limit 64 MB); raise the task's memory",
    );
    check(&ended(VerifierEnding::Exited { code: 127 }), "verifier_error: could not set up (exit 127)");
    check(&ended(VerifierEnding::Exited { code: 126 }), "verifier_error: could not set up (exit 126)");
    check(&ended(VerifierEnding::Exited { code: 1 }), "pass []");
    check(&exited(1), "verifier_error: no reward written (exit 1)");
    check(&exited(137), "verifier_error: no reward written (exit 137: killed by signal 9)");
    let rc6 = VerifierRun { output: "curl: (6) Could not resolve host: astral.sh".to_owned(), ..exited(6) };
    check(&rc6, "verifier_error: no reward written (exit 6); could not set up: curl: (6) Could not resolve host");
}

#[test]
fn a_lower_pass_mark_is_kept() {
    check(&VerifierRun { pass_mark: 0.6, ..run(Some("0.667"), &[GREEN], "") }, "pass []");
}

#[test]
fn the_shared_reports_are_judged_as_written_there() {
    for (file, want) in [
        ("H11/zero.ctrf.json", "verifier_error: no test ran"),
        ("H11/all-skipped.ctrf.json", "verifier_error: no test ran"),
        (
            "H11/collect-error.ctrf.json",
            "verifier_error: no test ran although the reward says 1: the tests could not be collected",
        ),
    ] {
        if let Some(report) = shared(file) {
            check(&run(Some("1"), &[&report], ""), want);
        }
    }
}

#[test]
fn signs_of_a_failed_installation_are_quoted() {
    for (line, want) in [
        ("/verifier/test.sh: line 3: uvx: command not found", true),
        ("/tests/test.sh: 3: uvx: not found", true),
        ("myprogram: command not found", false),
        ("/tests/test.sh: line 3: agents-own-program: command not found", false),
        ("curl: (7) Failed to connect to astral.sh port 443 after 3 ms: Could not connect to server", true),
        ("curl: (7) Failed to connect to localhost port 8080 after 0 ms: Could not connect to server", false),
        ("ERROR: No matching distribution found for pytest==8.4.1", true),
        ("/usr/bin/python3: No module named pytest", true),
        ("E   ModuleNotFoundError: No module named 'sheepfold'", false),
        ("AssertionError: expected 3, got 4", false),
    ] {
        assert_eq!(setup_failure(&format!("before\n{line}\nafter")), want.then(|| line.to_owned()), "{line}");
    }
}

#[test]
fn no_bytes_make_a_reader_panic() {
    let seeds = [
        ZERO,
        UNCOLLECTED,
        RED,
        r#"{"reward":0.5,"x":1}"#,
        "1\r\n",
        &case_file("pytest-8.4.1-rA-v.txt"),
        &case_file("pytest-9.2.0.junit.xml"),
    ]
    .map(str::to_owned);
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut judged = 0;
    for round in 0..3000 {
        let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
        for _ in 0..=random(6) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, b"\"{}[]:,\x1b\n\xff"[random(10)]),
            }
        }
        let judgement = judge(&VerifierRun {
            reward_txt: (random(2) == 0).then(|| bytes.clone()),
            reward_json: (random(2) == 0).then(|| bytes.clone()),
            ctrf: vec![("ctrf.json".to_owned(), bytes.clone())],
            junit: vec![("junit.xml".to_owned(), bytes.clone())],
            checks: (random(2) == 0).then(|| bytes.clone()),
            scoring: if random(2) == 0 { Scoring::Reward } else { Scoring::PassRate },
            output: String::from_utf8_lossy(&bytes).into_owned(),
            ..run(None, &[], "")
        });
        judged += usize::from(!judgement.verdict.word().is_empty());
    }
    assert_eq!(judged, 3000);
}
