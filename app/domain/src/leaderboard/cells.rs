//! A row's cells as plain text, for tables without pages: CSV and Markdown.

use super::column::Column;
use super::row::LeaderboardRow;
use crate::report::{delta_in_short, number};

/// What stands in a column; a dash where it is unknown.
#[must_use]
pub fn cell(column: Column, row: &LeaderboardRow) -> String {
    let (record, measured, standing) = (&row.record, &row.record.measured, &row.standing);
    let dash = || number::UNKNOWN.to_owned();
    match column {
        Column::Tier => match (standing.tier, record.unranked) {
            (Some(tier), _) => format!("{tier} of {}", standing.tiers),
            (None, Some(why)) => format!("{} ({why})", number::UNKNOWN),
            (None, None) => dash(),
        },
        Column::Skill => skills(row),
        Column::Author => record.author().unwrap_or_else(dash),
        Column::Category => record.category.clone().unwrap_or_else(dash),
        Column::Agent => record.actor(),
        Column::Set => record.task_set.name.clone(),
        Column::Size => size(row),
        Column::Without => number::percent(measured.without),
        Column::With => number::percent(measured.with),
        Column::Delta => match measured.estimate {
            Some(estimate) => format!(
                "{}, {} rescued, {} broken",
                delta_in_short(measured.delta, Some(estimate.ci)),
                estimate.counts.rescued,
                estimate.counts.broken
            ),
            None => delta_in_short(measured.delta, None),
        },
        Column::Verdict => row.says().to_string(),
        Column::Opened => number::percent(measured.opened_rate()),
        Column::Rho => match measured.rho_ci {
            Some(ci) => format!(
                "{} [{}, {}]",
                number::change(measured.rho),
                number::change(Some(ci.low)).trim_end_matches(" %"),
                number::change(Some(ci.high)).trim_end_matches(" %")
            ),
            None => number::change(measured.rho),
        },
        Column::Quadrant => measured.quadrant.map_or_else(dash, |quadrant| quadrant.name().to_owned()),
        Column::Tokens => number::tokens(measured.tokens_per_solve),
        Column::Money => money(measured.money_per_solve),
        Column::Gain => measured.gain.map_or_else(dash, |gain| format!("{gain:+.2}").replace('-', "−")),
        Column::Errors => number::percent(measured.error_rate()),
        Column::Holm => number::p_value(standing.p_holm),
        Column::Q => number::p_value(standing.q_bh),
        Column::Date => record.date.map_or_else(dash, |at| at.to_string()),
        Column::Source => record.attestation.word().to_owned(),
    }
}

fn skills(row: &LeaderboardRow) -> String {
    if row.record.skills.is_empty() {
        return row.record.skill_names();
    }
    let one = |skill: &super::RowSkill| match skill.version_in_short() {
        Some(version) => format!("{}@{version}", skill.name),
        None => skill.name.clone(),
    };
    row.record.skills.iter().map(one).collect::<Vec<_>>().join(" + ")
}

fn size(row: &LeaderboardRow) -> String {
    let measured = &row.record.measured;
    match measured.repeats() {
        Some(repeats) => format!("{} × {repeats}", measured.tasks),
        None => format!("{}, {}", number::counted(measured.tasks, "task"), number::counted(measured.pairs, "pair")),
    }
}

/// An amount, in the currency of its price table: `0.42`.
pub(super) fn money(amount: Option<f64>) -> String {
    amount.map_or_else(|| number::UNKNOWN.to_owned(), |amount| format!("{amount:.2}"))
}
