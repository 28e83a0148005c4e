//! A result as text: the same numbers and words as on its page.

use std::fmt::Write as _;

use domain::report::{EvaluationReport, TrialReport, headline, number};

/// The whole result, ready to print.
#[must_use]
pub fn render(report: &EvaluationReport) -> String {
    let mut text = String::new();
    head(&mut text, report);
    tasks(&mut text, report);
    totals(&mut text, report);
    trouble(&mut text, report);
    text
}

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

fn head(text: &mut String, report: &EvaluationReport) {
    let model = report.model.as_ref().map(|model| format!(" · model {model}")).unwrap_or_default();
    let mark = report.demonstration().map(|why| format!(" ({}: not a measurement)", why.word())).unwrap_or_default();
    line!(text, "{} · evaluation {}", report.title, report.evaluation_id);
    let network = report.network.words().map(|words| format!(" · network: {words}")).unwrap_or_default();
    let limits = report.limits.words().map(|words| format!(" · limits: {words}")).unwrap_or_default();
    let who = format!("agent {}{model}{mark}{network}{limits}", report.agent.title());
    line!(text, "{} · {who} · seed {}", report.comparison.words, report.seed);
    if !report.approved_variables.is_empty() {
        line!(text, "given to verifiers, as approved: {}", report.approved_variables.join(", "));
    }
    line!(text, "");
}

fn tasks(text: &mut String, report: &EvaluationReport) {
    let width = report.tasks.iter().map(|task| task.task.chars().count()).max().unwrap_or(4).clamp(4, 48);
    line!(
        text,
        "{:width$}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}  {:>6}  result",
        "task",
        "without",
        "with",
        "Δ",
        "tok w/o",
        "tok with",
        "opened"
    );
    for task in &report.tasks {
        let name: String = task.task.chars().take(width).collect();
        let opened = match task.activated {
            None => number::UNKNOWN,
            Some(true) => "yes",
            Some(false) => "no",
        };
        line!(
            text,
            "{name:width$}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}  {opened:>6}  {}",
            number::percent(task.pass_rate_without),
            number::percent(task.pass_rate_with),
            number::points(task.delta),
            number::tokens(task.tokens_without),
            number::tokens(task.tokens_with),
            task.flips_in_words(),
        );
    }
    line!(text, "");
}

fn totals(text: &mut String, report: &EvaluationReport) {
    let totals = &report.totals;
    let interval = totals.delta_ci.map_or_else(String::new, |ci| {
        format!(" [{}, {}]", number::points(Some(ci.low)), number::points(Some(ci.high)))
    });
    line!(
        text,
        "Δ {}{interval} · p {} · pass rate {} → {} over {} of {} pairs",
        number::points(totals.delta),
        number::p_value(totals.p_value),
        number::percent(totals.pass_rate_without),
        number::percent(totals.pass_rate_with),
        totals.pairs_complete,
        totals.pairs(),
    );
    if totals.e_value.is_some() {
        line!(text, "e-value {} (20 or more shows a difference)", number::e_value(totals.e_value));
    }
    line!(
        text,
        "rescued {} · broken {} · both {} · neither {}",
        totals.rescued,
        totals.broken,
        totals.both,
        totals.neither
    );
    line!(
        text,
        "tokens per trial {} → {} (ρ {}, {}) · skill opened: {}",
        number::tokens(totals.tokens_without),
        number::tokens(totals.tokens_with),
        number::change(totals.rho),
        number::counted(totals.pairs_with_tokens, "pair"),
        report.opened_in_words(),
    );
    line!(text, "");
    headline(report).lines().iter().for_each(|words| {
        line!(text, "{words}");
    });
}

fn trouble(text: &mut String, report: &EvaluationReport) {
    let told: Vec<&TrialReport> = report.trials.iter().filter(|trial| trial.error.is_some()).collect();
    if told.is_empty() {
        return;
    }
    line!(text, "");
    for trial in told {
        line!(
            text,
            "{} {} repeat {}: {}: {}",
            trial.task,
            report.comparison.arm(trial.condition),
            trial.repeat,
            trial.verdict.as_deref().unwrap_or("running"),
            trial.error.as_deref().unwrap_or_default(),
        );
    }
}
