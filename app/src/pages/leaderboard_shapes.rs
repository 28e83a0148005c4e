//! The rows of the leaderboard as a table, as intervals on one scale, or as Δ against tokens. Each shape has its own address.

use domain::leaderboard::{LeaderboardPage, LeaderboardQuery, Shape};
use leptos::prelude::*;

use crate::api::Drawn;
use crate::components::chart::Chart;
use crate::components::leaderboard_table::{LeaderboardTable, address};
use crate::components::words::Empty;
use crate::format::plural;

/// The same rows in another shape; links, so that each has its address.
pub fn shapes(query: &LeaderboardQuery) -> impl IntoView + use<> {
    let link = |shape: Shape| {
        let words = match shape {
            Shape::Table => "Table",
            Shape::Forest => "Intervals of Δ",
            Shape::Scatter => "Δ against tokens",
        };
        let current = (query.shape == shape).then_some("true");
        view! { <a class="tab" href=address(&query.shown_as(shape)) aria-current=current>{words}</a> }
    };
    view! { <nav class="tabs" aria-label="Shown as">{Shape::ALL.map(link).into_iter().collect_view()}</nav> }
}

/// The rows of this page in the shape that was asked for.
pub fn shaped(view: &LeaderboardPage, chart: Option<Drawn>, caption: String) -> AnyView {
    let query = &view.query;
    let href = address(&query.shown_as(Shape::Table));
    let table = move || view! { <p class="chart-data"><a href=href.clone()>"The same rows as a table"</a></p> };
    match (query.shape, chart) {
        (Shape::Table, _) => view! { <LeaderboardTable rows=view.rows.clone() columns=query.shown() caption=caption query=query.clone()/> }.into_any(),
        (Shape::Forest, Some(svgs)) => view! {
            <Chart svgs=svgs title="Δ with its 95 % interval" caption="Each line is a row: Δ in the middle, the interval that holds the true Δ around it. A line that crosses the middle leaves open whether the skill helps. Filled: settled among its rows. Hollow: not settled, or without a place. Rows on other tasks or by another model answer another question, so compare only those of one kind.".to_owned()>
                {table()}
            </Chart>
        }
        .into_any(),
        (Shape::Scatter, Some(svgs)) => {
            let unknown = view.rows.iter().filter(|row| row.record.measured.delta.is_none() || row.record.measured.rho.is_none()).count() as u64;
            let left_out = if unknown == 0 { String::new() } else { format!(" {} not drawn: Δ or tokens unknown.", plural(unknown, "row is", "rows are")) };
            view! {
                <Chart svgs=svgs title="Pass rate against tokens" caption=format!("Upwards more tasks pass with the skill; to the right a trial takes more tokens. The bars are 95 % intervals: where one crosses a middle line, that side is open. Filled: settled. Hollow: not settled.{left_out}")>
                    {table()}
                </Chart>
            }
            .into_any()
        }
        (Shape::Forest | Shape::Scatter, None) => view! {
            <Empty title="Nothing can be drawn of these rows">
                <p>"Their Δ or their tokens are unknown."</p>
                {table()}
            </Empty>
        }
        .into_any(),
    }
}
