//! The result as Markdown, in the same words as on its page. Foreign text cannot break out of its cell or bring markup of its own.

use std::fmt::Write as _;

use domain::report::{EvaluationReport, TrialReport, headline, number};

use super::{Exported, words};

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// The summary.
pub(super) fn render(exported: &Exported<'_>) -> String {
    let report = exported.report;
    let mut text = String::new();
    head(&mut text, report);
    line!(text, "| | |\n|---|---|");
    for (name, value) in words::facts(report) {
        line!(text, "| {name} | {} |", escape(&value));
    }
    line!(text, "");
    tasks(&mut text, report);
    trouble(&mut text, report);
    text
}

fn head(text: &mut String, report: &EvaluationReport) {
    let headline = headline(report);
    line!(text, "# {}\n", escape(&report.title));
    line!(text, "**{}.** {}\n", headline.word, escape(&headline.meaning));
    // The sentence names skills where one is compared with another.
    line!(text, "{}\n", escape(&headline.sentence));
    if !headline.advice.is_empty() {
        line!(text, "{}\n", escape(&headline.advice));
    }
    for mark in words::marks(report) {
        line!(text, "> {}.\n", escape(&mark));
    }
    let seed = if report.imported.is_some() { String::new() } else { format!(" · seed {}", report.seed) };
    line!(
        text,
        "skill {} · agent {} · model {}{seed} · {} repeat{} · {}\n",
        escape(&words::skills(report)),
        escape(&words::agent(report)),
        escape(&words::model(report)),
        report.repeats,
        if report.repeats == 1 { "" } else { "s" },
        report.created_at,
    );
}

fn tasks(text: &mut String, report: &EvaluationReport) {
    line!(text, "| task | without | with | Δ | tokens without | tokens with | opened | result |");
    line!(text, "|---|---:|---:|---:|---:|---:|---|---|");
    for task in &report.tasks {
        let opened = match task.activated {
            None => number::UNKNOWN,
            Some(true) => "yes",
            Some(false) => "no",
        };
        line!(
            text,
            "| {} | {} | {} | {} | {} | {} | {opened} | {} |",
            escape(&task.task),
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

fn trouble(text: &mut String, report: &EvaluationReport) {
    let told: Vec<&TrialReport> = report.trials.iter().filter(|trial| trial.error.is_some()).collect();
    if told.is_empty() {
        return;
    }
    line!(text, "What went wrong:\n");
    for trial in told {
        line!(
            text,
            "- {}, {}, repeat {}: {}: {}",
            escape(&trial.task),
            trial.condition,
            trial.repeat,
            trial.verdict.as_deref().unwrap_or("running"),
            escape(trial.error.as_deref().unwrap_or_default()),
        );
    }
}

/// Text on one line without any meaning to Markdown or HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            // A name is no mention of somebody, and an address no link, in a pull request.
            '@' if !escaped.ends_with(char::is_alphanumeric) => escaped.push_str("@\u{2060}"),
            ':' if escaped.ends_with("http") || escaped.ends_with("https") => escaped.push_str(":\u{2060}"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
