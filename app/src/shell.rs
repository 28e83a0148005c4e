//! The HTML document around the app, and the headers that go with it.

use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::root::App;
use crate::session;

/// The document. Expects the context [`crate::Bundle`] on the server.
#[must_use]
pub fn shell(_options: LeptosOptions) -> impl IntoView {
    #[cfg(feature = "ssr")]
    let head = head();
    #[cfg(not(feature = "ssr"))]
    let head = ();
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=session::theme().word()>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <meta name="csrf" content=session::csrf()/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                {head}
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// Style sheet and program.
#[cfg(feature = "ssr")]
fn head() -> impl IntoView {
    let bundle = use_context::<crate::Bundle>().unwrap_or_default();
    policy();
    view! {
        <meta name="build" content=bundle.build/>
        {bundle.style.map(|href| view! { <link rel="stylesheet" href=href/> })}
        <link rel="preload" href="/fonts/inter-latin.woff2" r#as="font" r#type="font/woff2" crossorigin=""/>
        {bundle.glue.map(|href| view! { <link rel="modulepreload" href=href/> })}
        {bundle.program.map(|href| {
            view! { <link rel="preload" href=href r#as="fetch" r#type="application/wasm" crossorigin=""/> }
        })}
        {bundle.start.map(|src| view! { <script r#type="module" src=src></script> })}
    }
}

/// Sends the content security policy: nothing but our own files, and of inline scripts only those that hand the page's data over, by nonce.
#[cfg(feature = "ssr")]
fn policy() {
    use axum::http::{HeaderValue, header};
    let Some(response) = use_context::<leptos_axum::ResponseOptions>() else { return };
    let nonce = leptos::nonce::use_nonce().map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    let policy = format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{nonce}; style-src 'self'; img-src 'self' data:; object-src 'none'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    if let Ok(value) = HeaderValue::from_str(&policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, value);
    }
    response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
