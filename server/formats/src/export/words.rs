//! Words that several formats share: who was evaluated, and what marks the result bears.

use domain::plan::AgentRef;
use domain::report::{EvaluationReport, ReportSkill, number};

/// `count-sheep@1a2b3c4d5e6f + other`.
pub(super) fn skills(report: &EvaluationReport) -> String {
    report.skills.iter().map(ReportSkill::words).collect::<Vec<_>>().join(" + ")
}

/// `skill count-sheep@1a2b3c4d5e6f`, or `no skill`.
pub(super) fn skills_of(skills: &[ReportSkill]) -> String {
    match skills {
        [] => "no skill".to_owned(),
        skills => format!("skill {}", skills.iter().map(ReportSkill::words).collect::<Vec<_>>().join(" + ")),
    }
}

/// An agent's name without its version, which has a column of its own.
pub(super) fn agent_program(report: &EvaluationReport) -> String {
    AgentRef { version: String::new(), ..report.agent.clone() }.title()
}

/// `bash 1`.
pub(super) fn agent(report: &EvaluationReport) -> String {
    report.agent.title()
}

/// The model's name, or a dash.
pub(super) fn model(report: &EvaluationReport) -> String {
    report.model.clone().unwrap_or_else(|| number::UNKNOWN.to_owned())
}

/// What must stand beside every number of this result: that it was imported, that it is no measurement, that its tasks had another network
/// or other limits than they say. Empty for an ordinary one.
pub(super) fn marks(report: &EvaluationReport) -> Vec<String> {
    let demonstration = report.demonstration().map(|why| why.mark().to_owned());
    let imported = report.imported.as_ref().map(domain::imported::Imported::sentence);
    let compared = (!report.comparison.is_plain()).then(|| format!("Compared: {}", report.comparison.words));
    let network = report.network.words().map(|words| format!("Network in place of the tasks' own: {words}"));
    let limits = report.limits.words().map(|words| format!("Limits in both arms: {words}"));
    let open = (!report.finished).then(|| "Not finished: the numbers are interim".to_owned());
    imported.into_iter().chain(demonstration).chain(compared).chain(network).chain(limits).chain(open).collect()
}

/// The facts beside the headline: name and value, the same words as on the result's page.
pub(super) fn facts(report: &EvaluationReport) -> Vec<(&'static str, String)> {
    let totals = &report.totals;
    let interval = |low: f64, high: f64, show: fn(Option<f64>) -> String| {
        format!(", 95 % interval {} to {}", show(Some(low)), show(Some(high)))
    };
    let delta_ci = totals.delta_ci.map(|ci| interval(ci.low, ci.high, number::points)).unwrap_or_default();
    let rho_ci = totals.rho_ci.map(|ci| interval(ci.low, ci.high, number::change)).unwrap_or_default();
    vec![
        ("Δ pass rate", format!("{}{delta_ci}", number::points(totals.delta))),
        (
            "Pass rate",
            format!(
                "{} without → {} with, over {}",
                number::percent(totals.pass_rate_without),
                number::percent(totals.pass_rate_with),
                number::counted(totals.tasks_complete, "task")
            ),
        ),
        match totals.e_value {
            Some(_) => ("e-value", format!("{} (20 or more shows a difference)", number::e_value(totals.e_value))),
            None => ("p", number::p_value(totals.p_value.filter(|_| report.finished))),
        },
        (
            "Tokens (ρ)",
            format!(
                "{}{rho_ci} ({} → {} a trial, over {})",
                number::change(totals.rho),
                number::tokens(totals.tokens_without),
                number::tokens(totals.tokens_with),
                number::counted(totals.pairs_with_tokens, "pair")
            ),
        ),
        ("Skill opened", report.opened_in_words()),
        ("Pairs", format!("{} complete, {}", totals.pairs_complete, totals.others_in_words())),
        (
            "Flips",
            format!(
                "{} rescued, {} broken, {} both, {} neither",
                totals.rescued, totals.broken, totals.both, totals.neither
            ),
        ),
    ]
}
