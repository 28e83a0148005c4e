//! No page has this address.

use leptos::prelude::*;

use crate::AppError;
use crate::components::loaded::error_page;

/// The page for an unknown address.
#[component]
pub fn NotFound() -> impl IntoView {
    error_page(AppError::NotFound {
        message: "no page has this address; perhaps it was mistyped, or what it showed was deleted".to_owned(),
    })
}
