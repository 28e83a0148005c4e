//! The paired matrix: task by task, pair by pair, each a link to both traces. What is shown, in which order, and which page of it stands in the
//! address, so that it can be shared and works without JavaScript.

use domain::condition::Condition;
use domain::id::EvaluationId;
use domain::report::matrix::{Kind, MatrixPage, Order, View};
use domain::report::{TaskReport, Totals};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::grid_keys::move_focus;
use crate::api;
use crate::components::arms::{ArmName, name};
use crate::components::delta::{Delta, DeltaBar};
use crate::components::flip::{FlipLink, look};
use crate::components::icon::Icon;
use crate::components::loaded::error_page;
use crate::components::pager::pager;
use crate::format::{UNKNOWN, count, percent, plural, tokens};

/// The address of a view of the matrix.
fn address(view: &View) -> String {
    let query = view.query();
    format!("{}#pairs", if query.is_empty() { "?" } else { &query })
}

/// The matrix of an evaluation.
#[component]
pub fn Matrix(
    /// Its row.
    id: EvaluationId,
    /// For the numbers beside the filters.
    totals: Totals,
    /// Planned for each task.
    repeats: u32,
) -> impl IntoView {
    let search = use_location().search;
    let page = Resource::new(move || search.get(), move |query| api::matrix(id, query));
    view! {
        <section class="section" id="pairs">
            <h2>"Pairs by task"</h2>
            <p class="quiet">"Each mark is one pair and leads to both traces and test results. Arrow keys go from mark to mark."</p>
            <Transition fallback=|| view! { <p class="quiet">"Loading"</p> }>
                {move || {
                    let totals = totals.clone();
                    Suspend::new(async move {
                        match page.await {
                            Ok(page) => shown(id, &totals, repeats, page).into_any(),
                            Err(error) => error_page(error),
                        }
                    })
                }}
            </Transition>
        </section>
    }
}

fn shown(id: EvaluationId, totals: &Totals, repeats: u32, page: MatrixPage) -> impl IntoView + use<> {
    let view = page.view;
    let filters = filters(totals, view);
    let orders = orders(view, page.has_groups);
    let pages = pages(&page);
    let empty = page.rows.is_empty();
    view! {
        <nav class="choices" aria-label="Pairs to show">{filters}</nav>
        <nav class="choices choices-quiet" aria-label="Order of tasks">{orders}</nav>
        {if empty {
            view! { <p class="quiet">"No task has such a pair. " <a href=address(&view.of_kind(None))>"Show all tasks"</a></p> }.into_any()
        } else {
            table(id, repeats, page).into_any()
        }}
        {pages}
    }
}

/// A choice among others: a link that says whether it is the one taken.
fn choice(taken: bool, href: String, class: &'static str, words: impl IntoView) -> impl IntoView {
    view! { <a class=format!("filter {class}") href=href aria-current=taken.then_some("true")>{words}</a> }
}

fn filters(totals: &Totals, view: View) -> impl IntoView + use<> {
    let all = choice(view.kind.is_none(), address(&view.of_kind(None)), "", "All tasks");
    let totals = totals.clone();
    let kinds = Kind::ALL.map(|kind| {
        let (sign, class, word) = look(kind.flip());
        let n = of_kind(&totals, kind);
        let words = view! { <Icon sign=sign/><span>{word}</span><b class="num">{count(n)}</b> };
        (n > 0 || view.kind == Some(kind))
            .then(|| choice(view.kind == Some(kind), address(&view.of_kind(Some(kind))), class, words))
    });
    view! { {all}{kinds.into_iter().collect_view()} }
}

/// How many pairs are of a kind.
pub const fn of_kind(totals: &Totals, kind: Kind) -> u64 {
    use domain::condition::Flip;
    match kind {
        Kind::Flip(Flip::Rescued) => totals.rescued,
        Kind::Flip(Flip::Broken) => totals.broken,
        Kind::Flip(Flip::Both) => totals.both,
        Kind::Flip(Flip::Neither) => totals.neither,
        Kind::Incomplete => totals.pairs_incomplete,
    }
}

const fn order_words(order: Order) -> &'static str {
    match order {
        Order::Plan => "as planned",
        Order::Name => "by name",
        Order::Harm => "greatest loss first",
        Order::Gain => "greatest gain first",
        Order::Tokens => "most added tokens first",
    }
}

