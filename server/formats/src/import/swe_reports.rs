//! The reports that SWE-Skills-Bench's own program writes, and what their names tell.

use std::collections::BTreeMap;

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::finding::Finding;
use domain::test_case::{TestCase, TestStatus};
use domain::verdict::{FailReason, InfraClass, Verdict};
use serde::Deserialize;

use super::number;

/// `eval_report_*.json`.
#[derive(Debug, Deserialize)]
pub(super) struct EvalReport {
    pub skill_id: String,
    #[serde(default)]
    pub container_name: Option<String>,
    success: bool,
    #[serde(default)]
    pub start_time: Option<String>,
    #[serde(default)]
    pub end_time: Option<String>,
    #[serde(default)]
    duration_sec: Option<f64>,
    #[serde(default)]
    evaluation_scores: Scores,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Scores {
    overall_status: Option<String>,
    overall_score: Option<f64>,
    details: Vec<Level>,
}

#[derive(Debug, Deserialize)]
struct Level {
    #[serde(default)]
    level: String,
    #[serde(default)]
    method: String,
    status: String,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    details: Counts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    total: Option<u64>,
    passed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    errors: Option<u64>,
    failed_tests: Vec<String>,
}

/// `report_*.json`: the agent's run.
#[derive(Debug, Deserialize)]
pub(super) struct RunReport {
    pub skill_id: String,
    pub success: bool,
    #[serde(default)]
    pub start_time: Option<String>,
    #[serde(default)]
    pub end_time: Option<String>,
    #[serde(default)]
    pub duration_sec: Option<f64>,
    #[serde(default)]
    pub error: Option<String>,
}

/// One row of `compare.json`.
#[derive(Debug, Deserialize)]
pub(super) struct CompareRow {
    pub skill_id: String,
    pub use_skill_passed: Option<u64>,
    pub use_skill_total: Option<u64>,
    pub no_skill_passed: Option<u64>,
    pub no_skill_total: Option<u64>,
}

/// `token_report.json`.
#[derive(Debug, Deserialize)]
pub(super) struct TokenReport {
    pub skills: BTreeMap<String, TokenArms>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenArms {
    #[serde(rename = "use")]
    pub with: Option<Tokens>,
    #[serde(rename = "no_use")]
    pub without: Option<Tokens>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Tokens {
    pub input: u64,
    pub cache_create: u64,
    pub cache_read: u64,
    pub output: u64,
}

/// Which run a report is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    pub batch: Option<String>,
    pub model: Option<String>,
    pub condition: Condition,
    pub with_agent: bool,
}

/// From a container's name: `benchmark_{batch}_{skill}_use-skill-{b}_use-agent-{b}_{model}`.
pub(super) fn who_of_container(name: &str, skill: &str) -> Option<Who> {
    let (head, rest) = name.strip_prefix("benchmark_")?.split_once("_use-skill-")?;
    let (skill_used, rest) = rest.split_once("_use-agent-")?;
    let (agent_used, model) = rest.split_once('_')?;
    let batch = head.strip_suffix(skill)?.strip_suffix('_')?;
    Some(Who {
        batch: some(batch),
        model: some(model),
        condition: condition(skill_used)?,
        with_agent: truth(agent_used)?,
    })
}

/// From a report's name and folder: `{model}/{batch}/eval/eval_report_{skill}_use-agent-{b}_use-skill-{b}_{time}.json`.
pub(super) fn who_of_path(path: &str) -> Option<Who> {
    let mut parts = path.rsplit('/');
    let name = parts.next()?;
    let (_, rest) = name.split_once("_use-agent-")?;
    let (agent_used, rest) = rest.split_once("_use-skill-")?;
    let skill_used = rest.split(['_', '.']).next()?;
    let (condition, with_agent) = (condition(skill_used)?, truth(agent_used)?);
    let _kind = parts.next();
    Some(Who { batch: parts.next().and_then(some), model: parts.next().and_then(some), condition, with_agent })
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn truth(text: &str) -> Option<bool> {
    text.to_ascii_lowercase().parse().ok()
}

fn condition(used: &str) -> Option<Condition> {
    Some(if truth(used)? { Condition::WithSkill } else { Condition::NoSkill })
}

impl EvalReport {
    /// What the report says of the run.
    pub(super) fn result(&self, file: &str, findings: &mut Vec<Finding>) -> AttemptResult {
        let verdict = self.verdict();
        let scored = verdict.scored().is_some();
        let levels = self.evaluation_scores.details.as_slice();
        let score = match levels {
            // The total is rounded to three digits, the level's own score is not.
            [level] => level.score,
            _ => self.evaluation_scores.overall_score,
        };
        let reward = number::reward(score, file, "the score", findings).filter(|_| scored);
        let mut result = AttemptResult { reward, ..AttemptResult::bare(verdict) };
        result.phases.verifying = number::seconds(self.duration_sec);
        for level in levels {
            result.tests.extend(level.tests());
            result.findings.extend(level.note(file));
        }
        result
    }

    fn verdict(&self) -> Verdict {
        if !self.success {
            let message = self.error.clone().unwrap_or_else(|| "the evaluation ended with an exception".to_owned());
            let class = if message.contains("ontainer") { InfraClass::Container } else { InfraClass::Engine };
            return Verdict::InfraError { class, message };
        }
        let levels = self.evaluation_scores.details.as_slice();
        if let Some(broken) = levels.iter().find(|level| matches!(level.status.as_str(), "error" | "skipped")) {
            let message = broken.message.clone().unwrap_or_else(|| broken.status.clone());
            return Verdict::VerifierError { message: format!("{} {}: {message}", broken.level, broken.method) };
        }
        match self.evaluation_scores.overall_status.as_deref() {
            Some("passed") => Verdict::Pass,
            Some("failed") => Verdict::Fail { reason: FailReason::WrongResult },
            other => {
                Verdict::VerifierError { message: format!("the report has no overall status that is known: {other:?}") }
            }
        }
    }
}

impl Level {
    /// The tests that the report names: the failed ones, at most ten. A build check is one test.
    fn tests(&self) -> Vec<TestCase> {
        let case = |name: &str, status: TestStatus, message: Option<String>| TestCase {
            name: name.to_owned(),
            status,
            duration_ms: None,
            message,
        };
        if self.method == "build_check" {
            let status = if self.status == "passed" { TestStatus::Passed } else { TestStatus::Failed };
            return vec![case("build_check", status, self.message.clone())];
        }
        self.details.failed_tests.iter().map(|name| case(name, TestStatus::Failed, None)).collect()
    }

    /// The counts, which have no names to go with them.
    fn note(&self, file: &str) -> Option<Finding> {
        let Counts { total, passed, failed, skipped, errors, .. } = &self.details;
        let said = |count: &Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
        let message = format!(
            "{} {}: {} of {} test cases passed, {} failed, {} skipped, {} errors; the report names at most ten failed ones",
            self.level,
            self.method,
            said(passed),
            said(&Some((*total)?)),
            said(failed),
            said(skipped),
            said(errors),
        );
        Some(Finding::note("test_counts", file, message))
    }
}
