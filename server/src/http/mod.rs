//! The pages and what they load, behind the guard.

mod download;
mod events;
mod health;
mod leaderboard;
mod place;
mod refusal;
mod rest;
mod security;
mod status;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use app::{Bundle, Csrf, page_routes, shell};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use leptos::prelude::{LeptosOptions, provide_context};
use leptos_axum::LeptosRoutes;
use ops::Ops;
use tokio::sync::watch;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

pub use security::Hosts;

use crate::scheduler::QueueStatus;

/// Name of the browser bundle's files.
const OUTPUT_NAME: &str = "skilldelta";

/// What the pages are served with.
pub struct Site {
    /// What a user can ask for.
    pub ops: Ops,
    /// How the queue stands.
    pub queue: watch::Receiver<QueueStatus>,
    /// The folder that the browser bundle was built into.
    pub root: PathBuf,
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names (with port) it may be reached by besides.
    pub public_hosts: Vec<String>,
    /// Drawn at start; every form sends it back.
    pub csrf: String,
}

/// All routes.
pub fn router(site: Site) -> Router {
    let options = LeptosOptions::builder()
        .output_name(OUTPUT_NAME)
        .site_root(site.root.display().to_string())
        .site_addr(site.listen)
        .build();
    let bundle = Bundle::read(&site.root, OUTPUT_NAME);
    if bundle == Bundle::default() {
        tracing::warn!(folder = %site.root.display(), "no browser bundle there: pages have no style; build it with `cargo bundle`, or name the folder of one with --site");
    }
    let context = {
        let (bundle, ops) = (Arc::new(bundle), site.ops.clone());
        move || {
            provide_context(Bundle::clone(&bundle));
            provide_context(ops.clone());
        }
    };
    let pages = {
        let options = options.clone();
        move || shell(options.clone())
    };
    Router::<LeptosOptions>::new()
        .route("/api/evaluations/{id}/events", get(events::events).with_state(site.ops.clone()))
        .route("/evaluations/{id}/export/{format}", get(download::download).with_state(site.ops.clone()))
        .route("/evaluations/{id}/trials/{trial}/patch", get(download::patch).with_state(site.ops.clone()))
        .route("/leaderboard/export/{format}", get(leaderboard::export).with_state(site.ops.clone()))
        .route("/leaderboard/snapshots/{id}/document", get(leaderboard::document).with_state(site.ops.clone()))
        .route("/badge/{file}", get(leaderboard::badge).with_state(site.ops.clone()))
        .route("/api/health", get(health::health).with_state((site.ops.clone(), site.queue)))
        .nest_service("/pkg", assets(&site.root, "pkg", "public, max-age=31536000, immutable"))
        .nest_service("/fonts", assets(&site.root, "fonts", "public, max-age=86400"))
        .route_service("/favicon.svg", tower_http::services::ServeFile::new(site.root.join("favicon.svg")))
        .route_service("/robots.txt", tower_http::services::ServeFile::new(site.root.join("robots.txt")))
        .merge(app::forms::routes(options.clone(), site.ops, context.clone()).with_state(()))
        .leptos_routes_with_context(&options, page_routes(), context.clone(), pages.clone())
        .fallback(leptos_axum::render_app_to_stream_with_context(context, pages))
        .with_state(options)
        .layer(Extension(Csrf(site.csrf)))
        .layer(middleware::from_fn(status::of_errors))
        .layer(middleware::from_fn(private))
        .layer(middleware::from_fn(rest::read_refused))
        .layer(middleware::from_fn_with_state(Hosts::new(site.listen, &site.public_hosts), security::guard))
}

/// Files of the bundle; one that is not there is 404, never the app.
fn assets(root: &std::path::Path, folder: &str, cache: &'static str) -> Router {
    let files = ServeDir::new(root.join(folder)).precompressed_br().precompressed_gzip();
    // That a file is absent is true of this build alone and must not be remembered.
    let kept = move |response: &Response| {
        let there = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
        there.then(|| HeaderValue::from_static(cache))
    };
    Router::new().fallback_service(files).layer(SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, kept))
}

/// What says nothing about caching is not cached.
async fn private(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
