//! What is known of a skill: its latest verdict with whose it is, its results by version, and a badge to put elsewhere.

use domain::comparison::Compared;
use domain::id::SkillId;
use domain::leaderboard::{Column, LeaderboardRow, PublishedSnapshot};
use domain::report::{Sight, delta_in_short};
use leptos::prelude::*;

use super::snapshots::{ARCHIVE, SnapshotLink};
use crate::components::leaderboard_table::LeaderboardTable;
use crate::components::verdict::Verdict;
use crate::components::words::Time;
use crate::format::plural;

/// What a skill's own page shows of each row.
const COLUMNS: [Column; 10] = [
    Column::Skill,
    Column::Agent,
    Column::Size,
    Column::Without,
    Column::With,
    Column::Delta,
    Column::Verdict,
    Column::Opened,
    Column::Rho,
    Column::Date,
];

/// The section.
#[component]
pub fn SkillResults(
    skill: SkillId,
    name: String,
    rows: Vec<LeaderboardRow>,
    /// The first of them as it was published.
    #[prop(optional_no_strip)]
    published: Option<(PublishedSnapshot, LeaderboardRow)>,
    origin: String,
) -> impl IntoView {
    let body = match rows.first().cloned() {
        None => view! { <p class="quiet">"No finished evaluation of it is on the leaderboard yet. Its results by version will stand here."</p> }.into_any(),
        Some(latest) => view! {
            {headline(&latest, published)}
            <LeaderboardTable rows=rows columns=COLUMNS.to_vec() caption="Results by version".to_owned()/>
            <p><a href=format!("/leaderboard?skill={skill}")>"On the leaderboard"</a></p>
        }
        .into_any(),
    };
    view! {
        <section class="section" id="results">
            <h2>"Results by version"</h2>
            {body}
            <Badge skill=skill name=name origin=origin/>
        </section>
    }
}

/// The newest version's best known result, and every part of who it is about.
fn headline(row: &LeaderboardRow, published: Option<(PublishedSnapshot, LeaderboardRow)>) -> impl IntoView + use<> {
    let (record, measured) = (&row.record, &row.record.measured);
    let raw = measured.estimate.map(|estimate| domain::report::number::p_value(Some(estimate.p_value)));
    let p = raw.map(|raw| match row.standing.p_holm {
        Some(holm) if row.standing.family_size > 1 => format!(
            "p {raw} alone, {} adjusted for {} rows of the same tasks, agent and model",
            domain::report::number::p_value(Some(holm)),
            row.standing.family_size
        ),
        _ => format!("p {raw}; no other row of these tasks, agent and model to adjust for"),
    });
    let published = match published {
        Some((snapshot, then)) => {
            let words = format!(", {} in ", adjusted(&then));
            view! { <Verdict says=then.says() ranked=then.record.unranked.is_none()/>{words}<SnapshotLink snapshot=snapshot/> }.into_any()
        }
        None => {
            view! { "not yet; the badge is grey until it is: "<a href=ARCHIVE>"published snapshots"</a> }.into_any()
        }
    };
    let seen = Sight::of_row(measured).map(|seen| view! { <p>{seen.sentence(Compared::NoSkill)}</p> });
    let p = if row.says().is_settled() || row.standing.p_holm.is_some() { p } else { None };
    view! {
        <div class="latest">
            <p class="latest-verdict">
                <Verdict says=row.says() ranked=record.unranked.is_none()/>
                <b class="num">{delta_in_short(measured.delta, measured.delta_ci())}</b>
                <span class="quiet">{format!("on {} of {}", plural(u64::from(measured.tasks), "task", "tasks"), record.task_set.name)}</span>
            </p>
            {seen}
            <dl class="actor">
                <div><dt>"Version"</dt><dd>{record.skills.first().and_then(|skill| skill.version_in_short())}</dd></div>
                <div><dt>"Agent and model"</dt><dd>{record.actor()}</dd></div>
                {record.date.map(|at| view! { <div><dt>"Planned"</dt><dd><Time at=at/></dd></div> })}
                <div><dt>"Source"</dt><dd>{record.attestation.word()}</dd></div>
                {p.map(|p| view! { <div><dt>"Test"</dt><dd>{p}</dd></div> })}
                <div><dt>"Published"</dt><dd>{published}</dd></div>
            </dl>
        </div>
    }
}

fn adjusted(row: &LeaderboardRow) -> String {
    match (row.standing.adjusted, row.standing.family_size) {
        (true, 2..) => format!("adjusted for {} rows", row.standing.family_size),
        _ => "no other row to adjust for".to_owned(),
    }
}

/// The badge as it looks now, and the text that puts it elsewhere.
#[component]
fn Badge(skill: SkillId, name: String, origin: String) -> impl IntoView {
    let path = format!("/badge/{skill}.svg");
    // Square brackets would end the image's words.
    let words: String = name.chars().filter(|c| !matches!(c, '[' | ']' | '\\')).collect();
    let markdown = format!("[![{words}: Δ by Skilldelta]({origin}{path})]({origin}/skills/{skill})");
    view! {
        <details class="badge">
            <summary><img src=path alt="Badge of this skill as it looks now" height="20"/><span class="badge-how">"Show this badge elsewhere"</span></summary>
            <p class="quiet">"It is grey until the answer is settled and published, and always names its model and version. Add "<code>"?model="</code>", "<code>"agent="</code>" or "<code>"set="</code>" to choose a row; without, it shows the newest version's row with most pairs."</p>
            <label class="label" for="badge-text">"Markdown"</label>
            <input class="input mono" id="badge-text" readonly=true value=markdown/>
        </details>
    }
}
