//! A published table held against itself, as text.

use std::fmt::Write as _;

use domain::published::{PublishedReport, Range, RowCheck};
use domain::report::number;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n'); };
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// The whole report, ready to print.
#[must_use]
pub fn render(report: &PublishedReport) -> String {
    let mut text = String::new();
    line!(text, "{}", report.name);
    line!(text, "{}", report.source);
    line!(text);
    rows(&mut text, report);
    sums(&mut text, report);
    line!(text);
    line!(text, "What the text says, and what its rows say:");
    for claim in &report.claims {
        line!(text, "  {} {}", if claim.agrees { "agrees   " } else { "DISAGREES" }, claim.text);
        line!(text, "            {}", claim.rows);
    }
    text
}

fn rows(text: &mut String, report: &PublishedReport) {
    let width = report.rows.iter().map(|row| row.skill.chars().count()).max().unwrap_or(5).clamp(5, 40);
    line!(
        text,
        "{:width$}  {:>5}  {:>10}  {:>9}  {:>9}  {:>9}  {:>19}  {:>7}  reproduced",
        "skill",
        "cases",
        "Δ",
        "rescued",
        "broken",
        "best p",
        "ρ within rounding",
        "CE"
    );
    for row in &report.rows {
        let skill: String = row.skill.chars().filter(|character| !character.is_control()).take(width).collect();
        line!(
            text,
            "{skill:width$}  {:>5}  {:>10}  {:>9}  {:>9}  {:>9}  {:>19}  {:>7}  {}",
            row.cases,
            delta(row.delta),
            range(row.rescued),
            range(row.broken),
            number::p_value(Some(row.best_p)),
            row.rho_range.map_or_else(
                || number::UNKNOWN.to_owned(),
                |range| format!("{:+.1} to {:+.1} %", range.low * 100.0, range.high * 100.0).replace('-', "−")
            ),
            row.ce.map_or_else(|| number::UNKNOWN.to_owned(), |ce| format!("{ce:.2}").replace('-', "−")),
            reproduced(row),
        );
    }
    line!(text);
}

fn delta(delta: f64) -> String {
    if delta == 0.0 { "0 pp".to_owned() } else { format!("{:+.1} pp", delta * 100.0).replace('-', "−") }
}

fn range(range: Range) -> String {
    if range.least == range.most { range.least.to_string() } else { format!("{} to {}", range.least, range.most) }
}

fn reproduced(row: &RowCheck) -> String {
    let word = |name: &str, holds: bool| if holds { name.to_owned() } else { format!("not {name}") };
    let mut words = vec![word("Δ", row.delta_reproduced), word("ρ", row.rho_reproduced)];
    words.extend(row.ce_reproduced.map(|holds| word("CE", holds)));
    words.join(", ")
}

fn sums(text: &mut String, report: &PublishedReport) {
    let (overall, n) = (&report.overall, report.rows.len());
    line!(
        text,
        "reproduced: Δ {} of {n}, exactly; ρ {} of {n} and CE {} of {} printed, within the rounding of their tokens",
        report.delta_reproduced,
        report.rho_reproduced,
        report.ce_reproduced,
        report.ce_printed,
    );
    line!(
        text,
        "can be resolved: {} of {n}; each skill has one task and one run in each arm, and it takes 6 tasks (11 in a family of {n})",
        if report.resolvable == 0 { "none".to_owned() } else { report.resolvable.to_string() },
    );
    let best = report.rows.iter().map(|row| row.best_p).fold(1.0, f64::min);
    line!(
        text,
        "even if test cases were independent, the smallest p that the margins allow is {}",
        number::p_value(Some(best))
    );
    let ci = overall
        .delta_ci
        .map_or_else(String::new, |ci| format!(", 95 % interval {:+.2} to {:+.2} pp", ci.low * 100.0, ci.high * 100.0));
    let line = format!(
        "over all skills: Δ {:+.2} pp{ci}, p {}; {} gains against {} losses, p {}; {} against {} of {} cases",
        overall.delta * 100.0,
        number::p_value(overall.p_value),
        overall.gains,
        overall.losses,
        number::p_value(Some(overall.p_sign)),
        overall.cases_passed_with,
        overall.cases_passed_without,
        overall.cases,
    );
    line!(text, "{}", line.replace('-', "−"));
}
