//! Numbers behind something that is drawn or summed up: a table in a fold, which scrolls within itself on a narrow page.

use leptos::prelude::*;

/// A column's heading.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// Of words.
    Words(&'static str),
    /// Of numbers, which stand to the right.
    Numbers(&'static str),
}

/// A fold with a table in it.
#[component]
pub fn DataTable(
    /// What the fold says while it is closed.
    #[prop(into)]
    summary: String,
    /// One heading for each column.
    columns: Vec<Column>,
    /// A remark above the table.
    #[prop(optional_no_strip)]
    note: Option<String>,
    /// The rows.
    children: Children,
) -> impl IntoView {
    let head = |column: Column| match column {
        Column::Words(name) => view! { <th scope="col">{name}</th> }.into_any(),
        Column::Numbers(name) => view! { <th scope="col" class="num">{name}</th> }.into_any(),
    };
    view! {
        <details class="chart-data">
            <summary>{summary}</summary>
            {note.map(|note| view! { <p class="quiet">{note}</p> })}
            <div class="table-scroll">
                <table class="table table-dense">
                    <thead>
                        <tr>{columns.into_iter().map(head).collect_view()}</tr>
                    </thead>
                    <tbody>{children()}</tbody>
                </table>
            </div>
        </details>
    }
}
