//! All evaluations, newest first.

use domain::listing::EvaluationListing;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::api;
use crate::components::evaluation_table::EvaluationTable;
use crate::components::loaded::loaded;
use crate::components::words::Empty;

/// The list of evaluations.
#[component]
pub fn Evaluations() -> impl IntoView {
    let data = Resource::new(|| (), |()| api::evaluations());
    view! { <Title text="Evaluations"/>{loaded(data, |evaluations| page(evaluations).into_any())} }.into_any()
}

fn page(evaluations: Vec<EvaluationListing>) -> impl IntoView {
    view! {
        <article class="page">
            <header class="page-head">
                <div class="title-line">
                    <h1>"Evaluations"</h1>
                    <a class="button primary" href="/evaluations/new">"New evaluation"</a>
                </div>
                <p class="lead">"Each compares the same tasks, agent and model without and with a skill. Δ counts complete pairs only."</p>
            </header>
            {if evaluations.is_empty() {
                view! {
                    <Empty title="No evaluations yet">
                        <p>"Choose a skill and tasks; the plan says what it takes before anything is spent."</p>
                        <p class="actions"><a class="button primary" href="/evaluations/new">"New evaluation"</a></p>
                    </Empty>
                }
                .into_any()
            } else {
                view! { <EvaluationTable evaluations=evaluations/> }.into_any()
            }}
        </article>
    }
}
