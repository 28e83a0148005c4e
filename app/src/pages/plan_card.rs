//! The plan card: what a plan takes and what it can tell, before anything is spent.

use domain::listing::PlanCard;
use leptos::prelude::*;

use crate::api::Checked;
use crate::components::findings::FindingList;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::sentence;
use crate::format::{count, limit, percent, plural};

/// The card; follows the last check.
#[component]
pub fn PlanCardView(checked: RwSignal<Option<Checked>>) -> impl IntoView {
    view! {
        <section class="card plan-card" aria-live="polite">
            <h2>"Plan"</h2>
            {move || match checked.get() {
                None => view! { <p class="quiet">"Choose tasks and check the plan: it will say how many trials it takes, how long at most, and the smallest Δ it can resolve."</p> }.into_any(),
                Some(Checked { card: Some(card), .. }) => numbers(card).into_any(),
                Some(Checked { card: None, problems }) => view! {
                    <p class="problem"><Icon sign=Sign::Error/><span>"This plan cannot be started as it is."</span></p>
                    <ul class="plain-list">{problems.into_iter().map(|problem| view! { <li>{sentence(&problem.message)}</li> }).collect_view()}</ul>
                }
                .into_any(),
            }}
        </section>
    }
}

fn numbers(card: PlanCard) -> impl IntoView {
    let per_task = card.trials.checked_div(card.tasks).unwrap_or(0) / 2;
    let resolves = match card.smallest_delta {
        Some(delta) => view! {
            <p class="plan-verdict"><Icon sign=Sign::Pass/><span>"Smallest Δ it can resolve: " <b>{percent(Some(delta)).replace('%', "pp")}</b></span></p>
        }
        .into_any(),
        None => view! {
            <p class="plan-verdict plan-warning"><Icon sign=Sign::Warning/><span>"No outcome can be told from chance"</span></p>
        }
        .into_any(),
    };
    view! {
        <dl class="plan-numbers">
            <div>
                <dt>"Trials"</dt>
                <dd><b>{count(card.trials)}</b><span class="quiet">{format!("{} × {} × 2 arms", plural(card.tasks, "task", "tasks"), plural(per_task, "repeat", "repeats"))}</span></dd>
            </div>
            <div><dt>"Longest"</dt><dd><b>{limit(card.longest_seconds)}</b><span class="quiet">"if every trial takes its whole limit"</span></dd></div>
        </dl>
        {resolves}
        <p class="quiet">{card.advice}</p>
        <FindingList findings=card.findings/>
    }
}
