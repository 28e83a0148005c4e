//! One page that opens offline: no script, no request, the plot and the style in it. A policy in the page itself forbids anything else, so that
//! foreign text which slipped through would still do nothing.

use std::fmt::Write as _;

use domain::report::{EvaluationReport, headline};

use super::{Exported, html_tables, words};

const TOKENS: &str = include_str!("../../../../style/tokens.css");
const STYLE: &str = include_str!("report.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page.
pub(super) fn render(exported: &Exported<'_>) -> String {
    let report = exported.report;
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>\n{TOKENS}\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escape(&report.title)
    );
    head(&mut page, report);
    facts(&mut page, report);
    if !exported.chart.is_empty() {
        let _ = write!(
            page,
            "<section><h2>Pass rate by task</h2>\n<p class=\"quiet\">From the hollow mark (no-skill) to the filled one (with-skill); a line to the right is a gain.</p>\n{}\n</section>\n",
            exported.chart
        );
    }
    html_tables::tasks(&mut page, report);
    html_tables::trials(&mut page, exported);
    foot(&mut page, report);
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(page: &mut String, report: &EvaluationReport) {
    let headline = headline(report);
    let _ = write!(
        page,
        "<header>\n<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n",
        escape(&report.title),
        escape(&actor(report))
    );
    for mark in words::marks(report) {
        let _ = writeln!(page, "<p class=\"mark\">{}.</p>", escape(&mark));
    }
    let _ = write!(
        page,
        "<p class=\"verdict {}\">{}</p>\n<p class=\"sentence\">{}</p>\n<p>{}</p>\n",
        escape(&headline.class),
        escape(&headline.word),
        escape(&headline.meaning),
        escape(&headline.sentence)
    );
    if !headline.advice.is_empty() {
        let _ = writeln!(page, "<p>{}</p>", escape(&headline.advice));
    }
    page.push_str("</header>\n");
}

/// Every number says whose it is.
fn actor(report: &EvaluationReport) -> String {
    let seed = if report.imported.is_some() { String::new() } else { format!(" · seed {}", report.seed) };
    format!(
        "Skill {} · agent {} · model {}{seed} · tasks {} × repeats {} · {}",
        words::skills(report),
        words::agent(report),
        words::model(report),
        report.tasks.len(),
        report.repeats,
        report.created_at
    )
}

fn facts(page: &mut String, report: &EvaluationReport) {
    page.push_str("<section>\n<dl>\n");
    for (name, value) in words::facts(report) {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(&value));
    }
    page.push_str("</dl>\n</section>\n");
}

fn foot(page: &mut String, report: &EvaluationReport) {
    let _ = write!(
        page,
        "<footer class=\"quiet\">\n<p>Evaluation {}. A pair is one task without and with the skill; it counts where both trials are scored. Trouble of \
         engine, network, provider or verifier is no score. Tests and intervals are made for pairs, with the task as the unit. A dash is unknown.</p>\n",
        report.evaluation_id
    );
    if let Some(imported) = &report.imported {
        let _ = writeln!(page, "<p>SHA-256 of what was imported: {}.</p>", imported.hash);
        for finding in &imported.findings {
            let _ = writeln!(page, "<p>{}</p>", escape(&finding.to_string()));
        }
    }
    page.push_str("</footer>\n");
}

/// Text for the inside of an element or of a quoted attribute; control characters, which no page may hold, become blanks.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
