//! Test reports in the Common Test Report Format, as pytest-json-ctrf and others write them; several may come from one run.

use std::collections::BTreeSet;

use domain::test_case::{TestCase, TestStatus};
use serde_json::Value;

use super::text::{head, tail};

/// Most test cases kept of one run.
pub const MAX_TESTS: usize = 5000;
/// Characters of a name that are kept.
pub const MAX_NAME: usize = 500;
/// Characters of a message, and of a trace, that are kept.
pub const MAX_MESSAGE: usize = 2000;
/// Largest report that is read, in bytes.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// A report that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CtrfError {
    /// No JSON.
    #[error("it is no valid JSON")]
    Json(#[from] serde_json::Error),
    /// JSON without `results.tests`.
    #[error("it has no list `results.tests`")]
    Shape,
    /// Larger than [`MAX_BYTES`].
    #[error("it has {0} bytes, more than {MAX_BYTES}")]
    TooLarge(usize),
}

/// The test cases of one report. Durations come out in milliseconds whatever unit the report used.
///
/// # Errors
/// [`CtrfError`] where it is no such report.
pub fn read_ctrf(bytes: &[u8]) -> Result<Vec<TestCase>, CtrfError> {
    if bytes.len() > MAX_BYTES {
        return Err(CtrfError::TooLarge(bytes.len()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let report: Value = serde_json::from_slice(bytes)?;
    let tests = report.pointer("/results/tests").and_then(Value::as_array).ok_or(CtrfError::Shape)?;
    let unit_ms = if in_seconds(&report, tests) { 1000.0 } else { 1.0 };
    Ok(tests.iter().take(MAX_TESTS).map(|test| test_case(test, unit_ms)).collect())
}

/// The test cases of several reports of one run, in order. Where a name occurs in several reports, all its cases are prefixed with
/// the name of their file, so that they stay apart.
#[must_use]
pub fn merge(reports: Vec<(String, Vec<TestCase>)>) -> Vec<TestCase> {
    let mut seen = BTreeSet::new();
    let mut shared = BTreeSet::new();
    for (_, tests) in &reports {
        let names: BTreeSet<&String> = tests.iter().map(|test| &test.name).collect();
        shared.extend(names.iter().filter(|name| seen.contains(**name)).map(|name| (*name).clone()));
        seen.extend(names.into_iter().cloned());
    }
    let prefixed = reports.into_iter().flat_map(|(file, tests)| {
        let shared = &shared;
        tests.into_iter().map(move |mut test| {
            if shared.contains(&test.name) {
                test.name = format!("{file}: {}", test.name);
            }
            test
        })
    });
    prefixed.take(MAX_TESTS).collect()
}

/// CTRF wants milliseconds, pytest-json-ctrf writes seconds. The run's start tells: seconds since 1970 have ten digits, milliseconds
/// thirteen. Where there is no such start, fractions mean seconds.
fn in_seconds(report: &Value, tests: &[Value]) -> bool {
    let start = report.pointer("/results/summary/start").and_then(Value::as_f64).unwrap_or(0.0);
    if start >= 1e11 {
        return false;
    }
    let fraction = |test: &Value| test.get("duration").and_then(Value::as_f64).is_some_and(|d| d.fract() != 0.0);
    start >= 1e8 || tests.iter().any(fraction)
}

fn test_case(test: &Value, unit_ms: f64) -> TestCase {
    let text = |key: &str| test.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let status = match text("status").map(str::to_lowercase).as_deref() {
        Some("passed") => TestStatus::Passed,
        Some("failed") => TestStatus::Failed,
        Some("skipped" | "pending") => TestStatus::Skipped,
        _ => TestStatus::Other,
    };
    let message = match (text("message"), text("trace")) {
        _ if status == TestStatus::Passed => None,
        (None, None) => None,
        (Some(message), None) => Some(head(message, MAX_MESSAGE)),
        (None, Some(trace)) => Some(tail(trace, MAX_MESSAGE)),
        // The end of a trace names the failed assertion.
        (Some(message), Some(trace)) => Some(format!("{}\n{}", head(message, MAX_MESSAGE), tail(trace, MAX_MESSAGE))),
    };
    TestCase {
        name: head(text("name").unwrap_or("(without a name)"), MAX_NAME),
        status,
        duration_ms: test.get("duration").and_then(Value::as_f64).and_then(|d| milliseconds(d * unit_ms)),
        message,
    }
}

pub(super) fn milliseconds(duration: f64) -> Option<u64> {
    // A year: what is longer is no duration.
    let plausible = (0.0..=3.2e10).contains(&duration);
    plausible.then_some(duration.round() as u64)
}
