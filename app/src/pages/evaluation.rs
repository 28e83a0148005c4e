//! One evaluation: live while it runs, its result afterwards.

use domain::id::EvaluationId;
use leptos::prelude::*;
use leptos_meta::Title;

use super::address::part;
use super::{live_view, result};
use crate::AppError;
use crate::api::{self, EvaluationView};
use crate::components::actor::ActorLine;
use crate::components::arms::call_arms;
use crate::components::loaded::loaded;
use crate::components::words::Crumbs;
use crate::live::{follow, log_lines};

/// One evaluation.
#[component]
pub fn Evaluation() -> impl IntoView {
    let id = part::<EvaluationId>("id");
    let data = Resource::new(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::evaluation(id).await,
                None => Err(AppError::not_found("evaluation")),
            }
        },
    );
    loaded(data, |view| page(view).into_any())
}

fn page(view: EvaluationView) -> impl IntoView {
    let log = RwSignal::new(log_lines(&view.events));
    let report = view.report.clone();
    call_arms(report.comparison.kind.arms());
    let view = RwSignal::new(view);
    let link = follow(view, log);
    let finished = Memo::new(move |_| view.with(|view| view.report.finished));
    view! {
        <Title text=report.title.clone()/>
        <article class="page page-wide">
            <header class="page-head">
                <Crumbs links=vec![("/evaluations".to_owned(), "Evaluations".to_owned())]/>
                <h1 class="foreign">{report.title.clone()}</h1>
                <ActorLine report=report/>
            </header>
            {move || {
                if finished.get() {
                    result::result(view.get_untracked()).into_any()
                } else {
                    live_view::live(view, log, link).into_any()
                }
            }}
        </article>
    }
}
