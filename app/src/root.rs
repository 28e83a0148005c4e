//! The app: top bar, pages by address, foot.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::SsrMode;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::path;

use crate::components::top_bar::TopBar;
use crate::pages;

/// The whole app. Pages are rendered completely before they are sent, so that they can be read and used without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|text: String| if text.is_empty() { "Skilldelta".to_owned() } else { format!("{} · Skilldelta", in_head(text)) }/>
        <Router>
            <a class="skip" href="#main">"Skip to content"</a>
            <TopBar/>
            <main id="main" class="main" tabindex="-1">
                <FlatRoutes fallback=pages::not_found::NotFound>
                    <Route path=path!("/") view=pages::home::Home ssr=SsrMode::Async/>
                    <Route path=path!("/leaderboard") view=pages::leaderboard::Leaderboard ssr=SsrMode::Async/>
                    <Route path=path!("/leaderboard/publish") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/leaderboard/snapshots") view=pages::snapshots::Snapshots ssr=SsrMode::Async/>
                    <Route path=path!("/skills") view=pages::skills::Skills ssr=SsrMode::Async/>
                    <Route path=path!("/skills/upload") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/skills/fetch") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/skills/:id") view=pages::skill::Skill ssr=SsrMode::Async/>
                    <Route path=path!("/tasks") view=pages::tasks::Tasks ssr=SsrMode::Async/>
                    <Route path=path!("/tasks/add") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/tasks/:id") view=pages::task::Task ssr=SsrMode::Async/>
                    <Route path=path!("/tasks/:id/approve") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/tasks/:id/withdraw") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/audits/start") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/audits/:id") view=pages::audit::Audit ssr=SsrMode::Async/>
                    <Route path=path!("/audits/:id/cancel") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/audits/:id/runs/:task/:repeat") view=pages::audit_runs::AuditRuns ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations") view=pages::evaluations::Evaluations ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/new") view=pages::new_evaluation::New ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/check") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/theme") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/start") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/:id") view=pages::evaluation::Evaluation ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/:id/cancel") view=pages::posted::PostedPage ssr=SsrMode::Async/>
                    <Route path=path!("/evaluations/:id/pairs/:task/:repeat") view=pages::pair::Pair ssr=SsrMode::Async/>
                </FlatRoutes>
            </main>
        </Router>
    }
}

/// A title as it is written into the head. The server's writer takes it for markup, and titles hold foreign names; in the browser it is set as text.
fn in_head(text: String) -> String {
    if cfg!(feature = "ssr") { text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;") } else { text }
}
