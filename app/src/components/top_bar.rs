//! The bar on top of every page: where one is, where one can go, and the colour theme.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_url;

use super::icon::{Icon, Sign};
use super::words::CsrfField;
use crate::session::{self, Theme};

/// The bar.
#[component]
pub fn TopBar() -> impl IntoView {
    view! {
        <header class="top">
            <div class="top-inner">
                <a class="brand" href="/">
                    <span class="brand-mark" aria-hidden="true">"Δ"</span>
                    "Skilldelta"
                </a>
                <nav class="top-nav" aria-label="Main">
                    <A href="/leaderboard" {..} class="top-link">"Leaderboard"</A>
                    <A href="/evaluations" {..} class="top-link">"Evaluations"</A>
                    <A href="/skills" {..} class="top-link">"Skills"</A>
                    <A href="/tasks" {..} class="top-link">"Tasks"</A>
                </nav>
                <a class="button primary small top-new" href="/evaluations/new"><Icon sign=Sign::Add/><span>"New"<span class="top-new-what">" evaluation"</span></span></a>
                <ThemeForm/>
            </div>
        </header>
    }
}

/// Three buttons of a plain form: the server sets a cookie and sends back to the same page, so nothing flashes. With JavaScript nothing
/// is loaded at all.
#[component]
fn ThemeForm() -> impl IntoView {
    let current = RwSignal::new(session::theme());
    let url = use_url();
    let back = move || url.with(|url| format!("{}{}", url.path(), query(url.search())));
    let button = move |theme: Theme, label: &'static str| {
        let choose = move |click: MouseEvent| {
            if session::choose_theme(theme).is_some() {
                click.prevent_default();
                current.set(theme);
            }
        };
        let pressed = move || if current.get() == theme { "true" } else { "false" };
        view! { <button name="theme" value=theme.word() aria-pressed=pressed class="theme-button" on:click=choose>{label}</button> }
    };
    view! {
        <form class="theme" method="post" action="/theme" aria-label="Colour theme">
            <CsrfField/>
            <input type="hidden" name="back" value=back/>
            {button(Theme::System, "Auto")}
            {button(Theme::Light, "Light")}
            {button(Theme::Dark, "Dark")}
        </form>
    }
}

/// With its `?`, or nothing.
fn query(search: &str) -> String {
    let search = search.trim_start_matches('?');
    if search.is_empty() { String::new() } else { format!("?{search}") }
}
