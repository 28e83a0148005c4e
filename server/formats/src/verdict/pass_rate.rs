//! The verdict of a verifier that writes no reward: the share of test cases that passed, and build checks beside it, as SWE-Skills-Bench
//! judges. Skipped tests count against the share, and a test file that cannot even be read is one test that failed.

use domain::finding::Finding;
use domain::test_case::{TestCase, TestStatus};
use domain::verdict::Verdict;

use super::judge::{Evidence, VerifierRun, could_not_set_up, not_collectable, setup_flag, verifier_error, wrong};
use super::setup_failure::setup_failure;
use super::text::head;

/// The file in which a verifier of this kind notes how each of its commands ended, a line each: `build` or `tests`, the exit code that
/// is wanted, the one there was, and the command.
pub const CHECKS: &str = "checks.txt";
/// Exit codes of `timeout` for a command that it had to end.
const TIMED_OUT: [i32; 2] = [124, 137];
const MAX_COMMAND: usize = 200;

/// How one command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    is_build: bool,
    wanted: i32,
    code: i32,
    command: String,
}

impl Check {
    fn timed_out(&self) -> bool {
        TIMED_OUT.contains(&self.code) && self.code != self.wanted
    }
}

/// The verdict, and the share where there is one.
pub(super) fn judge(
    run: &VerifierRun,
    tests: &[TestCase],
    evidence: &Evidence,
    flags: &mut Vec<Finding>,
) -> (Verdict, Option<f64>) {
    let text = run.checks.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let checks: Vec<Check> = text.lines().filter_map(check).collect();
    let Some(command) = checks.iter().find(|check| !check.is_build) else {
        return (verifier_error(format!("the verifier ended before its tests were run{}", sign(run))), None);
    };
    let failed: Vec<&Check> = checks.iter().filter(|check| check.is_build && check.code != check.wanted).collect();
    flags.extend(failed.iter().map(|check| build_failed(check)));
    if command.timed_out() {
        let message = format!("the tests did not end within their time: {}", command.command);
        flags.push(Finding::warning("tests_timed_out", "verifier", message));
        return (wrong(), Some(0.0));
    }
    match (evidence, setup_failure(&run.output)) {
        (Evidence::NoReport | Evidence::NoneRan { .. }, Some(sign)) => return (could_not_set_up(&sign), None),
        (Evidence::NoReport, None) => {
            let message =
                format!("no test result was found; the test command ended with {}: {}", command.code, command.command);
            return (verifier_error(message), None);
        }
        (Evidence::NoneRan { not_collected: Some(cause), .. }, None) => flags.push(not_collectable(cause)),
        (Evidence::NoneRan { skipped, not_collected: None }, None) => {
            let message = format!("all {skipped} tests were skipped, which counts as failed");
            flags.push(Finding::warning("all_skipped", "verifier", message));
        }
        (Evidence::Ran { .. }, sign) => flags.extend(sign.as_deref().map(setup_flag)),
    }
    let passed = tests.iter().filter(|test| test.status == TestStatus::Passed).count();
    let share = passed as f64 / tests.len().max(1) as f64;
    let passes = share >= run.pass_mark && failed.is_empty();
    (if passes { Verdict::Pass } else { wrong() }, Some(share))
}

fn sign(run: &VerifierRun) -> String {
    setup_failure(&run.output).map(|sign| format!("; could not set up: {sign}")).unwrap_or_default()
}

fn build_failed(check: &Check) -> Finding {
    let how =
        if check.timed_out() { "did not end within its time".to_owned() } else { format!("ended with {}", check.code) };
    Finding::warning("build_failed", "verifier", format!("the build check {how}: {}", check.command))
}

fn check(line: &str) -> Option<Check> {
    let mut words = line.splitn(4, ' ');
    let is_build = match words.next()? {
        "build" => true,
        "tests" => false,
        _ => return None,
    };
    let (wanted, code) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Check { is_build, wanted, code, command: head(words.next().unwrap_or_default(), MAX_COMMAND) })
}
