//! The addresses of all pages, as the server's router asks for them.

use std::sync::OnceLock;

use leptos_axum::{AxumRouteListing, generate_route_list};

use crate::App;

/// The addresses of all pages. They are found once in a process: while Leptos looks for them, no page of the whole process can load its data,
/// and one that begins to in that moment waits for ever (leptos-rs/leptos#4773).
pub fn page_routes() -> Vec<AxumRouteListing> {
    static ROUTES: OnceLock<Vec<AxumRouteListing>> = OnceLock::new();
    ROUTES.get_or_init(|| generate_route_list(App)).clone()
}
