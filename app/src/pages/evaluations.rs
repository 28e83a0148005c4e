//! All evaluations, newest first.

use domain::listing::EvaluationsPage;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::api;
use crate::components::evaluation_table::EvaluationTable;
use crate::components::loaded::loaded;
use crate::components::pager::pager;
use crate::components::words::Empty;
use crate::format::plural;

/// The list of evaluations.
#[component]
pub fn Evaluations() -> impl IntoView {
    let query = use_query_map();
    let page_number = Memo::new(move |_| query.with(|query| query.get_str("page").and_then(|page| page.parse().ok())));
    let data = Resource::new(move || page_number.get().unwrap_or(1), api::evaluations);
    view! { <Title text="Evaluations"/>{loaded(data, |evaluations| page(evaluations).into_any())} }.into_any()
}

fn page(page: EvaluationsPage) -> impl IntoView {
    let EvaluationsPage { evaluations, all, page, pages } = page;
    let beside = format!(", {}", plural(u64::from(all), "evaluation", "evaluations"));
    let to = |page: u64| format!("/evaluations?page={page}");
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
                view! {
                    <EvaluationTable evaluations=evaluations/>
                    {pager(u64::from(page), u64::from(pages), "Pages of evaluations", &beside, to)}
                }
                .into_any()
            }}
        </article>
    }
}
