//! One repeat of an audit on one task: what `nop` and `oracle` left behind.

use domain::id::{EvaluationId, TaskId};
use domain::listing::PairDetail;
use domain::task_audit::AuditAgent;
use leptos::prelude::*;
use leptos_meta::Title;

use super::address::part;
use super::pair::Logs;
use super::pair_facts::Facts;
use super::pair_tests::{Measures, Tests};
use crate::AppError;
use crate::api;
use crate::components::arms::call_arms;
use crate::components::loaded::loaded;
use crate::components::words::Crumbs;

/// The runs of one repeat.
#[component]
pub fn AuditRuns() -> impl IntoView {
    let (audit, task, repeat) = (part::<EvaluationId>("id"), part::<TaskId>("task"), part::<u32>("repeat"));
    let data = Resource::new(
        move || (audit.get(), task.get(), repeat.get()),
        |address| async move {
            match address {
                (Some(audit), Some(task), Some(repeat)) => api::audit_runs(audit, task, repeat).await,
                _ => Err(AppError::not_found("audit")),
            }
        },
    );
    loaded(data, |runs| page(runs).into_any())
}

fn page(runs: PairDetail) -> impl IntoView {
    call_arms(AuditAgent::ARMS);
    let crumbs = vec![
        ("/tasks".to_owned(), "Tasks".to_owned()),
        (format!("/tasks/{}", runs.task_id), runs.task.clone()),
        (format!("/audits/{}", runs.evaluation), runs.title.clone()),
    ];
    view! {
        <Title text=format!("Audit of {}, repeat {}", runs.task, runs.repeat)/>
        <article class="page page-wide">
            <header class="page-head">
                <Crumbs links=crumbs/>
                <h1 class="foreign">{runs.task.clone()}</h1>
                <p class="quiet">{format!("Audit, repeat {} of {}: what its verifier said where nothing was done, and of its own solution.", runs.repeat, runs.repeats)}</p>
            </header>
            <Facts evaluation=runs.evaluation arms=runs.arms.clone()/>
            <Tests arms=runs.arms.clone() measures=Measures::NotAsked/>
            <Logs arms=runs.arms/>
        </article>
    }
}
