//! What to do with a result: plan it again, or measure how far chance alone moves it.

use domain::comparison::Compared;
use domain::report::{EvaluationReport, number};
use leptos::prelude::*;

use crate::components::words::CsrfField;
use crate::draft::Draft;
use crate::format::count;

/// A link to the form filled in alike, and a button that starts the A/A evaluation of the same tasks.
#[component]
pub fn Again(report: EvaluationReport, draft: Draft) -> impl IntoView {
    let href = format!("/evaluations/new{}", draft.to_query());
    let is_alike = report.comparison.kind == Compared::Same;
    let known = report.noise_floor.is_some();
    let alike = (!is_alike).then(|| {
        let fields = draft.alike().pairs();
        let fields = fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
        view! {
            <form class="again-form" method="post" action="/evaluations/start">
                <CsrfField/>
                {fields.collect_view()}
                <button class="button small">{format!("Start an A/A evaluation{}: {}", if known { " again" } else { "" }, cost(&report))}</button>
            </form>
        }
    });
    let words = (!is_alike).then(|| {
        view! { <span class="quiet">"It runs these tasks without a skill in either arm: how far chance alone moves Δ here (the noise floor)."</span> }
    });
    view! {
        <div class="again">
            <a class="button small" href=href>"Run again or change it"</a>
            {alike}
            {words}
        </div>
    }
}

/// What the A/A evaluation takes, going by the baseline arm of this one: `80 trials, about 1.2M tokens`.
fn cost(report: &EvaluationReport) -> String {
    let trials = report.totals.pairs() * 2;
    let tokens = report.totals.tokens_without.map(|tokens| number::tokens(Some(tokens * trials as f64)));
    let tokens = tokens.map(|tokens| format!(", about {tokens} tokens")).unwrap_or_default();
    format!("{} trials{tokens}", count(trials))
}
