//! One row per trial. Unknown is an empty cell. Text that a spreadsheet would run as a formula gets an apostrophe before it.

use csv::Writer;
use domain::attempt::AttemptResult;
use domain::comparison::Compared;
use domain::history::TrialHistory;
use domain::test_case::TestStatus;
use domain::time::Timestamp;
use domain::trial::TrialState;

use super::{ExportError, Exported, words};

const HEAD: [&str; 38] = [
    "evaluation",
    "title",
    "skill",
    "comparison",
    "agent",
    "agent_version",
    "model",
    "scripted_model",
    "imported_from",
    "task",
    "condition",
    "repeat",
    "state",
    "attempts",
    "verdict",
    "reward",
    "tests_passed",
    "tests_failed",
    "tests_skipped",
    "tests_other",
    "tests_total",
    "tokens_input",
    "tokens_cache_read",
    "tokens_cache_write",
    "tokens_output",
    "tokens_total",
    "model_calls",
    "cost",
    "prices",
    "skill_listed",
    "skill_opened",
    "preparing_ms",
    "agent_ms",
    "verifying_ms",
    "peak_memory_bytes",
    "started_at",
    "finished_at",
    "error",
];

/// The table as text.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<u8>, ExportError> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(HEAD).map_err(ExportError::write)?;
    for trial in &exported.history.trials {
        writer.write_record(row(exported, trial)).map_err(ExportError::write)?;
    }
    writer.into_inner().map_err(|error| ExportError::write(error.into_error()))
}

fn row(exported: &Exported<'_>, trial: &TrialHistory) -> Vec<String> {
    let report = exported.report;
    let result = Exported::result(trial);
    let mut row = vec![
        exported.history.id.to_string(),
        text(&report.title),
        text(&words::skills(report)),
        if report.comparison.kind == Compared::NoSkill {
            "no-skill".to_owned()
        } else {
            text(&report.comparison.words)
        },
        text(&words::agent_program(report)),
        text(&report.agent.version),
        text(report.model.as_deref().unwrap_or_default()),
        report.is_scripted().to_string(),
        report.imported.as_ref().map(|imported| imported.format.word().to_owned()).unwrap_or_default(),
        text(exported.task(trial)),
        trial.condition.word().to_owned(),
        trial.repeat.to_string(),
        trial.state.word().to_owned(),
        trial.state.attempts().to_string(),
        trial.state.verdict().map(|verdict| verdict.word().to_owned()).unwrap_or_default(),
    ];
    row.extend(measured(result));
    row.push(instant(trial.attempts.first().and_then(|attempt| attempt.started_at)));
    row.push(instant(match trial.state {
        TrialState::Finished { at, .. } => Some(at),
        TrialState::Queued { .. } | TrialState::Running { .. } => None,
    }));
    row.push(text(&trial.state.verdict().and_then(domain::verdict::Verdict::detail).unwrap_or_default()));
    row
}

/// The cells from `reward` to `peak_memory_bytes`.
fn measured(result: Option<&AttemptResult>) -> Vec<String> {
    let known = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let said = |value: Option<bool>| value.map(|value| value.to_string()).unwrap_or_default();
    let Some(result) = result else { return vec![String::new(); 20] };
    // A verifier that named no test is not one whose tests all failed.
    let tests = |status: TestStatus| {
        let count = result.tests.iter().filter(|test| test.status == status).count();
        if result.tests.is_empty() { String::new() } else { count.to_string() }
    };
    vec![
        result.reward.map(|reward| reward.to_string()).unwrap_or_default(),
        tests(TestStatus::Passed),
        tests(TestStatus::Failed),
        tests(TestStatus::Skipped),
        tests(TestStatus::Other),
        if result.tests.is_empty() { String::new() } else { result.tests.len().to_string() },
        known(result.usage.input),
        known(result.usage.cache_read),
        known(result.usage.cache_write),
        known(result.usage.output),
        known(result.usage.total()),
        known(result.model_calls),
        result.cost.map(|cost| cost.to_string()).unwrap_or_default(),
        text(result.prices.as_deref().unwrap_or_default()),
        said(result.activation.listed),
        said(result.activation.opened),
        known(result.phases.preparing),
        known(result.phases.agent),
        known(result.phases.verifying),
        known(result.peak_memory),
    ]
}

pub(super) fn instant(at: Option<Timestamp>) -> String {
    at.map(Timestamp::rfc3339).unwrap_or_default()
}

pub(super) fn text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}
