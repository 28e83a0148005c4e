//! `skilldelta analyze` and `skilldelta plan` as a person runs them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

fn skilldelta(args: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skilldelta"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Analyses standard input.
fn analyze(input: &str, more: &[&str]) -> Ran {
    skilldelta(&[&["analyze", "-"], more].concat(), input)
}

/// The folder of inputs that broke other programs; `None` where this machine does not have it.
fn cases() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

fn case(path: &str) -> Option<Value> {
    let text = std::fs::read_to_string(cases()?.join(path)).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn analyzed_case(path: &str) -> Option<Value> {
    let file = cases()?.join(path);
    Some(skilldelta(&["analyze", file.to_str().unwrap(), "--json"], "").json())
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 5e-7, "{found} {expected}");
}

/// Trials of single pairs with these counts: both, rescued, broken, neither.
fn pairs([both, rescued, broken, neither]: [usize; 4]) -> String {
    let kinds =
        [(both, "pass", "pass"), (rescued, "fail", "pass"), (broken, "pass", "fail"), (neither, "fail", "fail")];
    let results = kinds.iter().flat_map(|(n, without, with)| std::iter::repeat_n((without, with), *n));
    let mut csv = "task,condition,verdict,tokens\n".to_owned();
    for (i, (without, with)) in results.enumerate() {
        csv += &format!("t{i},no-skill,{without},1000\nt{i},with-skill,{with},{}\n", 1100 + i);
    }
    csv
}

#[test]
fn golden_tables_come_out_as_the_reference_says() {
    for (counts, p, mid_p, ci) in [
        ([1, 1, 7, 12], 0.070_312_5, 0.039_062_5, Some((-0.506_920_2, -0.025_559_1))),
        ([7, 3, 0, 0], 0.25, 0.125, Some((-0.0376, 0.6032))),
        ([10, 0, 0, 0], 1.0, 1.0, Some((-0.2775, 0.2775))),
        ([0, 6, 0, 0], 0.031_25, 0.015_625, None),
        ([20, 12, 3, 10], 0.035_156_25, 0.021_270_75, None),
    ] {
        let found = analyze(&pairs(counts), &["--json"]).json();
        let totals = &found["totals"];
        near(&totals["p_value"], p);
        near(&totals["p_mid"], mid_p);
        let n: usize = counts.iter().sum();
        near(&totals["delta"], (counts[1] as f64 - counts[2] as f64) / n as f64);
        assert_eq!(totals["pairs_complete"], n, "{counts:?}");
        if let Some((low, high)) = ci {
            let limits = |of: &str| ["low", "high"].map(|limit| totals[of][limit].as_f64().unwrap());
            let newcombe = limits("delta_ci_newcombe");
            assert!((newcombe[0] - low).abs() < 5e-5 && (newcombe[1] - high).abs() < 5e-5, "{counts:?} {totals}");
            let ours = limits("delta_ci");
            assert!(ours[0] <= newcombe[0] && newcombe[1] <= ours[1], "{counts:?} {totals}");
        }
    }
}

#[test]
fn trouble_is_not_a_score_and_is_counted_beside() {
    let Some(found) = analyzed_case("L04/trials.json") else { return };
    let want = case("L04/expect.json").unwrap();
    let (trials, totals) = (&found["trials"], &found["totals"]);
    assert_eq!((&trials["valid"], &trials["not_scored"]), (&want["valid_trials"], &want["infra_errors"]));
    assert_eq!(totals["pairs_complete"], want["complete_pairs"]);
    assert_eq!(totals["pass_rate_with"], want["with_rate_paired"]);
    assert_eq!(totals["pass_rate_without"], want["without_rate_paired"]);
    assert_eq!(totals["delta"], want["delta"]);
    assert_eq!(found["tasks_without_result"], want["tasks_without_result"]);
    let left_out: Vec<&Value> =
        found["incomplete_pairs"].as_array().unwrap().iter().map(|pair| &pair["task"]).collect();
    assert_eq!(json!(left_out), want["incomplete_pairs"]);
    assert_eq!(found["rows"][0]["ranked"], false);
    let shown = skilldelta(&["analyze", cases().unwrap().join("L04/trials.json").to_str().unwrap()], "").out;
    assert!(shown.contains("valid 5 of 8 trials (3 infra_error)"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("t3 ") && line.ends_with("no result")), "{shown}");
}

#[test]
fn few_pairs_make_no_claim() {
    let Some(want) = case("L06/expect.json") else { return };
    let one = analyzed_case("L06/one-pair.json").unwrap();
    assert_eq!(one["totals"]["delta"], want["one-pair"]["delta"]);
    assert_eq!((&one["rows"][0]["ranked"], &one["rows"][0]["rank"]), (&want["one-pair"]["ranked"], &Value::Null));
    assert_eq!(one["headline"]["word"], "Cannot be resolved");
    for name in ["ten-one-flip", "forty"] {
        let (found, want) = (analyzed_case(&format!("L06/{name}.json")).unwrap(), &want[name]);
        let totals = &found["totals"];
        near(&totals["delta"], want["delta"].as_f64().unwrap());
        near(&totals["p_value"], want["mcnemar_exact_p"].as_f64().unwrap());
        assert_eq!((&totals["rescued"], &totals["broken"]), (&want["wins"], &want["losses"]), "{name}");
        let ties = totals["both"].as_u64().unwrap() + totals["neither"].as_u64().unwrap();
        assert_eq!(want["ties"], ties, "{name}");
    }
}

#[test]
fn overhead_over_nothing_is_unknown() {
    let Some(rows) = case("L07/rows.json") else { return };
    let want = case("L07/expect.json").unwrap();
    let mut lines = String::new();
    for row in rows.as_array().unwrap() {
        for (condition, arm) in [("no-skill", "without"), ("with-skill", "with")] {
            let trial = json!({"task": row["task"], "condition": condition, "verdict": "pass", "tokens": row[arm]});
            lines += &format!("{trial}\n");
        }
    }
    let found = analyze(&lines, &["--json"]).json();
    for task in found["tasks"].as_array().unwrap() {
        let name = task["task"].as_str().unwrap();
        match want[name].as_f64() {
            Some(rho) => near(&task["rho"], rho),
            None => assert_eq!(task["rho"], Value::Null, "{name}"),
        }
    }
    assert_eq!(found["tasks"][1]["tokens_difference"], 500.0);
    near(&found["totals"]["rho"], want["ratio_of_sums"].as_f64().unwrap());
    assert_eq!(found["totals"]["pairs_with_tokens"], 2);
    let codes: Vec<&str> = found["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"zero_tokens"), "{codes:?}");
}

#[test]
fn unusable_input_is_told_problem_by_problem() {
    let ran = analyze("task,condition,verdict\na,with-skill,pass\na,no-skill,perhaps\nb,both,pass\n", &["--json"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("standard input:3:12: error[wrong_value]: `verdict` is \"perhaps\""), "{}", ran.err);
    assert!(ran.err.contains("standard input:4:3: error[wrong_value]: `condition` is \"both\""), "{}", ran.err);
    assert!(ran.err.ends_with("error: standard input cannot be used: 2 problems\n"), "{}", ran.err);
    let missing = skilldelta(&["analyze", "/nonexistent/trials.csv"], "");
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("check the path"), "{}", missing.err);
    assert_eq!(analyze(&pairs([1, 0, 0, 0]), &["--pass-mark", "7"]).code, Some(2));
}

#[test]
fn conditions_decide_the_exit_code() {
    let good = pairs([5, 9, 1, 5]);
    for (condition, code) in
        [("delta<0", 0), ("broken>=1", 3), ("delta_low<=0", 0), ("p_value>0.05", 0), ("rho>0.5", 0)]
    {
        assert_eq!(analyze(&good, &["--fail-if", condition]).code, Some(code), "{condition}");
    }
    let silent = "task,condition,verdict\nt,no-skill,infra_error\nt,with-skill,pass\n";
    assert_eq!(analyze(silent, &[]).code, Some(1));
    assert_eq!(skilldelta(&["analyze", "--paper", "--fail-if", "delta<0"], "").code, Some(2));
}

#[test]
fn names_from_a_file_cannot_move_the_terminals_cursor() {
    let hostile = pairs([1, 1, 0, 0]).replace("t0,", "\u{1b}[2J\u{7}t0,");
    let ran = analyze(&hostile, &[]);
    assert_eq!(ran.code, Some(0));
    assert!(
        !ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}') && ran.out.contains("\u{fffd}[2J\u{fffd}t0"),
        "{}",
        ran.out
    );
}

#[test]
fn the_whole_is_shown_as_text() {
    let mut rows = String::new();
    for i in 0..24 {
        let (without, with) = (i % 3 != 0, i % 8 != 1);
        for (condition, passed, tokens) in [("no-skill", without, 1000 + i), ("with-skill", with, 1300 + 2 * i)] {
            let trial = json!({
                "task": format!("t{}", i % 12), "condition": condition, "repeat": i / 12, "skill": format!("s{}", i % 2), "cluster": format!("r{}", i % 6),
                "reward": u8::from(passed), "usage": {"input": tokens, "output": 5}, "activated": condition == "with-skill",
                "tests_passed": 3 + u8::from(passed), "tests_total": 4,
            });
            rows += &format!("{trial}\n");
        }
    }
    let shown = analyze(&rows, &[]).out;
    for line in [
        "standard input: valid 48 of 48 trials",
        "total = input + output",
        "by skill: 2 of them",
        "skill opened in 24 of 24 with-skill trials",
        "test cases: ",
        "Cases of one run are not independent",
        "tier  row",
        "verdict (Holm among ",
        "Cannot be resolved. Too few skills to tell anything: with 2 skills",
        "It takes at least 6 skills in which the arms differ",
        "warning[few_clusters]",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn the_papers_table_is_built_in() {
    let ran = skilldelta(&["analyze", "--paper", "--json"], "");
    let found = ran.json();
    assert_eq!(
        (&found["delta_reproduced"], &found["rho_reproduced"], &found["ce_reproduced"]),
        (&json!(49), &json!(49), &json!(7))
    );
    assert_eq!((&found["resolvable"], found["rows"].as_array().unwrap().len()), (&json!(0), 49));
    let text = skilldelta(&["analyze", "--paper"], "").out;
    assert!(
        text.contains("can be resolved: none of 49") && text.contains("DISAGREES average token consumption"),
        "{text}"
    );
    let Some(cases) = cases() else { return };
    let file = cases.join("../data/swe-skills-bench-table2.csv");
    assert_eq!(skilldelta(&["analyze", file.to_str().unwrap(), "--json"], "").json(), found);
}

#[test]
fn a_plan_says_what_finds_the_effect_that_is_asked_for() {
    let found = |args: &[&str]| skilldelta(&[&["plan", "--broken-rate", "0", "--json"], args].concat(), "").json();
    let planned = found(&["--delta", "30", "--tasks", "20"]);
    assert_eq!(
        (&planned["wanted"]["needed"]["tasks"], &planned["power"]["tasks"]),
        (&25.into(), &20.into()),
        "{planned}"
    );
    let words =
        "A true Δ of 30 pp will be found in 58 % of such evaluations. To find it in 4 of 5 takes about 25 tasks;";
    assert!(planned["advice"].as_str().unwrap().starts_with(words), "{planned}");
    let open = found(&["--delta", "30"]);
    assert_eq!((&open["power"]["tasks"], &open["trials"]), (&25.into(), &50.into()), "as many as it takes: {open}");
    assert!(found(&["--tasks", "20"]).get("wanted").is_none());
    for (wrong, told) in [
        (vec![], "--tasks"),
        (vec!["--delta", "0.1"], "percentage points from 1 to 100"),
        (vec!["--delta", "ten"], "percentage points from 1 to 100"),
        (
            vec!["--delta", "90", "--broken-rate", "0.1"],
            "A true Δ of 90 pp is not possible where 10 % of pairs are broken.",
        ),
    ] {
        let ended = skilldelta(&[&["plan"], wrong.as_slice()].concat(), "");
        assert!(ended.code == Some(2) && ended.err.contains(told), "{wrong:?}: {}", ended.err);
    }
}

#[test]
fn a_plan_says_what_it_takes_and_what_it_can_show() {
    for (args, smallest) in
        [(vec!["--tasks", "5"], None), (vec!["--tasks", "20"], Some(0.366_459)), (vec!["--tasks", "50"], Some(0.15))]
    {
        let found = skilldelta(&[&["plan", "--broken-rate", "0", "--json"], args.as_slice()].concat(), "").json();
        match smallest {
            None => assert_eq!(found["power"]["smallest_delta"], Value::Null),
            Some(delta) => {
                let found = found["power"]["smallest_delta"].as_f64().unwrap();
                assert!((found - delta).abs() < 0.006, "{args:?} {found}");
            }
        }
        assert_eq!((&found["tokens"], &found["seconds"]), (&Value::Null, &Value::Null));
    }
    let text = skilldelta(&["plan", "--tasks", "30", "-k", "2", "--flip-rate", "0.1", "--within-share", "0.7"], "").out;
    for words in [
        "120 trials: 30 tasks × 2 repeats × 2 arms",
        "tokens  not known",
        "5 % of pairs broken",
        "approximate: repeats count as tasks",
        "or repeats of these",
        "Twice the tasks would narrow the interval of Δ by 29 %, twice the repeats by ",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    for wrong in [["--tasks", "0"], ["--flip-rate", "1.5"], ["--tasks", "many"]] {
        assert_eq!(skilldelta(&[&["plan"], wrong.as_slice()].concat(), "").code, Some(2), "{wrong:?}");
    }
}