fn orders(view: View, has_groups: bool) -> impl IntoView {
    let orders =
        Order::ALL.map(|order| choice(view.order == order, address(&view.ordered(order)), "", order_words(order)));
    let grouped = has_groups.then(|| {
        let other = View { grouped: !view.grouped, page: 1, ..view };
        choice(view.grouped, address(&other), "", "by group")
    });
    view! { <span class="quiet">"Order"</span>{orders.into_iter().collect_view()}{grouped} }
}

fn table(id: EvaluationId, repeats: u32, page: MatrixPage) -> impl IntoView {
    let view = page.view;
    let mut group = None;
    let rows = page
        .rows
        .into_iter()
        .map(|(of, task)| {
            let head = (view.grouped && group.as_ref() != Some(&of)).then(|| {
                let words = of.clone().unwrap_or_else(|| "no group".to_owned());
                view! { <tr class="group-row"><th scope="rowgroup" colspan="9" class="foreign">{words}</th></tr> }
            });
            group = Some(of);
            view! { {head}{row(id, repeats, view, task)} }
        })
        .collect_view();
    view! {
        <div class="table-scroll">
            <table class="table matrix" on:keydown=move_focus>
                <caption class="visually-hidden">{format!("{} of {}", plural(page.tasks as u64, "task", "tasks"), count(page.of as u64))}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Task"</th>
                        <th scope="col">"Pairs"</th>
                        <th scope="col" class="num"><ArmName condition=Condition::NoSkill/></th>
                        <th scope="col" class="num"><ArmName condition=Condition::WithSkill/></th>
                        <th scope="col" class="num">"Δ"</th>
                        <th scope="col" class="bar-head">"−100 … +100 pp"</th>
                        <th scope="col" class="num">{format!("Tokens {}", name(Condition::NoSkill))}</th>
                        <th scope="col" class="num">{format!("Tokens {}", name(Condition::WithSkill))}</th>
                        <th scope="col">"Opened"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn row(id: EvaluationId, repeats: u32, view: View, task: TaskReport) -> impl IntoView {
    let base = format!("/evaluations/{id}/pairs/{}", task.task_id);
    let query = View { page: 1, ..view }.query();
    let n = format!(" n={}", count(task.pairs_complete));
    let rate = |share: Option<f64>| {
        let n = (repeats > 1).then(|| share.map(|_| n.clone()));
        view! { {percent(share)}<span class="quiet">{n}</span> }
    };
    let pairs = task
        .pairs
        .into_iter()
        .map(|pair| {
            let href = format!("{base}/{}{query}", pair.repeat);
            let other = view.kind.is_some_and(|kind| !kind.holds(&pair));
            view! { <FlipLink pair=pair href=href other=other/> }
        })
        .collect_view();
    let partial = (task.pairs_complete < u64::from(repeats))
        .then(|| format!("{} of {repeats} pairs complete", task.pairs_complete));
    view! {
        <tr>
            <th scope="row" class="foreign">{task.task}{partial.map(|words| view! { <span class="quiet block">{words}</span> })}</th>
            <td><span class="flip-links">{pairs}</span></td>
            <td class="num">{rate(task.pass_rate_without)}</td>
            <td class="num">{rate(task.pass_rate_with)}</td>
            <td class="num"><Delta delta=task.delta/></td>
            <td class="bar-cell"><DeltaBar delta=task.delta/></td>
            <td class="num">{tokens(task.tokens_without)}</td>
            <td class="num">{tokens(task.tokens_with)}</td>
            <td>{opened(task.activated)}</td>
        </tr>
    }
}

/// Links to the other pages of the matrix.
pub fn pages(page: &MatrixPage) -> Option<AnyView> {
    let view = page.view;
    let to = |number: u64| address(&View { page: usize::try_from(number).unwrap_or(usize::MAX), ..view });
    let beside = format!(", {}", plural(page.tasks as u64, "task", "tasks"));
    pager(view.page as u64, page.pages as u64, "Pages of the matrix", &beside, to)
}

const fn opened(activated: Option<bool>) -> &'static str {
    match activated {
        Some(true) => "yes",
        Some(false) => "no",
        None => UNKNOWN,
    }
}
