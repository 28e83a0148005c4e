//! The lines by which test programs tell their results when there is no report: `go test -v`, `go test -json`, `cargo test`, unittest, TAP.

use std::collections::BTreeMap;

use domain::test_case::{TestCase, TestStatus};
use serde_json::Value;

use super::ctrf::{MAX_NAME, MAX_TESTS, milliseconds};
use super::pytest::read_pytest;
use super::text::{head, without_colours};

/// A reader of one program's lines.
type Reader = fn(&str) -> Option<TestCase>;

/// The test cases that a verifier's output tells. Of several programs that were run after each other, the one whose lines are found first
/// in the order pytest, go, cargo, unittest, TAP.
#[must_use]
pub fn read_printed(output: &str) -> Vec<TestCase> {
    let tests = read_pytest(output);
    if !tests.is_empty() {
        return tests;
    }
    let readers: [Reader; 5] = [go_json, go_line, cargo_line, unittest_line, tap_line];
    let lines: Vec<String> = output.lines().map(|line| without_colours(line.trim_end())).collect();
    let read = |reader: &Reader| last_of_each(lines.iter().filter_map(|line| reader(line)));
    readers.iter().map(read).find(|tests| !tests.is_empty()).unwrap_or_default()
}

/// A test that is told twice (a rerun, a summary) counts once, as it was told last.
fn last_of_each(tests: impl Iterator<Item = TestCase>) -> Vec<TestCase> {
    let mut order = Vec::new();
    let mut by_name: BTreeMap<String, TestCase> = BTreeMap::new();
    for test in tests {
        if !by_name.contains_key(&test.name) {
            if order.len() >= MAX_TESTS {
                break;
            }
            order.push(test.name.clone());
        }
        by_name.insert(test.name.clone(), test);
    }
    order.iter().filter_map(|name| by_name.remove(name)).collect()
}

fn case(name: &str, status: TestStatus, seconds: Option<f64>) -> TestCase {
    let duration_ms = seconds.and_then(|seconds| milliseconds(seconds * 1000.0));
    TestCase { name: head(name.trim(), MAX_NAME), status, duration_ms, message: None }
}

/// `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}`.
fn go_json(line: &str) -> Option<TestCase> {
    let event: Value = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let status = match text("Action")? {
        "pass" => TestStatus::Passed,
        "fail" => TestStatus::Failed,
        "skip" => TestStatus::Skipped,
        _ => return None,
    };
    let name = format!("{}::{}", text("Package").unwrap_or("?"), text("Test")?);
    Some(case(&name, status, event.get("Elapsed").and_then(Value::as_f64)))
}

/// `--- PASS: TestA/sub (0.01s)`.
fn go_line(line: &str) -> Option<TestCase> {
    let (word, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let status = match word {
        "PASS" => TestStatus::Passed,
        "FAIL" => TestStatus::Failed,
        "SKIP" => TestStatus::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" (")?;
    Some(case(name, status, time.strip_suffix("s)")?.parse().ok()))
}

/// `test tests::a ... ok`, and `ignored, reason` or `FAILED` in its place.
fn cargo_line(line: &str) -> Option<TestCase> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let status = match word.split([',', ' ']).next()? {
        "ok" => TestStatus::Passed,
        "FAILED" => TestStatus::Failed,
        "ignored" => TestStatus::Skipped,
        _ => return None,
    };
    Some(case(name.trim_end_matches(" - should panic"), status, None))
}

/// `test_a (pkg.Case.test_a) ... ok`, and `FAIL`, `ERROR` or `skipped 'why'` in its place.
fn unittest_line(line: &str) -> Option<TestCase> {
    let (name, word) = line.rsplit_once(" ... ")?;
    let status = match word.split([' ', '\'']).next()? {
        "ok" => TestStatus::Passed,
        "FAIL" | "ERROR" => TestStatus::Failed,
        "skipped" => TestStatus::Skipped,
        _ => return None,
    };
    let (method, class) = name.strip_suffix(')')?.split_once(" (")?;
    let class = class.strip_suffix(&format!(".{method}")).unwrap_or(class);
    (!method.contains(' ')).then(|| case(&format!("{class}::{method}"), status, None))
}

/// `ok 1 - name`, `not ok 2 - name # TODO why`, `ok 3 # SKIP why`.
fn tap_line(line: &str) -> Option<TestCase> {
    let (passed, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ")?),
    };
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    number.parse::<u32>().ok()?;
    let (name, directive) =
        rest.split_once(" # ").or(rest.strip_prefix("# ").map(|rest| ("", rest))).unwrap_or((rest, ""));
    let directive = directive.to_ascii_uppercase();
    let status = match passed {
        _ if directive.starts_with("SKIP") || directive.starts_with("TODO") => TestStatus::Skipped,
        true => TestStatus::Passed,
        false => TestStatus::Failed,
    };
    let name = name.trim_start_matches("- ").trim();
    Some(case(if name.is_empty() { number } else { name }, status, None))
}
