//! What the tests of pages share: real operations over a real store, whole answers; evaluations put into the store as a run would leave them.

pub mod seed;

use std::sync::Arc;

use app::{Bundle, Csrf, page_routes, shell};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::{Extension, Router};
use domain::listing::AgentChoice;
use domain::plan::{AgentRef, PromptIntake};
use domain::time::Timestamp;
use leptos::prelude::{LeptosOptions, provide_context};
use leptos_axum::LeptosRoutes;
use ops::{Ops, OpsConfig};
use store::Store;
use tower::ServiceExt;

/// The form token of these sites.
pub const TOKEN: &str = "a-token-of-this-server";
const UPLOAD_LIMIT: u64 = 1 << 20;

/// The pages and forms over a store, without a server around them.
pub fn site_of(store: Store) -> Router {
    site_and_ops(store).0
}

/// The same, and the operations behind it.
pub fn site_and_ops(store: Store) -> (Router, Ops) {
    let agent = AgentRef::new("nop", "1");
    let config = OpsConfig {
        agents: vec![AgentChoice {
            agent,
            about: "does nothing".to_owned(),
            needs_model: false,
            calls_from_container: false,
            skill_obstacle: None,
            prompt: PromptIntake::Any,
        }],
        upload_limit: UPLOAD_LIMIT,
        ..OpsConfig::default()
    };
    let ops = Ops::new(store, Arc::new(|| Timestamp(1_772_357_400_000)), config);
    let options = LeptosOptions::builder().output_name("skilldelta").build();
    let context = {
        let ops = ops.clone();
        move || {
            provide_context(Bundle::default());
            provide_context(ops.clone());
        }
    };
    let pages = {
        let options = options.clone();
        move || shell(options.clone())
    };
    let site = Router::<LeptosOptions>::new()
        .merge(app::forms::routes(options.clone(), ops.clone(), context.clone()).with_state(()))
        .leptos_routes_with_context(&options, page_routes(), context.clone(), pages.clone())
        .fallback(leptos_axum::render_app_async_with_context(context, pages))
        .with_state(options)
        .layer(Extension(Csrf(TOKEN.to_owned())));
    (site, ops)
}

/// An answer, read to its end.
pub struct Answer {
    pub status: StatusCode,
    headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

pub async fn send(site: &Router, request: Request<Body>) -> Answer {
    let response = site.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 16 << 20).await.unwrap();
    Answer { status: parts.status, headers: parts.headers, body: String::from_utf8(bytes.to_vec()).unwrap() }
}

pub async fn post(site: &Router, path: &str, fields: &str) -> Answer {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    send(site, request.body(Body::from(fields.to_owned())).unwrap()).await
}

pub async fn get(site: &Router, path: &str) -> Answer {
    send(site, Request::get(path).body(Body::empty()).unwrap()).await
}
