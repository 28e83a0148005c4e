//! Rows of the leaderboard as a table; on narrow pages each row becomes a card.

use domain::analysis::rank::Direction;
use domain::leaderboard::{Attestation, Column, LeaderboardQuery, LeaderboardRow, RowSkill};
use leptos::prelude::*;

use super::verdict::{DeltaCell, Verdict};
use super::words::Time;
use crate::format::{UNKNOWN, change, change_interval, count, percent, plural, tokens};

/// The table. With a query its heads are links that sort.
#[component]
pub fn LeaderboardTable(
    rows: Vec<LeaderboardRow>,
    /// From left to right.
    columns: Vec<Column>,
    /// What it is, for those who cannot see it.
    caption: String,
    /// The view that the heads sort.
    #[prop(optional)]
    query: Option<LeaderboardQuery>,
) -> impl IntoView {
    let heads = columns.iter().map(|column| head(*column, query.as_ref())).collect_view();
    let rows = rows.into_iter().map(|item| row(item, &columns)).collect_view();
    view! {
        <div class="table-scroll">
            <table class="table table-cards board">
                <caption class="visually-hidden">{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

/// Where the pages of a view are.
#[must_use]
pub fn address(query: &LeaderboardQuery) -> String {
    let query = query.to_query();
    if query.is_empty() { "/leaderboard".to_owned() } else { format!("/leaderboard?{query}") }
}

fn head(column: Column, query: Option<&LeaderboardQuery>) -> impl IntoView + use<> {
    let sorted = query.map(|query| query.sort).filter(|sort| sort.column == column).map(|sort| sort.direction);
    let (aria, arrow) = match (query, sorted) {
        (None, _) => (None, ""),
        (Some(_), None) => (Some("none"), ""),
        (Some(_), Some(Direction::Ascending)) => (Some("ascending"), " ↑"),
        (Some(_), Some(Direction::Descending)) => (Some("descending"), " ↓"),
    };
    let words = match query {
        Some(query) => {
            view! { <a class="sort" href=address(&query.sorted_by(column))>{column.head()}<span aria-hidden="true">{arrow}</span></a> }
                .into_any()
        }
        None => column.head().into_any(),
    };
    let scale =
        (column == Column::Delta).then(|| view! { <span class="scale" aria-hidden="true">"−100 … +100"</span> });
    view! {
        <th scope="col" class=place(column) aria-sort=aria title=column.hint()>{words}{scale}</th>
    }
}

/// Style classes of a column.
const fn place(column: Column) -> &'static str {
    match column {
        Column::Skill => "cell-skill",
        Column::Delta => "cell-delta",
        Column::Date => "num cell-date",
        Column::Agent | Column::Set => "cell-actor",
        Column::Quadrant | Column::Verdict => "cell-words",
        column if column.is_number() => "num",
        _ => "",
    }
}

fn row(row: LeaderboardRow, columns: &[Column]) -> impl IntoView + use<> {
    let cells = columns.iter().map(|column| cell(*column, &row)).collect_view();
    view! { <tr>{cells}</tr> }
}

fn cell(column: Column, row: &LeaderboardRow) -> AnyView {
    if column == Column::Skill {
        return view! { <th scope="row" class=place(column)>{skills(row)}</th> }.into_any();
    }
    view! { <td class=place(column) data-label=column.head()>{inside(column, row)}</td> }.into_any()
}

fn inside(column: Column, row: &LeaderboardRow) -> AnyView {
    let (record, measured) = (&row.record, &row.record.measured);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned()).into_any();
    match column {
        Column::Tier => tier(row).into_any(),
        Column::Skill => skills(row).into_any(),
        Column::Author => or_dash(record.author()),
        Column::Category => or_dash(record.category.clone()),
        Column::Agent => actor(row).into_any(),
        Column::Set => set(row).into_any(),
        Column::Size => size(row).into_any(),
        Column::Without => percent(measured.without).into_any(),
        Column::With => percent(measured.with).into_any(),
        Column::Delta => view! { <DeltaCell row=row.clone()/> }.into_any(),
        Column::Verdict => verdict(row).into_any(),
        Column::Opened => {
            let n = (measured.opened_known > 0)
                .then(|| view! { <span class="quiet block">{format!("of {}", count(measured.opened_known))}</span> });
            view! { {percent(measured.opened_rate())}{n} }.into_any()
        }
        Column::Rho => {
            let ci = measured.rho_ci.map(|ci| view! { <span class="quiet block">{change_interval(ci)}</span> });
            view! { {change(measured.rho)}{ci} }.into_any()
        }
        Column::Quadrant => quadrant(row).into_any(),
        Column::Tokens => tokens(measured.tokens_per_solve).into_any(),
        Column::Money => {
            let prices = measured.prices.clone().filter(|_| measured.money_per_solve.is_some());
            let prices = prices.map(|prices| view! { <span class="quiet block">{prices}</span> });
            view! { {domain::leaderboard::cell(column, row)}{prices} }.into_any()
        }
        Column::Gain | Column::Holm | Column::Q => domain::leaderboard::cell(column, row).into_any(),
        Column::Errors => {
            let n = (measured.trials > 0)
                .then(|| view! { <span class="quiet block">{format!("of {}", count(measured.trials))}</span> });
            view! { {percent(measured.error_rate())}{n} }.into_any()
        }
        Column::Date => match record.date {
            Some(at) => view! { <Time at=at/> }.into_any(),
            None => UNKNOWN.into_any(),
        },
        Column::Source => record.attestation.word().into_any(),
    }
}

fn tier(row: &LeaderboardRow) -> impl IntoView + use<> {
    let standing = row.standing;
    match (standing.tier, row.record.unranked) {
        (Some(tier), _) => view! {
            <b>{tier}</b>
            <span class="quiet block">{format!("of {}", standing.tiers)}</span>
        }
        .into_any(),
        // What does not compete bears a chip that says so.
        (None, Some(why)) if row.record.attestation.competes() => view! {
            {UNKNOWN}
            <span class="quiet block why">{why.to_string()}</span>
        }
        .into_any(),
        (None, _) => UNKNOWN.into_any(),
    }
}

fn skills(row: &LeaderboardRow) -> impl IntoView + use<> {
    let record = &row.record;
    let evaluation = record.evaluations.last().map(|id| format!("/evaluations/{id}"));
    let names = if record.skills.is_empty() {
        let name = record.skill_names();
        match evaluation {
            Some(href) => view! { <a href=href>{name}</a> }.into_any(),
            None => name.into_any(),
        }
    } else {
        record.skills.iter().map(skill).collect_view().into_any()
    };
    let below: Vec<String> = record.author().into_iter().chain(record.category.clone()).collect();
    let below = (!below.is_empty()).then(|| view! { <span class="quiet block">{below.join(" · ")}</span> });
    view! { <span class="skill-names">{names}</span> {chip(&record.attestation)} {below} }
}

fn skill(skill: &RowSkill) -> impl IntoView + use<> {
    let name = match skill.skill {
        Some(id) => view! { <a href=format!("/skills/{id}")>{skill.name.clone()}</a> }.into_any(),
        None => skill.name.clone().into_any(),
    };
    let address = skill.version.map(|version| version.to_hex());
    let version = skill
        .version_in_short()
        .map(|version| view! { <code class="hash" title=address>{format!("@{version}")}</code> });
    view! { <span class="skill-name">{name}{version}</span> }
}

/// Marks rows that do not compete.
fn chip(attestation: &Attestation) -> impl IntoView + use<> {
    let why = attestation.hint()?;
    Some(view! { <span class="chip chip-dashed" title=why>{attestation.word()}</span> })
}

fn actor(row: &LeaderboardRow) -> impl IntoView + use<> {
    let record = &row.record;
    let model = record.model.clone().unwrap_or_else(|| "no model".to_owned());
    view! {
        <span class="foreign">{model}</span>
        <span class="quiet block">{record.agent.title()}</span>
        <span class="quiet block foreign">{record.task_set.name.clone()}</span>
    }
}

fn set(row: &LeaderboardRow) -> impl IntoView + use<> {
    let set = &row.record.task_set;
    let part = set
        .tasks
        .filter(|tasks| *tasks != row.record.measured.tasks)
        .map(|tasks| view! { <span class="quiet block">{format!("{} of {}", row.record.measured.tasks, plural(u64::from(tasks), "task", "tasks"))}</span> });
    view! { <span class="foreign">{set.name.clone()}</span>{part} }
}

fn size(row: &LeaderboardRow) -> impl IntoView + use<> {
    let measured = &row.record.measured;
    let runs = row.record.evaluations.len() as u64;
    let runs = (runs > 1).then(|| view! { <span class="quiet block">{format!("{} evaluations", count(runs))}</span> });
    let missing = (measured.pairs_incomplete > 0)
        .then(|| view! { <span class="quiet block">{format!("{} left out", plural(measured.pairs_incomplete, "pair", "pairs"))}</span> });
    view! { {domain::leaderboard::cell(Column::Size, row)}{runs}{missing} }
}

fn verdict(row: &LeaderboardRow) -> impl IntoView + use<> {
    let standing = row.standing;
    let p = row.record.measured.estimate.map(|estimate| estimate.p_value);
    let number = domain::report::number::p_value;
    let words = match (p, standing.p_holm) {
        (None, _) => None,
        (Some(_), Some(holm)) if standing.family_size > 1 => {
            Some(format!("p {} among {}", number(Some(holm)), standing.family_size))
        }
        (raw, _) => Some(format!("p {}", number(raw))),
    };
    let alone = Some(row.record.says_alone()).filter(|alone| *alone != row.says());
    view! {
        <Verdict says=row.says() ranked=row.record.unranked.is_none()/>
        {words.map(|words| view! { <span class="quiet block">{words}</span> })}
        {alone.map(|alone| view! { <span class="quiet block">{format!("alone: {}", alone.to_string().to_lowercase())}</span> })}
    }
}

/// A quadrant is a statement about Δ: where that is not settled, so is this.
fn quadrant(row: &LeaderboardRow) -> impl IntoView + use<> {
    match row.record.measured.quadrant {
        None => view! { <span>{UNKNOWN}</span> },
        Some(_) if !row.says().is_settled() => view! { <span>"not settled"</span> },
        Some(quadrant) => view! { <span>{quadrant.name()}</span> },
    }
}
