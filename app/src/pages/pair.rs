//! One pair: what it says, both arms' facts, tests, traces side by side, logs.

use domain::condition::{Condition, Flip, Pair as Arms};
use domain::id::{EvaluationId, TaskId};
use domain::listing::{ArmDetail, PairDetail};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use super::address::part;
use super::pair_facts::{Facts, Proof};
use super::pair_tests::Tests;
use crate::AppError;
use crate::api;
use crate::components::arms::{ArmName, call_arms};
use crate::components::flip::{FlipMark, meaning};
use crate::components::fold::LongText;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::loaded;
use crate::components::trace_rows::{TraceRows, by_number};
use crate::components::words::{Crumbs, ScriptedChip};
use crate::format::count;

/// Rows of the traces that are shown at once; the others on demand.
const FIRST_ROWS: usize = 200;

/// One pair.
#[component]
pub fn Pair() -> impl IntoView {
    let (evaluation, task, repeat) = (part::<EvaluationId>("id"), part::<TaskId>("task"), part::<u32>("repeat"));
    let data = Resource::new(
        move || (evaluation.get(), task.get(), repeat.get()),
        |address| async move {
            match address {
                (Some(evaluation), Some(task), Some(repeat)) => api::pair(evaluation, task, repeat).await,
                _ => Err(AppError::not_found("pair")),
            }
        },
    );
    let query = use_query_map();
    loaded(data, move |pair| page(pair, query.with_untracked(|query| query.get_str("rows") == Some("all"))).into_any())
}

fn page(pair: PairDetail, all_rows: bool) -> impl IntoView {
    call_arms(pair.compared);
    let title = format!("{}, repeat {}", pair.task, pair.repeat);
    let crumbs = vec![
        ("/evaluations".to_owned(), "Evaluations".to_owned()),
        (format!("/evaluations/{}", pair.evaluation), pair.title.clone()),
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
                    <ScriptedChip scripted=pair.scripted/>
                    {task.map(|href| view! { <a href=href>"the task"</a> })}
                </p>
            </header>
            <div class="pair-top">
                <Facts evaluation=pair.evaluation arms=pair.arms.clone()/>
                <Proof arms=pair.arms.clone()/>
            </div>
            <Tests arms=pair.arms.clone()/>
            <Traces arms=pair.arms.clone() all=all_rows/>
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
    let href = |place: (TaskId, u32)| format!("/evaluations/{}/pairs/{}/{}", pair.evaluation, place.0, place.1);
    let previous = pair.previous.map(href);
    let next = pair.next.map(href);
    view! {
        <nav class="turn" aria-label="Pairs">
            {previous.map(|href| view! { <a class="button small" rel="prev" href=href><Icon sign=Sign::Previous/>"Previous pair"</a> })}
            {next.map(|href| view! { <a class="button small" rel="next" href=href>"Next pair"<Icon sign=Sign::Next/></a> })}
        </nav>
    }
}

/// Both traces; on narrow pages one at a time, chosen by two radio buttons that work without JavaScript.
#[component]
fn Traces(
    arms: Arms<Option<ArmDetail>>,
    /// Whether every row is shown, however many there are.
    all: bool,
) -> impl IntoView {
    let traces = arms.map(|arm| arm.and_then(|arm| arm.trace));
    let missing = Condition::BOTH.into_iter().filter(|condition| traces.get(*condition).is_none()).collect::<Vec<_>>();
    let mut rows = by_number(traces);
    let count_all = rows.len();
    if !all {
        rows.truncate(FIRST_ROWS);
    }
    let more = (count_all > rows.len()).then(|| {
        let words =
            format!("Show all {} steps; the first {} are above", count(count_all as u64), count(FIRST_ROWS as u64));
        view! { <p><a class="button" href="?rows=all" rel="external">{words}</a></p> }
    });
    let empty = rows.is_empty();
    view! {
        <section class="section traces">
            <h2>"Traces"</h2>
            {missing.into_iter().map(|arm| view! { <p class="quiet">"There is no trace of the " <ArmName condition=arm/> " trial."</p> }).collect_view()}
            {(!empty).then(|| {
                view! {
                    <div class="swap">
                        <input class="swap-radio" type="radio" name="trace-arm" id="show-without"/>
                        <label class="swap-label" for="show-without"><ArmName condition=Condition::NoSkill/></label>
                        <input class="swap-radio" type="radio" name="trace-arm" id="show-with" checked=true/>
                        <label class="swap-label" for="show-with"><ArmName condition=Condition::WithSkill/></label>
                        <div class="trace-head" aria-hidden="true"><ArmName condition=Condition::NoSkill/><ArmName condition=Condition::WithSkill/></div>
                        <TraceRows rows=rows/>
                    </div>
                }
            })}
            {more}
        </section>
    }
}

/// What agent and verifier printed.
#[component]
fn Logs(arms: Arms<Option<ArmDetail>>) -> impl IntoView {
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
