//! A drawing with its title, its caption in words, and the same in numbers.

use leptos::prelude::*;

use crate::api::Drawn;

/// A drawing for wide and for narrow pages, its caption, and what stands below it.
#[component]
pub fn Chart(
    /// Both drawings.
    svgs: Drawn,
    /// What it shows.
    title: &'static str,
    /// What to see in it.
    caption: String,
    /// The data.
    children: Children,
) -> impl IntoView {
    let [wide, narrow] = svgs;
    view! {
        <figure class="section chart">
            <figcaption>
                <h2>{title}</h2>
                <p class="quiet">{caption}</p>
            </figcaption>
            <div class="chart-wide" inner_html=wide></div>
            <div class="chart-narrow" inner_html=narrow></div>
            {children()}
        </figure>
    }
}
