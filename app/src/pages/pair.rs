//! One pair: what it says, both arms' facts, tests, traces side by side, logs.

use domain::condition::{Condition, Flip, Pair as Arms};
use domain::id::{EvaluationId, TaskId};
use domain::listing::{ArmDetail, PairDetail};
use domain::report::matrix::View;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_query_map};

use super::address::part;
use super::pair_calls::Calls;
use super::pair_facts::Facts;
use super::pair_proof::Proof;
use super::pair_tests::{Measures, Tests};
use super::pair_traces::Traces;
use crate::AppError;
use crate::api::{self, PairView};
use crate::components::arms::{ArmName, call_arms};
use crate::components::flip::{FlipMark, meaning};
use crate::components::fold::LongText;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::loaded;
use crate::components::words::{Crumbs, DemonstrationChip};
use crate::format::{count, plural};

/// One pair.
#[component]
pub fn Pair() -> impl IntoView {
    let (evaluation, task, repeat) = (part::<EvaluationId>("id"), part::<TaskId>("task"), part::<u32>("repeat"));
    let query = use_query_map();
    let rows = Memo::new(move |_| query.with(|query| query.get_str("rows").unwrap_or_default().to_owned()));
    let from =
        Memo::new(move |_| query.with(|query| query.get_str("from").and_then(|from| from.parse().ok()).unwrap_or(0)));
    let search = use_location().search;
    let view = Memo::new(move |_| View::from_query(&search.get()).query());
    let data = Resource::new(
        move || (evaluation.get(), task.get(), repeat.get(), view.get(), rows.get(), from.get()),
        |(evaluation, task, repeat, view, rows, from)| async move {
            match (evaluation, task, repeat) {
                (Some(evaluation), Some(task), Some(repeat)) => {
                    api::pair(evaluation, task, repeat, view, rows, from).await
                }
                _ => Err(AppError::not_found("pair")),
            }
        },
    );
    loaded(data, |view| page(view).into_any())
}

fn page(view: PairView) -> impl IntoView {
    let PairView { pair, chart } = view;
    call_arms(pair.compared.arms());
    let title = format!("{}, repeat {}", pair.task, pair.repeat);
    let crumbs = vec![
        ("/evaluations".to_owned(), "Evaluations".to_owned()),
        (format!("/evaluations/{}{}", pair.evaluation, pair.view.query()), pair.title.clone()),
    ];
    let flip = flip(&pair.arms);
    // Tasks of imported evaluations are names only.
    let task = (pair.task_id.0 > 0).then(|| format!("/tasks/{}", pair.task_id));
    view! {
        <Title text=title/>
        <article class="page page-wide">
            <header class="page-head">
                <Crumbs links=crumbs/>
                <div class="title-line">
                    <h1 class="foreign">{pair.task.clone()}</h1>
                    <Turn pair=pair.clone()/>
                </div>
                <p class="pair-says">
                    <FlipMark flip=flip/><span>{meaning(flip)}</span>
                    <span class="quiet">{format!("repeat {} of {}", pair.repeat, pair.repeats)}</span>
                    <DemonstrationChip demonstration=pair.demonstration/>
                    {task.map(|href| view! { <a href=href>"the task"</a> })}
                </p>
            </header>
            <div class="pair-top">
                <Facts evaluation=pair.evaluation arms=pair.arms.clone()/>
                <Proof arms=pair.arms.clone()/>
            </div>
            <Tests arms=pair.arms.clone() measures=Measures::of(pair.pass_to_pass)/>
            <Calls arms=pair.arms.clone()/>
            <Traces arms=pair.arms.clone() page=pair.traces chart=chart kept=pair.view.query()/>
            <Logs arms=pair.arms/>
        </article>
    }
}

/// What the pair says, from both trials' verdicts.
fn flip(arms: &Arms<Option<ArmDetail>>) -> Option<Flip> {
    let passed = |arm: &Option<ArmDetail>| match arm.as_ref()?.trial.verdict.as_deref()? {
        "pass" => Some(true),
        "fail" => Some(false),
        _ => None,
    };
    Some(Flip::of(Arms { without: passed(&arms.without)?, with: passed(&arms.with)? }))
}

/// Links to the pair before and the pair after.
#[component]
fn Turn(pair: PairDetail) -> impl IntoView {
    let query = pair.view.query();
    let href = |place: (TaskId, u32)| format!("/evaluations/{}/pairs/{}/{}{query}", pair.evaluation, place.0, place.1);
    let kind = pair.view.kind.map_or_else(String::new, |kind| format!(" {}", kind.word()));
    let place =
        pair.place.map(|place| format!("{} of {}{kind}", count(place as u64), plural(pair.of as u64, "pair", "pairs")));
    let place = place.map(|words| view! { <span class="quiet">{words}</span> });
    let previous = pair.previous.map(href);
    let next = pair.next.map(href);
    view! {
        <nav class="turn" aria-label="Pairs">
            {previous.map(|href| view! { <a class="button small" rel="prev" href=href><Icon sign=Sign::Previous/>"Previous pair"</a> })}
            {place}
            {next.map(|href| view! { <a class="button small" rel="next" href=href>"Next pair"<Icon sign=Sign::Next/></a> })}
        </nav>
    }
}

/// What agent and verifier printed.
#[component]
pub(super) fn Logs(arms: Arms<Option<ArmDetail>>) -> impl IntoView {
    let log = |condition: Condition, what: &'static str, text: String| {
        let lines = text.lines().count();
        let size = if text.is_empty() { "empty".to_owned() } else { format!("{} lines", count(lines as u64)) };
        view! {
            <details class="log-file">
                <summary><ArmName condition=condition/>" "{what}<span class="quiet">{format!(" {size}")}</span></summary>
                {(!text.is_empty()).then(|| view! { <LongText text=text/> })}
            </details>
        }
    };
    let logs = Condition::BOTH
        .into_iter()
        .filter_map(|condition| {
            let arm = arms.get(condition).clone()?;
            Some(view! { {log(condition, "agent output", arm.agent_log)}{log(condition, "verifier output", arm.verifier_log)} })
        })
        .collect_view();
    view! { <section class="section"><h2>"Logs"</h2>{logs}</section> }
}
