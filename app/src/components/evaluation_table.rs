//! Evaluations in a table; on narrow pages each row becomes a card.

use domain::listing::{EvaluationListing, TrialCounts};
use leptos::prelude::*;

use super::actor::{agent_name, skill_names};
use super::delta::{Delta, DeltaBar};
use super::verdict::HeadlineWord;
use super::words::{DemonstrationChip, ImportedChip, Time};
use crate::format::count;

/// The table.
#[component]
pub fn EvaluationTable(evaluations: Vec<EvaluationListing>) -> impl IntoView {
    view! {
        <div class="table-scroll">
            <table class="table table-cards">
                <thead>
                    <tr>
                        <th scope="col">"Evaluation"</th>
                        <th scope="col">"Skill"</th>
                        <th scope="col">"Agent and model"</th>
                        <th scope="col" class="num">"Tasks × k"</th>
                        <th scope="col">"Trials"</th>
                        <th scope="col">"Verdict"</th>
                        <th scope="col" class="num">"Δ"</th>
                        <th scope="col" class="bar-head">"−100 … +100 pp"</th>
                    </tr>
                </thead>
                <tbody>{evaluations.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn row(evaluation: EvaluationListing) -> impl IntoView {
    let demonstration = evaluation.demonstration();
    let settled = evaluation.is_settled();
    view! {
        <tr class="row-link">
            <th scope="row" class="cell-title">
                <a href=format!("/evaluations/{}", evaluation.id)>{evaluation.title.clone()}</a>
                <ImportedChip imported=evaluation.imported.clone()/>
                <span class="quiet block"><Time at=evaluation.created_at/></span>
            </th>
            <td data-label="Skill" class="wrap">{skill_names(&evaluation.skills)}</td>
            <td data-label="Agent and model">
                {agent_name(&evaluation.agent)}
                <span class="quiet block">
                    {evaluation.model.as_ref().map_or_else(|| "no model".to_owned(), |model| model.name.clone())}
                    " "
                    <DemonstrationChip demonstration=demonstration/>
                </span>
            </td>
            <td data-label="Tasks × k" class="num">{count(evaluation.tasks)} " × " {evaluation.repeats}</td>
            <td data-label="Trials"><Standing counts=evaluation.counts/></td>
            <td data-label="Verdict">
                <HeadlineWord headline=evaluation.headline.clone() settled=settled/>
            </td>
            <td data-label="Δ" class="num"><Delta delta=evaluation.delta neutral=!settled/></td>
            <td class="bar-cell"><DeltaBar delta=evaluation.delta neutral=!settled/></td>
        </tr>
    }
}

/// How the trials stand, in words.
#[component]
fn Standing(counts: TrialCounts) -> impl IntoView {
    let done = counts.is_finished();
    view! {
        <span class=if done { "standing" } else { "standing standing-running" }>{counts.in_words()}</span>
        {counts.missing_in_words().map(|words| view! { <span class="quiet block">{words}</span> }).collect_view()}
    }
}
