//! What the user sees: Leptos components, pages and server functions.
//!
//! Every page is complete as HTML: links and plain forms do the whole job, and the browser program only adds to it (live updates, a plan
//! card that follows the form). With feature `ssr` this is the server's half, with `hydrate` the browser's; never both.
#![recursion_limit = "256"]

pub mod api;
mod command;
mod components;
mod draft;
mod error;
mod format;
mod live;
mod pages;
mod posted;
mod root;
mod session;
mod shell;

#[cfg(feature = "ssr")]
mod bundle;
#[cfg(feature = "ssr")]
pub mod forms;
#[cfg(feature = "ssr")]
mod routes;

#[cfg(feature = "ssr")]
pub use bundle::Bundle;
pub use draft::Draft;
pub use error::AppError;
pub use posted::Posted;
pub use root::App;
#[cfg(feature = "ssr")]
pub use routes::page_routes;
pub use session::Csrf;
pub use shell::shell;
