//! An audit as text: the same words as on its page.

use std::fmt::Write as _;

use domain::report::number;
use domain::task_audit::{AuditAgent, AuditOutcome, AuditReport, Passes, TaskAudit, TestAudit, TestClass};

/// Test cases of one task that are listed before the rest is counted.
const LISTED: usize = 12;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// The whole audit, ready to print. `all_tests`: also the test cases that are in order.
#[must_use]
pub fn render(report: &AuditReport, all_tests: bool) -> String {
    let mut text = String::new();
    line!(text, "{} · audit {} · seed {}", report.title, report.audit_id, report.seed);
    line!(
        text,
        "nop {} and oracle {}, {} of each\n",
        report.nop.version,
        report.oracle.version,
        number::counted(report.repeats, "run")
    );
    table(&mut text, report);
    for task in &report.tasks {
        details(&mut text, task, all_tests);
    }
    summary(&mut text, report);
    text
}

fn table(text: &mut String, report: &AuditReport) {
    let width = report.tasks.iter().map(|task| task.task.chars().count()).max().unwrap_or(4).clamp(4, 48);
    line!(
        text,
        "{:width$}  {:>10}  {:>10}  {:>12}  {:>12}  {:>6}  {:>5}  result",
        "task",
        "nop",
        "oracle",
        "fail-to-pass",
        "pass-to-pass",
        "broken",
        "flaky"
    );
    for task in &report.tasks {
        let name: String = task.task.chars().take(width).collect();
        let count = |class| {
            if task.tests.is_empty() { number::UNKNOWN.to_owned() } else { task.classes.get(class).to_string() }
        };
        line!(
            text,
            "{name:width$}  {:>10}  {:>10}  {:>12}  {:>12}  {:>6}  {:>5}  {}",
            passes(task, AuditAgent::Nop),
            passes(task, AuditAgent::Oracle),
            count(TestClass::FailToPass),
            count(TestClass::PassToPass),
            count(TestClass::Broken),
            count(TestClass::Flaky),
            task.outcome.map_or("under way", AuditOutcome::word),
        );
    }
}

/// `pass 2/2`.
fn passes(task: &TaskAudit, agent: AuditAgent) -> String {
    task.passed(agent, |passed, scored| format!("pass {passed}/{scored}"))
}

fn details(text: &mut String, task: &TaskAudit, all_tests: bool) {
    line!(text, "\n{}: {}", task.task, task.sentence);
    if let Some(remedy) = &task.remedy {
        line!(text, "  {remedy}");
    }
    let shown: Vec<&TestAudit> =
        task.tests.iter().filter(|test| all_tests || test.class != TestClass::FailToPass).collect();
    let limit = if all_tests { usize::MAX } else { LISTED };
    for test in shown.iter().take(limit) {
        let oracle = test.oracle.map(|oracle| format!(", oracle {}", of(oracle))).unwrap_or_default();
        line!(text, "  {:12}  {} (nop {}{oracle})", test.class.word(), test.name, of(test.nop));
    }
    if shown.len() > limit {
        line!(text, "  and {} more; --all-tests names them", shown.len() - limit);
    }
}

/// `2/2`: runs in which it passed, of those that were scored.
fn of(passes: Passes) -> String {
    format!("{}/{}", passes.passed, passes.runs)
}

fn summary(text: &mut String, report: &AuditReport) {
    let counts: Vec<String> = AuditOutcome::ALL
        .into_iter()
        .filter(|outcome| report.count(*outcome) > 0)
        .map(|outcome| format!("{} {}", report.count(outcome), outcome.word()))
        .collect();
    let trusted = report.count(AuditOutcome::Discriminating);
    line!(
        text,
        "\n{trusted} of {} can be trusted: {}",
        number::counted(report.tasks.len() as u64, "task"),
        counts.join(", ")
    );
}
