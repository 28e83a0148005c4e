//! The leaderboard: whose rows, what to leave out, how many of them show anything, then the rows. The whole view stands in the address.

use domain::leaderboard::{DataSet, LeaderboardPage, LeaderboardQuery, PAGE_SIZE};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use super::leaderboard_filters::Filters;
use super::leaderboard_shapes::{shaped, shapes};
use super::snapshots::{ARCHIVE, standing};
use crate::api::{self, Drawn, LeaderboardView};
use crate::components::leaderboard_table::address;
use crate::components::loaded::loaded;
use crate::components::pager::pager;
use crate::components::words::{Empty, Time};
use crate::format::{count, plural};

/// The leaderboard.
#[component]
pub fn Leaderboard() -> impl IntoView {
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(|params| LeaderboardQuery::parse(&params.to_query_string())));
    let unknown = Memo::new(move |_| params.with(|params| LeaderboardQuery::not_understood(&params.to_query_string())));
    let data = Resource::new(move || query.get(), |query| async move { api::leaderboard(query.to_query()).await });
    view! { <Title text="Leaderboard"/>{loaded(data, move |view| page(view, unknown.get()).into_any())} }.into_any()
}

fn page(view: LeaderboardView, unknown: Vec<String>) -> impl IntoView {
    let unknown = (!unknown.is_empty()).then(|| {
        let words = format!("Not understood, and passed over: {}", unknown.join(", "));
        view! { <p class="note">{words}</p> }
    });
    let standing = standing(&view);
    let LeaderboardView { page: view, chart, .. } = view;
    let query = view.query.clone();
    let body = if view.all == 0 {
        first_use(view.waiting).into_any()
    } else if view.matching == 0 {
        view! { <Filters page=view.clone()/>{nothing_matches(&view)} }.into_any()
    } else {
        view! { <Filters page=view.clone()/>{rows(view.clone(), chart)} }.into_any()
    };
    let note = (!view.note.is_empty()).then(|| view! { <p class="note">{view.note.clone()}</p> });
    view! {
        <article class="page page-full">
            <header class="page-head">
                <h1>"Leaderboard"</h1>
                <p class="lead">"Which skills help, on which tasks, with which agent and model, and how sure that is. A row holds all finished evaluations of one skill version, agent, model and task set: running again adds to it, replaces nothing, and makes chance no likelier to look like a difference."</p>
                {data_sets(&query)}
                {standing}
                {note}
                {unknown}
            </header>
            {body}
        </article>
    }
}

/// Own rows, or the paper's.
fn data_sets(query: &LeaderboardQuery) -> impl IntoView + use<> {
    let link = |data: DataSet, words: &'static str| {
        let current = (query.data == data).then_some("page");
        let href = address(&LeaderboardQuery { data, ..LeaderboardQuery::default() });
        view! { <a class="tab" href=href aria-current=current>{words}</a> }
    };
    view! {
        <nav class="tabs" aria-label="Data set">
            {link(DataSet::Own, "Run here")}
            <a class="tab" href=ARCHIVE aria-current=matches!(query.data, DataSet::Snapshot(_)).then_some("true")>"Published snapshots"</a>
            {link(DataSet::Paper, "The paper: SWE-Skills-Bench, Table 2")}
        </nav>
    }
}

fn first_use(waiting: u32) -> impl IntoView {
    let words = if waiting > 0 {
        format!("{} being counted; load the page again in a moment.", are(waiting))
    } else {
        "A row appears when the first evaluation is finished. Until then the published table shows how it looks."
            .to_owned()
    };
    view! {
        <Empty title="No rows yet">
            <p>{words}</p>
            <p class="actions">
                <a class="button primary" href="/evaluations/new">"New evaluation"</a>
                <a class="button" href="/leaderboard?data=paper">"Look at the published table"</a>
            </p>
            <div class="bones" aria-hidden="true"><div class="bone"></div><div class="bone"></div><div class="bone"></div></div>
        </Empty>
    }
}

fn are(waiting: u32) -> String {
    let verb = if waiting == 1 { "is" } else { "are" };
    format!("{} {verb}", plural(u64::from(waiting), "finished evaluation", "finished evaluations"))
}

fn nothing_matches(view: &LeaderboardPage) -> impl IntoView + use<> {
    let clear = address(&view.query.unfiltered());
    let words = format!("None of the {} is left by these filters.", plural(u64::from(view.all), "row", "rows"));
    view! {
        <Empty title="No row matches">
            <p>{words}</p>
            <p class="actions"><a class="button primary" href=clear>"Clear filters"</a></p>
        </Empty>
    }
}

fn rows(view: LeaderboardPage, chart: Option<Drawn>) -> impl IntoView {
    let query = view.query.clone();
    let from = (query.page.saturating_sub(1) as usize * PAGE_SIZE + 1) as u64;
    let to = from + view.rows.len() as u64 - 1;
    let shown = format!("Rows {} to {} of {}", count(from), count(to), count(u64::from(view.matching)));
    let waiting = (view.waiting > 0)
        .then(|| view! { <p class="note">{format!("{} not in the rows yet.", are(view.waiting))}</p> });
    let to = |page: u64| address(&query.on_page(u32::try_from(page).unwrap_or(u32::MAX)));
    let newest = view.newest.map(|at| view! { ", as of " <Time at=at/> });
    view! {
        <section class="section" aria-label="Rows">
            <p class="honest"><b>{view.counts.sentence()}</b></p>
            {waiting}
            {shapes(&query)}
            {shaped(&view, chart, shown.clone())}
            <div class="section-head">
                <p class="quiet">{shown}{newest}</p>
                {pager(u64::from(query.page), u64::from(view.pages), "Pages of the leaderboard", "", to)}
            </div>
            {exports(&query)}
        </section>
    }
}

/// The same view as files.
fn exports(query: &LeaderboardQuery) -> impl IntoView + use<> {
    let asked = query.on_page(0).to_query();
    let link = |(word, name): (&'static str, &'static str)| {
        let href = format!("/leaderboard/export/{word}?{asked}");
        // Not a page of the app, so its router must not catch the click.
        view! { <li><a href=href rel="external" download="">{name}</a></li> }
    };
    view! {
        <div class="section-head">
            <p class="quiet">"All rows of this view as a file; the address of this page is the link to it."</p>
            <ul class="exports">{[("csv", "CSV"), ("json", "JSON"), ("markdown", "Markdown")].map(link).collect_view()}</ul>
        </div>
    }
}
