//! What the leaderboard leaves out, in which order it stands, and which columns it shows: one plain form whose fields are the address.

use domain::analysis::rank::Direction;
use domain::leaderboard::{Column, DataSet, Facet, LeaderboardPage, LeaderboardQuery, Says, Shape, Sort};
use domain::stats::quadrant::Quadrant;
use leptos::prelude::*;

use crate::components::leaderboard_table::address;

/// The form.
#[component]
pub fn Filters(page: LeaderboardPage) -> impl IntoView {
    let LeaderboardPage { query, facets, .. } = page;
    let clear =
        query.is_filtered().then(|| view! { <a class="button" href=address(&query.unfiltered())>"Clear filters"</a> });
    let more = [&query.category, &query.set].iter().any(|text| !text.is_empty())
        || query.quadrant.is_some()
        || query.least_tasks > 0;
    let hidden = |name: &'static str, value: String| view! { <input type="hidden" name=name value=value/> };
    view! {
        <form class="filters" method="get" action="/leaderboard" role="search" aria-label="Filter the rows">
            {(query.data != DataSet::Own).then(|| hidden("data", query.data.word()))}
            {(query.shape != Shape::default()).then(|| hidden("view", query.shape.word().to_owned()))}
            {query.skill.map(|skill| hidden("skill", skill.to_string()))}
            <div class="filter-row">
                <div class="field field-wide">
                    <label class="label" for="filter-q">"Search"</label>
                    <input class="input" id="filter-q" type="search" name="q" value=query.text.clone() placeholder="Skill, author, version, model …"/>
                </div>
                {choice("model", "Model", &query.model, &facets.models)}
                {choice("agent", "Agent", &query.agent, &facets.agents)}
                {words("verdict", "Verdict", query.verdict.map(Says::word), Says::ALL.map(|says| (says.word(), says.to_string())).to_vec())}
                {sorts(query.sort)}
            </div>
            <div class="filter-row filter-more">
                <label class="check">
                    <input type="checkbox" name="resolvable" value="1" checked=query.resolvable/>
                    "Only what can be resolved"
                </label>
                <details class="more" open=more>
                    <summary>"More filters"</summary>
                    <div class="filter-row">
                        {choice("cat", "Category", &query.category, &facets.categories)}
                        {choice("set", "Task set", &query.set, &facets.sets)}
                        {words("quadrant", "Quadrant", query.quadrant.map(Quadrant::word), Quadrant::ALL.map(|quadrant| (quadrant.word(), quadrant.name().to_owned())).to_vec())}
                        <div class="field">
                            <label class="label" for="filter-n">"Tasks, at least"</label>
                            <input class="input" id="filter-n" type="number" name="n" min="0" value=(query.least_tasks > 0).then(|| query.least_tasks.to_string())/>
                        </div>
                    </div>
                </details>
                <details class="more">
                    <summary>"Columns"</summary>
                    <fieldset class="picker">
                        <legend class="visually-hidden">"Columns to show"</legend>
                        {columns(&query)}
                    </fieldset>
                </details>
                <span class="actions filter-actions"><button class="button primary">"Show"</button>{clear}</span>
            </div>
        </form>
    }
}

/// One of the values that occur.
fn choice(name: &'static str, label: &'static str, chosen: &str, facets: &[Facet]) -> impl IntoView + use<> {
    let mut options: Vec<(String, String)> =
        facets.iter().map(|facet| (facet.value.clone(), format!("{} ({})", facet.value, facet.rows))).collect();
    if !chosen.is_empty() && !facets.iter().any(|facet| facet.value == chosen) {
        options.push((chosen.to_owned(), chosen.to_owned()));
    }
    select(name, label, chosen.to_owned(), options)
}

/// One of a few words.
fn words(
    name: &'static str,
    label: &'static str,
    chosen: Option<&'static str>,
    options: Vec<(&'static str, String)>,
) -> impl IntoView + use<> {
    let options = options.into_iter().map(|(value, words)| (value.to_owned(), words)).collect();
    select(name, label, chosen.unwrap_or_default().to_owned(), options)
}

fn select(
    name: &'static str,
    label: &'static str,
    chosen: String,
    options: Vec<(String, String)>,
) -> impl IntoView + use<> {
    let id = format!("filter-{name}");
    let any = chosen.is_empty();
    let options = options
        .into_iter()
        .map(|(value, words)| {
            let selected = value == chosen;
            view! { <option value=value selected=selected>{words}</option> }
        })
        .collect_view();
    view! {
        <div class="field">
            <label class="label" for=id.clone()>{label}</label>
            <select class="input" id=id name=name>
                <option value="" selected=any>"Any"</option>
                {options}
            </select>
        </div>
    }
}

/// Every column, both ways, whether it is shown or not.
fn sorts(chosen: Sort) -> impl IntoView + use<> {
    let option = |column: Column, direction: Direction| {
        let sort = Sort { column, direction };
        let arrow = if direction == Direction::Descending { "↓" } else { "↑" };
        view! { <option value=sort.word() selected=sort == chosen>{format!("{} {arrow}", column.head())}</option> }
    };
    let both = |column: Column| {
        view! { {option(column, Direction::Descending)}{option(column, Direction::Ascending)} }
    };
    view! {
        <div class="field">
            <label class="label" for="filter-sort">"Sorted by"</label>
            <select class="input" id="filter-sort" name="sort">{Column::ALL.map(both).collect_view()}</select>
        </div>
    }
}

fn columns(query: &LeaderboardQuery) -> impl IntoView + use<> {
    let shown = query.shown();
    let one = |column: Column| {
        view! {
            <label class="check" title=column.hint()>
                <input type="checkbox" name="cols" value=column.word() checked=shown.contains(&column)/>
                {column.head()}
            </label>
        }
    };
    Column::ALL.map(one).collect_view()
}
