//! The tables of the single-file page: task by task, then trial by trial with its tests.

use std::fmt::Write as _;

use domain::history::TrialHistory;
use domain::report::{EvaluationReport, TaskReport, number};
use domain::test_case::TestCase;

use super::Exported;
use super::html::escape;

/// Longest message of a test that is put into the page, in characters.
const MESSAGE: usize = 2_000;

pub(super) fn tasks(page: &mut String, report: &EvaluationReport) {
    page.push_str(
        "<section>\n<h2>Tasks</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>Task</th><th class=\"num\">Without</th><th class=\"num\">With</th>\
         <th class=\"num\">Δ</th><th class=\"num\">Tokens without</th><th class=\"num\">Tokens with</th><th>Opened</th><th>Result</th></tr></thead>\n<tbody>\n",
    );
    report.tasks.iter().for_each(|task| task_row(page, task));
    page.push_str("</tbody>\n</table></div>\n</section>\n");
}

fn task_row(page: &mut String, task: &TaskReport) {
    let opened = match task.activated {
        None => number::UNKNOWN,
        Some(true) => "yes",
        Some(false) => "no",
    };
    let tone = match task.delta {
        Some(delta) if delta > 0.0 => " up",
        Some(delta) if delta < 0.0 => " down",
        _ => "",
    };
    let _ = writeln!(
        page,
        "<tr><td class=\"name\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num{tone}\">{}</td><td class=\"num\">{}</td>\
         <td class=\"num\">{}</td><td>{opened}</td><td>{}</td></tr>",
        escape(&task.task),
        number::percent(task.pass_rate_without),
        number::percent(task.pass_rate_with),
        number::points(task.delta),
        number::tokens(task.tokens_without),
        number::tokens(task.tokens_with),
        task.flips_in_words(),
    );
}

pub(super) fn trials(page: &mut String, exported: &Exported<'_>) {
    page.push_str("<section>\n<h2>Trials</h2>\n");
    exported.history.trials.iter().for_each(|trial| one_trial(page, exported, trial));
    page.push_str("</section>\n");
}

fn one_trial(page: &mut String, exported: &Exported<'_>, trial: &TrialHistory) {
    let result = Exported::result(trial);
    let verdict = trial.state.verdict();
    let words = verdict.map_or(trial.state.word(), |verdict| verdict.word());
    let reward = result.and_then(|result| result.reward);
    let reward = reward.map_or_else(|| number::UNKNOWN.to_owned(), |reward| ((reward * 1e3).round() / 1e3).to_string());
    let tokens = result.and_then(|result| result.usage.total()).map(|tokens| tokens as f64);
    let _ = writeln!(
        page,
        "<details><summary>{}, {}, repeat {}: <b>{words}</b> <span class=\"quiet\">reward {reward} · {} tokens · agent {} · attempts {}</span></summary>",
        escape(exported.task(trial)),
        trial.condition,
        trial.repeat,
        number::tokens(tokens),
        number::duration(result.and_then(|result| result.phases.agent)),
        trial.state.attempts(),
    );
    if let Some(detail) = verdict.and_then(domain::verdict::Verdict::detail) {
        let _ = writeln!(page, "<pre>{}</pre>", escape(&detail));
    }
    let Some(result) = result else { return page.push_str("</details>\n") };
    if !result.tests.is_empty() {
        page.push_str("<ul>\n");
        result.tests.iter().for_each(|test| test_line(page, test));
        page.push_str("</ul>\n");
    }
    for finding in &result.findings {
        let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escape(&finding.to_string()));
    }
    page.push_str("</details>\n");
}

fn test_line(page: &mut String, test: &TestCase) {
    let _ = write!(page, "<li>{}: <b>{}</b>", escape(&test.name), test.status.word());
    if let Some(message) = &test.message {
        let cut: String = message.chars().take(MESSAGE).collect();
        let more = if cut.len() < message.len() { "\n…" } else { "" };
        let _ = write!(page, "<pre>{}{more}</pre>", escape(&cut));
    }
    page.push_str("</li>\n");
}
