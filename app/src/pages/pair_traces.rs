//! The traces of a pair, aligned: what differs first, the tokens of both step by step, filters, and the rows. All of it is in the address,
//! so that a link shows what its sender saw.

use domain::condition::{Condition, Pair as Arms};
use domain::listing::{ArmDetail, RowFilter, TracePage};
use leptos::prelude::*;

use crate::components::arms::ArmName;
use crate::components::trace_rows::{TraceRows, look};
use crate::format::count;

/// The section. On narrow pages one arm is shown at a time, chosen by two radio buttons that work without JavaScript.
#[component]
pub fn Traces(
    arms: Arms<Option<ArmDetail>>,
    page: TracePage,
    /// The line of tokens as SVG, for wide and for narrow pages.
    chart: [String; 2],
    /// Query of the matrix that one came from: it stays in the address.
    kept: String,
) -> impl IntoView {
    let without_trace = |condition: &Condition| arms.get(*condition).as_ref().and_then(|arm| arm.trace).is_none();
    let missing: Vec<_> = Condition::BOTH.into_iter().filter(without_trace).collect();
    let some = page.total > 0;
    let is_empty = !some && missing.len() < Condition::BOTH.len();
    view! {
        <section class="section traces" id="traces">
            <h2>"Traces"</h2>
            {missing.into_iter().map(|arm| view! { <p class="quiet">"There is no trace of the " <ArmName condition=arm/> " trial."</p> }).collect_view()}
            {is_empty.then(|| view! { <p class="quiet">"No trace was recorded: there is no event in it."</p> })}
            {some.then(|| {
                view! {
                    <Landmarks page=page.clone() kept=kept.clone()/>
                    <Spent svgs=chart/>
                    <Filters page=page.clone() kept=kept.clone()/>
                    <Rows page=page kept=kept/>
                }
            })}
        </section>
    }
}

/// An address on this page: what is kept, and what is asked for.
fn address(kept: &str, rest: &str) -> String {
    if kept.is_empty() { format!("?{rest}") } else { format!("{kept}&{rest}") }
}

/// The address of the stretch in which a row stands, among all rows.
fn row_address(kept: &str, page: &TracePage, row: usize) -> String {
    let from = row / page.page_rows.max(1) * page.page_rows;
    let rest = if from == 0 { "rows=all".to_owned() } else { format!("rows=all&from={from}") };
    format!("{}#row-{}", address(kept, &rest), row + 1)
}

/// Where to look first. These are observations: what came first, not what was the cause.
#[component]
fn Landmarks(page: TracePage, kept: String) -> impl IntoView {
    let link = |row: usize| {
        view! { <a rel="external" href=row_address(&kept, &page, row)>{format!("row {}", count(row as u64 + 1))}</a> }
    };
    let decision = match page.first_decision {
        Some(row) => view! { <dd>{link(row)}</dd> }.into_any(),
        None => view! { <dd>"none: both did the same"</dd> }.into_any(),
    };
    let opened = page.skill_opened.first().map(|row| {
        let more = page.skill_opened.len().checked_sub(1).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {} more", count(more as u64)));
        view! { <div><dt>"Skill opened"</dt><dd>{link(*row)}{more}</dd></div> }
    });
    let tests = page
        .first_test_difference
        .map(|row| view! { <div><dt>"First run of tests with another result"</dt><dd>{link(row)}</dd></div> });
    view! {
        <dl class="landmarks">
            <div><dt>"First observed difference"</dt>{decision}</div>
            {opened}
            {tests}
        </dl>
    }
}

/// Tokens used up to each row.
#[component]
fn Spent(svgs: [String; 2]) -> impl IntoView {
    let [wide, narrow] = svgs;
    (!wide.is_empty()).then(|| {
        view! {
            <figure class="spent">
                <figcaption class="quiet">"Tokens used up to each row of the list below: ring = no-skill, disc = with-skill."</figcaption>
                <div class="chart-wide" inner_html=wide></div>
                <div class="chart-narrow" inner_html=narrow></div>
            </figure>
        }
    })
}

const fn filter_words(filter: RowFilter) -> &'static str {
    match filter {
        RowFilter::All => "all rows",
        RowFilter::Differences => "all that differ",
        RowFilter::Class(class) => look(class).1,
        RowFilter::Skill => "skill opened",
        RowFilter::Tests => "test runs",
        RowFilter::Errors => "errors",
    }
}

/// Which rows are shown; each with its number, those without any left out.
#[component]
fn Filters(page: TracePage, kept: String) -> impl IntoView {
    let offered = page.counts.iter().filter(|(filter, rows)| *rows > 0 || *filter == page.view.filter);
    let links = offered.map(|(filter, rows)| {
        let current = (*filter == page.view.filter).then_some("true");
        let href = address(&kept, &format!("rows={}#traces", filter.word()));
        view! {
            <li><a class="filter" rel="external" href=href aria-current=current>{filter_words(*filter)}<span class="quiet">{count(*rows as u64)}</span></a></li>
        }
    });
    view! { <nav aria-label="Rows"><ul class="choices">{links.collect_view()}</ul></nav> }
}

#[component]
fn Rows(page: TracePage, kept: String) -> impl IntoView {
    let (from, matching, size) = (page.view.from, page.matching(), page.page_rows);
    let to = from + page.rows.len();
    let word = page.view.filter.word();
    let all = address(&kept, "rows=all#traces");
    let turn = |text: &'static str, rel: &'static str, from: usize| {
        let href = address(&kept, &format!("rows={word}&from={from}#traces"));
        view! { <a class="button small" rel=format!("external {rel}") href=href>{text}</a> }
    };
    let earlier = (from > 0).then(|| turn("Earlier rows", "prev", from.saturating_sub(size)));
    let later = (to < matching).then(|| turn("Later rows", "next", to));
    let several = earlier.is_some() || later.is_some();
    let place = format!(
        "{} to {} of {} rows",
        count((from + 1).min(matching) as u64),
        count(to as u64),
        count(matching as u64)
    );
    if page.rows.is_empty() {
        return view! { <p class="quiet">"No row is of this kind. " <a rel="external" href=all>"Show all rows"</a></p> }.into_any();
    }
    view! {
        <div class="swap">
            <input class="swap-radio" type="radio" name="trace-arm" id="show-without"/>
            <label class="swap-label" for="show-without"><ArmName condition=Condition::NoSkill/></label>
            <input class="swap-radio" type="radio" name="trace-arm" id="show-with" checked=true/>
            <label class="swap-label" for="show-with"><ArmName condition=Condition::WithSkill/></label>
            <div class="trace-head" aria-hidden="true"><ArmName condition=Condition::NoSkill/><ArmName condition=Condition::WithSkill/></div>
            <TraceRows rows=page.rows/>
        </div>
        {several.then(|| view! { <nav class="turn" aria-label="Stretches of the traces">{earlier}<span class="quiet">{place}</span>{later}</nav> })}
    }
    .into_any()
}
