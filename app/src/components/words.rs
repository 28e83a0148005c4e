//! The smallest parts: times, chips, hidden fields, back links.

use domain::demonstration::Demonstration;
use domain::imported::Imported;
use domain::time::Timestamp;
use leptos::prelude::*;

use crate::session;

/// An instant in UTC, the same on server and browser.
#[component]
pub fn Time(at: Timestamp) -> impl IntoView {
    view! { <time class="time" datetime=at.rfc3339()>{at.to_string()}</time> }
}

/// The hidden field that proves that a form came from one of our pages.
#[component]
pub fn CsrfField() -> impl IntoView {
    view! { <input type="hidden" name="csrf" value=session::csrf()/> }
}

/// Marks what is no measurement of a coding agent, wherever it appears.
#[component]
pub fn DemonstrationChip(demonstration: Option<Demonstration>) -> impl IntoView {
    demonstration.map(|why| view! { <span class="chip chip-dashed" title=why.hint()>{why.word()}</span> })
}

/// Marks what others ran, wherever it appears.
#[component]
pub fn ImportedChip(imported: Option<Imported>) -> impl IntoView {
    imported.map(
        |imported| view! { <span class="chip chip-dashed" title=imported.sentence()>"imported, self-reported"</span> },
    )
}

/// Where one is, as links from the top.
#[component]
pub fn Crumbs(
    /// Address and words, outermost first.
    links: Vec<(String, String)>,
) -> impl IntoView {
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <ol>{links.into_iter().map(|(href, words)| view! { <li><a href=href>{words}</a></li> }).collect_view()}</ol>
        </nav>
    }
}

/// A page that has nothing to show yet: what this is and what to do next.
#[component]
pub fn Empty(
    /// What will be here.
    title: &'static str,
    /// What to do next, with a link or button.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="empty-title">{title}</p>
            {children()}
        </div>
    }
}
