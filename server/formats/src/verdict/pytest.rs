//! The lines that pytest prints (`-rA`, `-v`), for runs that left no report file.

use domain::test_case::{TestCase, TestStatus};

use super::ctrf::{MAX_MESSAGE, MAX_NAME, MAX_TESTS};
use super::text::{head, without_colours};

const WORDS: [&str; 6] = ["PASSED", "XPASS", "FAILED", "ERROR", "SKIPPED", "XFAIL"];

/// The test cases named in pytest's short summary, or else in its verbose progress lines; empty where there are neither. Durations are
/// not printed there.
#[must_use]
pub fn read_pytest(output: &str) -> Vec<TestCase> {
    let lines: Vec<String> = output.lines().map(|line| without_colours(line.trim_end())).collect();
    let read = |reader: fn(&str) -> Option<TestCase>| -> Vec<TestCase> {
        lines.iter().filter_map(|line| reader(line)).take(MAX_TESTS).collect()
    };
    let summary = read(summary_line);
    if summary.is_empty() { read(progress_line) } else { summary }
}

/// Why pytest could not even collect its tests, in its own words; `None` where it could.
#[must_use]
pub fn collection_error(output: &str) -> Option<String> {
    let lines = || output.lines().map(|line| without_colours(line.trim_end()));
    let head_line = lines().find(|line| line.contains("ERROR collecting "))?;
    let cause = lines()
        .skip_while(|line| !line.contains("ERROR collecting "))
        .filter_map(|line| line.strip_prefix("E ").map(|cause| cause.trim().to_owned()))
        .find(|cause| !cause.is_empty());
    let place = head_line.trim_matches(|c: char| c == '_' || c.is_whitespace()).to_owned();
    Some(head(&cause.map_or_else(|| place.clone(), |cause| format!("{place}: {cause}")), MAX_MESSAGE))
}

/// `PASSED tests/test_a.py::test_b`, `FAILED … - message`, `SKIPPED [1] tests/test_a.py:4: reason`.
fn summary_line(line: &str) -> Option<TestCase> {
    let (word, rest) = line.split_once(' ')?;
    let status = status(word)?;
    if word == "SKIPPED" {
        let (place, reason) = rest.strip_prefix('[')?.split_once("] ")?.1.split_once(": ")?;
        return Some(case(place, status, Some(reason)));
    }
    let (name, message) = match rest.split_once(" - ") {
        Some((name, message)) => (name, Some(message)),
        None => (rest, None),
    };
    is_test(name).then(|| case(name, status, message))
}

/// `tests/test_a.py::test_b PASSED [ 50%]`; the name of a parametrised test may hold blanks.
fn progress_line(line: &str) -> Option<TestCase> {
    let line = format!("{line} ");
    WORDS.iter().find_map(|word| {
        let (name, _) = line.split_once(&format!(" {word} "))?;
        is_test(name).then(|| status(word).map(|status| case(name, status, None)))?
    })
}

fn status(word: &str) -> Option<TestStatus> {
    match word {
        "PASSED" | "XPASS" => Some(TestStatus::Passed),
        // A fixture that broke; a file that could not be collected has no `::` and is no test.
        "FAILED" | "ERROR" => Some(TestStatus::Failed),
        "SKIPPED" | "XFAIL" => Some(TestStatus::Skipped),
        _ => None,
    }
}

/// `test pen::counts ... FAILED` is a line of cargo's.
fn is_test(name: &str) -> bool {
    name.contains("::") && !name.contains("  ") && !name.ends_with(" ...")
}

fn case(name: &str, status: TestStatus, message: Option<&str>) -> TestCase {
    TestCase {
        name: head(name.trim(), MAX_NAME),
        status,
        duration_ms: None,
        message: message.map(|message| head(message, MAX_MESSAGE)),
    }
}
