//! An analysis as text.

use std::fmt::Write as _;

use domain::analysis::{Analysis, AnalysisRow, ClusteredDelta};
use domain::report::number;
use domain::stats::interval::Interval;
use domain::stats::variance::VarianceSplit;

/// Lines of tasks, and of pairs left out, unless all are asked for.
const SHOWN: usize = 40;
/// Widest name in a table.
const WIDEST: usize = 44;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n'); };
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// The whole analysis, ready to print.
#[must_use]
pub fn render(analysis: &Analysis, all: bool) -> String {
    let shown = if all { usize::MAX } else { SHOWN };
    let mut text = String::new();
    head(&mut text, analysis);
    totals(&mut text, analysis);
    units(&mut text, analysis);
    if analysis.rows.len() > 1 {
        rows(&mut text, analysis);
    }
    tasks(&mut text, analysis, shown);
    left_out(&mut text, analysis, shown);
    line!(text);
    analysis.headline.lines().iter().for_each(|words| {
        line!(text, "{words}");
    });
    analysis.findings.iter().for_each(|finding| {
        line!(text, "{}", clean(&finding.to_string()));
    });
    text
}

/// Text from a file, without what could move a terminal's cursor.
fn clean(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

fn cut(text: &str, width: usize) -> String {
    clean(text).chars().take(width).collect()
}

fn interval(ci: Option<Interval>, shown: fn(Option<f64>) -> String) -> String {
    ci.map_or_else(String::new, |ci| format!(" [{}, {}]", shown(Some(ci.low)), shown(Some(ci.high))))
}

fn head(text: &mut String, analysis: &Analysis) {
    let trials = &analysis.trials;
    let kinds: Vec<String> = trials
        .by_outcome
        .iter()
        .filter(|(word, _)| !matches!(word.as_str(), "pass" | "fail"))
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    line!(text, "{}: valid {} of {} trials{kinds}", clean(&analysis.file), trials.valid, trials.total);
    if trials.superseded > 0 {
        line!(text, "{} earlier attempts were replaced by later ones of the same trial", trials.superseded);
    }
    if let Some(rates) = &analysis.error_rates {
        line!(
            text,
            "trouble in {} of {} no-skill and {} of {} with-skill trials (Fisher p {}{})",
            rates.troubled_without,
            rates.trials_without,
            rates.troubled_with,
            rates.trials_with,
            number::p_value(Some(rates.p_value)),
            if rates.differ { ", the arms differ" } else { "" },
        );
    }
    line!(text);
}

fn totals(text: &mut String, analysis: &Analysis) {
    let totals = &analysis.totals;
    let mid = totals.p_mid.map_or_else(String::new, |p| format!(" (mid-p {})", number::p_value(Some(p))));
    line!(
        text,
        "Δ {}{} · p {}{mid} · pass rate {} → {} over {} of {}, {}",
        number::points(totals.delta),
        interval(totals.delta_ci, number::points),
        number::p_value(totals.p_value),
        number::percent(totals.pass_rate_without),
        number::percent(totals.pass_rate_with),
        totals.pairs_complete,
        number::counted(totals.pairs(), "pair"),
        number::counted(totals.tasks_complete, "task"),
    );
    line!(
        text,
        "rescued {} · broken {} · both {} · neither {}",
        totals.rescued,
        totals.broken,
        totals.both,
        totals.neither
    );
    let total = analysis.tokens_are.as_ref().map_or_else(String::new, |sum| format!(", total = {sum}"));
    line!(
        text,
        "tokens per trial {} → {} · ρ {}{} ({}{total})",
        number::tokens(totals.tokens_without),
        number::tokens(totals.tokens_with),
        number::change(totals.rho),
        interval(totals.rho_ci, number::change),
        number::counted(totals.pairs_with_tokens, "pair"),
    );
    let ce = totals.ce.map_or_else(|| number::UNKNOWN.to_owned(), |ce| format!("{ce:.2}").replace('-', "−"));
    line!(
        text,
        "seen: {} · normalised gain {} · CE {ce} (as the paper defines it; nothing to sort by)",
        totals.quadrant.map_or("quadrant unknown", domain::stats::quadrant::Quadrant::name),
        number::percent(analysis.normalized_gain),
    );
    if totals.activation_known > 0 {
        let only = analysis.activated_only.as_ref();
        line!(
            text,
            "skill opened in {} of {} with-skill trials; Δ of those pairs {} (selection-biased), Δ ÷ opening rate {}",
            totals.activated,
            totals.activation_known,
            number::points(only.map(|only| only.delta)),
            number::points(analysis.complier_effect),
        );
    }
}

fn units(text: &mut String, analysis: &Analysis) {
    if let Some(clustered) = &analysis.clustered {
        cluster(text, clustered);
    }
    if let Some(cases) = &analysis.test_cases {
        let flips = cases
            .rescued
            .zip(cases.broken)
            .map_or_else(String::new, |(rescued, broken)| format!(", rescued {rescued}, broken {broken}"));
        line!(
            text,
            "test cases: {} → {} of {} cases, Δ {}{}{flips}{}",
            number::percent(Some(cases.pass_rate_without)),
            number::percent(Some(cases.pass_rate_with)),
            cases.cases,
            number::points(Some(cases.delta)),
            interval(cases.delta_ci, number::points),
            if cases.unmatched > 0 { format!("; {} cases of one arm only", cases.unmatched) } else { String::new() },
        );
        line!(text, "  {}", cases.warning);
    }
    if let Some(split) = &analysis.variance {
        line!(text, "{}", noise(split));
    }
}

fn cluster(text: &mut String, clustered: &ClusteredDelta) {
    line!(
        text,
        "by {}: {} of them · Δ {}{} · p {} · standard error {} (as if independent {}){}",
        clustered.unit,
        clustered.clusters,
        number::points(Some(clustered.delta)),
        interval(clustered.ci, number::points),
        number::p_value(Some(clustered.p_value)),
        number::points(clustered.se).trim_start_matches('+'),
        number::points(clustered.se_unclustered).trim_start_matches('+'),
        clustered.verdict.map_or_else(String::new, |verdict| format!(" · {verdict}")),
    );
}

fn noise(split: &VarianceSplit) -> String {
    let share = if split.total > 0.0 { split.within / split.total } else { 0.0 };
    format!(
        "noise of Δ: {} from repeats of one task, {} from tasks that differ: {}",
        number::percent(Some(share.clamp(0.0, 1.0))),
        number::percent(Some((1.0 - share).clamp(0.0, 1.0))),
        if share > 0.5 {
            "more repeats would help as well as more tasks"
        } else {
            "more tasks would help, more repeats hardly"
        }
    )
}

fn rows(text: &mut String, analysis: &Analysis) {
    let mut order: Vec<&AnalysisRow> = analysis.rows.iter().collect();
    order.sort_by_key(|row| (row.place.rank.unwrap_or(u32::MAX), row.key.to_string()));
    let width = order.iter().map(|row| row.key.to_string().chars().count()).max().unwrap_or(4).clamp(4, WIDEST);
    line!(text);
    line!(
        text,
        "{:>4}  {:width$}  {:>5}  {:>7}  {:>18}  {:>7}  {:>7}  {:>7}  verdict (Holm among {})",
        "tier",
        "row",
        "tasks",
        "Δ pp",
        "95 % interval",
        "p",
        "p Holm",
        "q BH",
        order.first().map_or(0, |row| row.family),
    );
    for row in order {
        // A row that could not reach α among so many has left the family.
        let left = row.totals.verdict.map(|_| "Cannot be resolved".to_owned());
        let verdict = row.verdict_holm.map(|verdict| verdict.to_string()).or(left);
        let unknown = || number::UNKNOWN.to_owned();
        line!(
            text,
            "{:>4}  {:width$}  {:>5}  {:>7}  {:>18}  {:>7}  {:>7}  {:>7}  {}{}",
            row.place.tier.map_or_else(|| number::UNKNOWN.to_owned(), |tier| tier.to_string()),
            cut(&row.key.to_string(), width),
            row.totals.tasks_complete,
            row.totals.delta.map_or_else(unknown, number::bare_points),
            row.totals.delta_ci.map_or_else(unknown, number::bare_interval),
            number::p_value(row.totals.p_value),
            number::p_value(row.p_holm),
            number::p_value(row.q_bh),
            verdict.unwrap_or_else(|| "No result".to_owned()),
            row.unranked.map_or_else(String::new, |why| format!("; no rank: {why}")),
        );
    }
}

fn tasks(text: &mut String, analysis: &Analysis, shown: usize) {
    let tasks = &analysis.tasks;
    let label = |skill: &Option<String>, task: &str| match skill {
        Some(skill) if analysis.rows.len() > 1 => format!("{skill} / {task}"),
        _ => task.to_owned(),
    };
    let listed: Vec<String> = tasks.iter().take(shown).map(|task| label(&task.skill, &task.task)).collect();
    let width = listed.iter().map(|name| name.chars().count()).max().unwrap_or(4).clamp(4, WIDEST);
    line!(text);
    line!(
        text,
        "{:width$}  {:>5}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}  {:>8}",
        "task",
        "pairs",
        "without",
        "with",
        "Δ",
        "tok w/o",
        "tok with",
        "ρ"
    );
    for (task, name) in tasks.iter().zip(&listed) {
        let result = if task.delta.is_none() { "  no result" } else { "" };
        line!(
            text,
            "{:width$}  {:>5}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}  {:>8}{result}",
            cut(name, width),
            format!("{}/{}", task.pairs_complete, task.pairs),
            number::percent(task.pass_rate_without),
            number::percent(task.pass_rate_with),
            number::points(task.delta),
            number::tokens(task.tokens_without),
            number::tokens(task.tokens_with),
            number::change(task.rho),
        );
    }
    more(text, tasks.len(), shown, "tasks");
}

fn left_out(text: &mut String, analysis: &Analysis, shown: usize) {
    if analysis.incomplete_pairs.is_empty() {
        return;
    }
    line!(text);
    for pair in analysis.incomplete_pairs.iter().take(shown) {
        line!(
            text,
            "left out: {} repeat {}: no-skill {}, with-skill {}",
            cut(&pair.task, WIDEST),
            pair.repeat,
            pair.without,
            pair.with
        );
    }
    more(text, analysis.incomplete_pairs.len(), shown, "pairs left out");
}

fn more(text: &mut String, all: usize, shown: usize, what: &str) {
    if all > shown {
        line!(text, "… and {} more {what}; --all prints them", all - shown);
    }
}
