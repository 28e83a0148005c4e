//! The browser's side of a server function call: it says which build the page came from, so that an old page and a new server never
//! misunderstand each other in silence.

use std::future::Future;

use bytes::Bytes;
use futures::{Sink, Stream};
use leptos::server_fn::client::Client;
use leptos::server_fn::client::browser::BrowserClient;
use leptos::server_fn::error::FromServerFnError;
use leptos::server_fn::request::browser::BrowserRequest;
use leptos::server_fn::response::browser::BrowserResponse;

/// Header that carries the page's build.
pub const BUILD_HEADER: &str = "x-skilldelta-build";

/// `fetch`, with [`BUILD_HEADER`].
pub struct SameBuild;

impl<E: FromServerFnError, I: FromServerFnError, O: FromServerFnError> Client<E, I, O> for SameBuild {
    type Request = BrowserRequest;
    type Response = BrowserResponse;

    fn send(request: Self::Request) -> impl Future<Output = Result<Self::Response, E>> + Send {
        if let Some(build) = crate::session::build() {
            request.headers().set(BUILD_HEADER, &build);
        }
        <BrowserClient as Client<E, I, O>>::send(request)
    }

    #[allow(clippy::type_complexity, reason = "the trait's own signature")]
    fn open_websocket(
        path: &str,
    ) -> impl Future<
        Output = Result<
            (impl Stream<Item = Result<Bytes, Bytes>> + Send + 'static, impl Sink<Bytes> + Send + 'static),
            E,
        >,
    > + Send {
        <BrowserClient as Client<E, I, O>>::open_websocket(path)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        <BrowserClient as Client<E, I, O>>::spawn(future);
    }
}

/// Refuses the call of a page that came from another build.
#[cfg(feature = "ssr")]
pub fn check_build() -> Result<(), crate::AppError> {
    use leptos::prelude::use_context;
    let parts = use_context::<axum::http::request::Parts>();
    let theirs = parts.as_ref().and_then(|parts| parts.headers.get(BUILD_HEADER)?.to_str().ok());
    let ours = use_context::<crate::Bundle>().unwrap_or_default().build;
    match theirs {
        Some(theirs) if theirs != ours => Err(crate::AppError::Outdated),
        _ => Ok(()),
    }
}
