//! One task: what the agent is told, where it works, how it is judged.

use std::time::Duration;

use domain::id::TaskId;
use domain::listing::TaskDetail;
use domain::path::RelPath;
use domain::repository::TargetRepository;
use domain::task::{Environment, ImageSource, NetworkPolicy, ResultPlace, Scoring, Task as DomainTask};
use leptos::prelude::*;
use leptos_meta::Title;

use super::address::part;
use super::skill::files;
use super::task_audit::AuditSection;
use super::task_variables::VariableSection;
use crate::AppError;
use crate::api;
use crate::components::findings::FindingList;
use crate::components::fold::LongText;
use crate::components::loaded::loaded;
use crate::components::words::{Crumbs, Time};
use crate::format::UNKNOWN;

/// One task.
#[component]
pub fn Task() -> impl IntoView {
    let id = part::<TaskId>("id");
    let data = Resource::new(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::task(id).await,
                None => Err(AppError::not_found("task")),
            }
        },
    );
    loaded(data, |detail| page(detail).into_any())
}

fn page(detail: TaskDetail) -> impl IntoView {
    let task = detail.task;
    let no_findings = detail.findings.is_empty();
    view! {
        <Title text=task.name.clone()/>
        <article class="page">
            <header class="page-head">
                <Crumbs links=vec![("/tasks".to_owned(), "Tasks".to_owned())]/>
                <div class="title-line">
                    <h1>{task.name.clone()}</h1>
                    <a class="button primary" href=format!("/evaluations/new?task={}", detail.id)>"Evaluate a skill on it"</a>
                </div>
                <dl class="actor">
                    <div><dt>"Version"</dt><dd><code class="hash">{task.version().short()}</code></dd></div>
                    <div><dt>"Layout"</dt><dd>{task.layout.word()}</dd></div>
                    <div><dt>"Category"</dt><dd>{known(task.metadata.category.as_ref())}</dd></div>
                    <div><dt>"Difficulty"</dt><dd>{known(task.metadata.difficulty.as_ref())}</dd></div>
                    <div><dt>"Read from"</dt><dd><code class="foreign">{detail.source}</code></dd></div>
                    <div><dt>"Added"</dt><dd><Time at=detail.created_at/></dd></div>
                </dl>
            </header>
            <section class="section">
                <h2>"Findings"</h2>
                {no_findings.then(|| view! { <p class="quiet">"The check found nothing to mend in this task."</p> })}
                <FindingList findings=detail.findings/>
            </section>
            <AuditSection task=detail.id audit=detail.audit running=detail.audit_running/>
            <VariableSection task=detail.id asked=detail.asked judged_in=task.result_place.clone()/>
            <section class="section"><h2>"Instruction"</h2><LongText text=task.instruction.clone()/></section>
            <div class="columns">
                {environment(&task.environment)}
                {phases(&task)}
            </div>
            {files(&task.tree)}
        </article>
    }
}

fn known(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| UNKNOWN.to_owned())
}

fn time(limit: Duration) -> String {
    crate::format::limit(limit.as_secs())
}

fn network(policy: &NetworkPolicy) -> String {
    match policy {
        NetworkPolicy::Public => "open".to_owned(),
        NetworkPolicy::None => "closed".to_owned(),
        NetworkPolicy::ModelOnly => "closed but for the model".to_owned(),
        NetworkPolicy::Allowlist { hosts } => format!("only {}", hosts.join(", ")),
    }
}

fn image(source: &ImageSource) -> String {
    match source {
        ImageSource::Build { context } => format!("built from {context}/Dockerfile", context = context.as_str()),
        ImageSource::Named { image } => image.clone(),
    }
}

fn judged_in(place: &ResultPlace) -> String {
    match place {
        ResultPlace::Anywhere => "the agent's container, with its processes ended".to_owned(),
        ResultPlace::Workspace { path } => format!("a fresh container with {path} as the agent left it"),
        ResultPlace::Artifacts { artifacts, container } => {
            let paths = artifacts.iter().map(|artifact| artifact.path.as_str()).collect::<Vec<_>>().join(", ");
            format!("a container of its own, {}, with {paths} as the agent left it", image(&container.image))
        }
    }
}

fn fact(name: &'static str, value: String) -> impl IntoView {
    view! { <tr><th scope="row">{name}</th><td class="wrap">{value}</td></tr> }
}

fn environment(environment: &Environment) -> impl IntoView + use<> {
    let image = image(&environment.image);
    let names = environment.env.keys().cloned().collect::<Vec<_>>().join(", ");
    view! {
        <section class="section">
            <h2>"Environment"</h2>
            <table class="table table-facts"><tbody>
                {fact("Image", image)}
                {environment.repository.as_ref().map(repository)}
                {fact("Working folder", environment.workdir.clone().unwrap_or_else(|| "the image's own".to_owned()))}
                {fact("CPUs", environment.cpus.to_string())}
                {fact("Memory", format!("{} MiB", environment.memory_mb))}
                {fact("Storage", format!("{} MiB, not enforced by every engine", environment.storage_mb))}
                {(environment.gpus > 0).then(|| fact("GPUs", environment.gpus.to_string()))}
                {fact("Network", network(&environment.network))}
                {fact("Longest build", time(environment.build_timeout))}
                {(!names.is_empty()).then(|| fact("Variables", names))}
            </tbody></table>
        </section>
    }
}

const fn reward(scoring: Scoring) -> &'static str {
    match scoring {
        Scoring::Reward => "written by the verifier",
        Scoring::PassRate => "share of test cases that passed; failed build checks make it a fail",
    }
}

fn repository(target: &TargetRepository) -> impl IntoView + use<> {
    let part = target.sparse.iter().map(RelPath::as_str).collect::<Vec<_>>().join(", ");
    view! {
        {fact("Repository", target.url.to_string())}
        {fact("Commit", target.commit.to_string())}
        {fact("Lies in", target.folder.clone())}
        {(!part.is_empty()).then(|| fact("Only", part))}
        {(!target.setup.is_empty()).then(|| fact("Set up by", target.setup.join(" · ")))}
    }
}

fn phases(task: &DomainTask) -> impl IntoView + use<> {
    let own = |policy: &Option<NetworkPolicy>| policy.as_ref().map_or_else(|| "as the environment".to_owned(), network);
    let oracle = task.oracle.as_ref().map_or_else(
        || "none: it cannot be proved that the task can be solved".to_owned(),
        |oracle| format!("{}/solve.sh", oracle.folder.as_str()),
    );
    let skills = task.bundled_skills.iter().map(|skill| skill.manifest.name.as_str()).collect::<Vec<_>>().join(", ");
    view! {
        <section class="section">
            <h2>"Agent and verifier"</h2>
            <table class="table table-facts"><tbody>
                {fact("Agent's limit", time(task.agent.timeout))}
                {fact("Agent's network", own(&task.agent.network))}
                {fact("Judged in", judged_in(&task.result_place))}
                {fact("Verifier", format!("{}/test.sh", task.verifier.folder.as_str()))}
                {fact("Verifier's limit", time(task.verifier.timeout))}
                {fact("Verifier's network", own(&task.verifier.network))}
                {fact("Reward", reward(task.verifier.scoring).to_owned())}
                {fact("Passes from reward", task.verifier.pass_mark.to_string())}
                {fact("Own solution", oracle)}
                {fact("Own skills", if skills.is_empty() { "none".to_owned() } else { skills })}
            </tbody></table>
        </section>
    }
}
