//! From what a verifier run left behind to a verdict: one total function, blind to the arm.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::finding::Finding;
use domain::task::Scoring;
use domain::test_case::{TestCase, TestStatus};
use domain::verdict::{FailReason, InfraClass, Verdict};

use super::reward::{Reward, read_reward};
use super::{ctrf, junit, pass_rate, printed, pytest, setup_failure};

/// How the verifier's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifierEnding {
    /// By itself, or by a signal (128 + number).
    Exited {
        /// Exit code.
        code: i64,
    },
    /// At its limit. Decides over any reward.
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The kernel killed one of its processes for memory (the cgroup's count says so, not the exit code).
    OutOfMemory {
        /// The limit, in MiB.
        limit_mb: u64,
    },
}

/// What a verifier run left behind. All of it is untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifierRun {
    /// How it ended.
    pub ending: VerifierEnding,
    /// `reward.txt`, where it is a regular file.
    pub reward_txt: Option<Vec<u8>>,
    /// `reward.json`, where it is a regular file.
    pub reward_json: Option<Vec<u8>>,
    /// Every `ctrf*.json` by file name, in name order.
    pub ctrf: Vec<(String, Vec<u8>)>,
    /// Every `*.xml` by file name, in name order: reports of JUnit's kind.
    pub junit: Vec<(String, Vec<u8>)>,
    /// [`pass_rate::CHECKS`], where it is a regular file.
    pub checks: Option<Vec<u8>>,
    /// What it printed, both streams; where that is long, the end (and best the beginning too, where installations stand).
    pub output: String,
    /// Least reward that is a pass.
    pub pass_mark: f64,
    /// Where the reward comes from.
    pub scoring: Scoring,
}

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Pass, fail, or not scored.
    pub verdict: Verdict,
    /// The reward of a scored run; `None` otherwise.
    pub reward: Option<f64>,
    /// Further numbers that the verifier gave, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Test cases, whatever the verdict.
    pub tests: Vec<TestCase>,
    /// What a person should see beside the verdict.
    pub flags: Vec<Finding>,
}

/// Judges a run. Total: every run gets a verdict.
///
/// Its order: the run's ending, then the reward files, then the test reports. A reward is believed unless the run's own report
/// contradicts it:
///
/// | reward | tests that ran | verdict |
/// |---|---|---|
/// | any | at least one | by the pass mark |
/// | > 0 | no report | by the pass mark (some verifiers write none), with a note |
/// | > 0 | report, none ran | verifier error: a green light without a test |
/// | 0 | no report or none ran, and the output tells of a failed installation | verifier error: could not set up |
/// | 0 | none ran, not collectable | fail, with a flag: tests often import the agent's work, and leaving these trials out would leave out just those that failed |
/// | 0 | report, none ran, no such cause | verifier error: no test ran |
/// | 0 | no report | fail |
///
/// A failed installation in the output is by itself only a flag that a person sees; it excludes a trial only together with both a
/// reward of 0 and the absence of any test result, because then nothing says that the agent's work was looked at. The rule cannot see
/// the arm; an agent that provokes it wins nothing but a further attempt, and a pair that stays incomplete is counted beside Δ.
#[must_use]
pub fn judge(run: &VerifierRun) -> Judgement {
    let mut flags = Vec::new();
    let (tests, evidence) = read_tests(run, &mut flags);
    let (verdict, reward) = match run.ending {
        VerifierEnding::TimedOut { limit } => (timed_out(limit), None),
        VerifierEnding::OutOfMemory { limit_mb } => (out_of_memory(limit_mb), None),
        VerifierEnding::Exited { code: code @ (126 | 127) } => (not_started(code, run), None),
        VerifierEnding::Exited { .. } if run.scoring == Scoring::PassRate => {
            let (verdict, share) = pass_rate::judge(run, &tests, &evidence, &mut flags);
            (verdict, share.map(|value| Reward { value, metrics: BTreeMap::new() }))
        }
        VerifierEnding::Exited { code } => match read_reward(run.reward_txt.as_deref(), run.reward_json.as_deref()) {
            Err(error) => (verifier_error(error.to_string()), None),
            Ok(None) => (no_reward(code, run), None),
            Ok(Some(reward)) => (score(&reward, &evidence, run, &mut flags), Some(reward)),
        },
    };
    let scored = verdict.scored().is_some();
    let metrics = reward.as_ref().map(|reward| reward.metrics.clone()).unwrap_or_default();
    Judgement { verdict, reward: reward.filter(|_| scored).map(|reward| reward.value), metrics, tests, flags }
}

/// What the test reports say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Evidence {
    /// There is no report.
    NoReport,
    /// At least one test ran.
    Ran { passed: usize, failed: usize },
    /// A report without a test that ran.
    NoneRan { skipped: usize, not_collected: Option<String> },
}

/// Report files first, CTRF before JUnit; a test program's own lines where those are absent or empty.
fn read_tests(run: &VerifierRun, flags: &mut Vec<Finding>) -> (Vec<TestCase>, Evidence) {
    let mut reports = Vec::new();
    for (name, bytes) in &run.ctrf {
        match ctrf::read_ctrf(bytes) {
            Ok(tests) => reports.push((name.clone(), tests)),
            Err(error) => {
                flags.push(Finding::warning("bad_report", name, format!("the test report was left out: {error}")))
            }
        }
    }
    if reports.iter().all(|(_, tests)| tests.is_empty()) {
        for (name, bytes) in &run.junit {
            match junit::read_junit(bytes) {
                Ok(tests) => reports.push((name.clone(), tests)),
                // Verifiers also leave XML of other kinds, such as coverage.
                Err(junit::JunitError::Shape) => {}
                Err(error) => {
                    flags.push(Finding::warning("bad_report", name, format!("the test report was left out: {error}")))
                }
            }
        }
    }
    let reported = !reports.is_empty();
    let mut tests = ctrf::merge(reports);
    if tests.is_empty() {
        tests = match run.scoring {
            Scoring::Reward => pytest::read_pytest(&run.output),
            Scoring::PassRate => printed::read_printed(&run.output),
        };
    }
    let evidence = evidence(&tests, reported, &run.output);
    (tests, evidence)
}

