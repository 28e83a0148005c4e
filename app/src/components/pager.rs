//! Links between the pages of what does not fit on one.

use leptos::prelude::*;

use crate::format::count;

/// The links, from 1 to `pages`; nothing where one page holds all. `beside` stands after the number of the page.
pub fn pager(
    page: u64,
    pages: u64,
    label: &'static str,
    beside: &str,
    address: impl Fn(u64) -> String,
) -> Option<AnyView> {
    if pages <= 1 {
        return None;
    }
    let link = |there: bool, to: u64, rel: Option<&'static str>, words: &'static str| {
        there.then(|| view! { <a class="button small" rel=rel href=address(to)>{words}</a> })
    };
    let (previous, next) = (page.saturating_sub(1), page.saturating_add(1));
    let words = format!("Page {} of {}{beside}", count(page), count(pages));
    let view = view! {
        <nav class="pager" aria-label=label>
            {link(previous > 1, 1, None, "First")}
            {link(previous >= 1, previous, Some("prev"), "Previous")}
            <span class="quiet">{words}</span>
            {link(next <= pages, next, Some("next"), "Next")}
            {link(next < pages, pages, None, "Last")}
        </nav>
    };
    Some(view.into_any())
}
