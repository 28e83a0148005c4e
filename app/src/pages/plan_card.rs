//! The plan card: what a plan takes and what it can tell, before anything is spent.

use domain::listing::PlanCard;
use domain::planner::{Expected, PlanEstimate};
use leptos::prelude::*;

use crate::api::Checked;
use crate::components::findings::FindingList;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::sentence;
use crate::draft::Problem;
use crate::format::{count, limit, percent, plural, tokens};

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
                    {in_words(problems)}
                }
                .into_any(),
            }}
        </section>
    }
}

/// Problems of the plan as a whole; those of a field stand beside it.
fn in_words(problems: Vec<Problem>) -> impl IntoView {
    let (whole, fields): (Vec<Problem>, Vec<Problem>) =
        problems.into_iter().partition(|problem| problem.field.is_empty());
    let fields = (!fields.is_empty())
        .then(|| format!("Mend the {} marked in the form.", plural(fields.len() as u64, "field", "fields")));
    let whole = whole.into_iter().map(|problem| sentence(&problem.message));
    view! { <ul class="plain-list">{whole.chain(fields).map(|words| view! { <li>{words}</li> }).collect_view()}</ul> }
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
    let estimate = card.estimate.map(expected);
    view! {
        <p class="plan-compared foreign">{card.compared.clone()}</p>
        <dl class="plan-numbers">
            <div>
                <dt>"Trials"</dt>
                <dd><b>{count(card.trials)}</b><span class="quiet">{format!("{} × {} × 2 arms", plural(card.tasks, "task", "tasks"), plural(per_task, "repeat", "repeats"))}</span></dd>
            </div>
            <div><dt>"Longest"</dt><dd><b>{limit(card.longest_seconds)}</b><span class="quiet">"if every trial takes its whole limit"</span></dd></div>
            {estimate}
        </dl>
        {resolves}
        <p class="quiet">{card.advice}</p>
        <FindingList findings=card.findings/>
    }
}

/// Time and tokens as past trials lead to expect; nothing where there are none.
fn expected(estimate: PlanEstimate) -> impl IntoView {
    let past = format!("8 of 10 such plans; from {}", plural(estimate.past_trials, "past trial", "past trials"));
    let row = |name: &'static str, amount: Expected, words: fn(f64) -> String| {
        let range = format!("{} to {}: ", words(amount.low), words(amount.high));
        view! { <div><dt>{name}</dt><dd><b>{words(amount.expected)}</b><span class="quiet">{range}{past.clone()}</span></dd></div> }
    };
    view! {
        {estimate.seconds.map(|amount| row("Expected time", amount, |seconds| limit(seconds.max(0.0).round() as u64)))}
        {estimate.tokens.map(|amount| row("Expected tokens", amount, |n| tokens(Some(n))))}
    }
}