fn evidence(tests: &[TestCase], reported: bool, output: &str) -> Evidence {
    let count = |status| tests.iter().filter(|test| test.status == status).count();
    let (passed, failed) = (count(TestStatus::Passed), count(TestStatus::Failed));
    if passed + failed > 0 {
        return Evidence::Ran { passed, failed };
    }
    let told = |test: &TestCase| match test.status {
        TestStatus::Other => test.message.as_ref().map(|message| format!("{}: {message}", test.name)),
        TestStatus::Passed | TestStatus::Failed | TestStatus::Skipped => None,
    };
    let not_collected = tests.iter().find_map(told).or_else(|| pytest::collection_error(output));
    if !reported && tests.is_empty() && not_collected.is_none() {
        return Evidence::NoReport;
    }
    Evidence::NoneRan { skipped: count(TestStatus::Skipped), not_collected }
}

/// The table above.
fn score(reward: &Reward, evidence: &Evidence, run: &VerifierRun, flags: &mut Vec<Finding>) -> Verdict {
    let setup = setup_failure::setup_failure(&run.output);
    let zero = reward.value <= 0.0;
    match (evidence, &setup) {
        (Evidence::NoReport | Evidence::NoneRan { .. }, Some(sign)) if zero => could_not_set_up(sign),
        (Evidence::NoneRan { not_collected: Some(cause), .. }, _) if zero => {
            flags.push(not_collectable(cause));
            wrong()
        }
        (Evidence::NoneRan { skipped, not_collected }, _) => nothing_ran(*skipped, not_collected.as_deref(), reward),
        (Evidence::NoReport | Evidence::Ran { .. }, _) => {
            flags.extend(setup.as_deref().map(setup_flag));
            flags.extend(doubts(reward, evidence, run.pass_mark));
            if reward.value >= run.pass_mark { Verdict::Pass } else { wrong() }
        }
    }
}

pub(super) const fn wrong() -> Verdict {
    Verdict::Fail { reason: FailReason::WrongResult }
}

pub(super) fn verifier_error(message: impl Into<String>) -> Verdict {
    Verdict::VerifierError { message: message.into() }
}

fn timed_out(limit: Duration) -> Verdict {
    verifier_error(format!("the verifier did not end within its limit of {} s", limit.as_secs_f64()))
}

fn out_of_memory(limit_mb: u64) -> Verdict {
    let message = format!("out of memory in the verifier (limit {limit_mb} MB); raise the task's memory");
    Verdict::InfraError { class: InfraClass::Container, message }
}

fn not_started(code: i64, run: &VerifierRun) -> Verdict {
    let what = if code == 126 { "cannot be executed" } else { "was not found" };
    let sign = setup_failure::setup_failure(&run.output).map(|line| format!(": {line}")).unwrap_or_default();
    verifier_error(format!("could not set up (exit {code}): the verifier's script or a program it needs {what}{sign}"))
}

fn no_reward(code: i64, run: &VerifierRun) -> Verdict {
    let signal = match code {
        129..=159 => format!(": killed by signal {}", code - 128),
        _ => String::new(),
    };
    let sign = setup_failure::setup_failure(&run.output).map(|line| format!("; could not set up: {line}"));
    verifier_error(format!("no reward written (exit {code}{signal}){}", sign.unwrap_or_default()))
}

pub(super) fn could_not_set_up(sign: &str) -> Verdict {
    verifier_error(format!("could not set up: no test ran, the reward is 0, and the output says {sign:?}"))
}

fn nothing_ran(skipped: usize, not_collected: Option<&str>, reward: &Reward) -> Verdict {
    let value = reward.value;
    verifier_error(match not_collected {
        Some(cause) => {
            format!("no test ran although the reward says {value}: the tests could not be collected: {cause}")
        }
        None => format!("no test ran ({skipped} skipped), so the reward of {value} means nothing"),
    })
}

pub(super) fn not_collectable(cause: &str) -> Finding {
    Finding::warning(
        "not_collected",
        "verifier",
        format!("no test ran, because the tests could not be collected: {cause}"),
    )
    .hint("ordinary where the tests import the agent's work and it is missing; else the verifier is broken")
}

pub(super) fn setup_flag(sign: &str) -> Finding {
    Finding::warning(
        "setup_failure",
        "verifier",
        format!("the verifier's output tells of a failed installation: {sign}"),
    )
    .hint("look whether the tests still measured what they should")
}

/// Where reward and report do not fit together, or there is no report to compare with.
fn doubts(reward: &Reward, evidence: &Evidence, pass_mark: f64) -> Option<Finding> {
    let value = reward.value;
    let disagree = |message| Some(Finding::warning("reward_disagrees", "verifier", message));
    match evidence {
        Evidence::NoReport => {
            Some(Finding::note("no_report", "verifier", "no test report was written, so no test can be shown"))
        }
        Evidence::Ran { failed, .. } if *failed > 0 && value >= pass_mark => {
            disagree(format!("the reward of {value} is a pass although {failed} tests failed"))
        }
        Evidence::Ran { passed, failed: 0 } if value <= 0.0 => {
            disagree(format!("the reward is 0 although all {passed} tests passed"))
        }
        Evidence::Ran { .. } | Evidence::NoneRan { .. } => None,
    }
}
