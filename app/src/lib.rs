//! What the user sees: Leptos components, pages and server functions.
