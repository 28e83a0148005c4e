//! The answer to a posted form: what went in, what was refused and why, what was left out.

use domain::finding::{Finding, has_errors};
use domain::hash::ContentHash;
use domain::listing::{Refused, SkillIntake, TaskIntake};
use leptos::prelude::*;
use leptos_meta::Title;

use super::skills::UploadForms;
use crate::components::findings::FindingList;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::{error_page, set_status};
use crate::components::words::Crumbs;
use crate::format::plural;
use crate::posted::Posted;

/// Shows the [`Posted`] that the server put into the context; where nothing was posted, the way to do it.
#[component]
pub fn PostedPage() -> impl IntoView {
    let posted = SharedValue::new(use_context::<Posted>).into_inner();
    match posted {
        Some(Posted::Skills(intake)) => skills(intake).into_any(),
        Some(Posted::Tasks { path, intake }) => tasks(path, intake).into_any(),
        Some(Posted::Failed(error)) => error_page(error),
        None => nothing().into_any(),
    }
}

fn nothing() -> impl IntoView {
    view! {
        <Title text="Upload"/>
        <article class="page">
            <header class="page-head"><h1>"Nothing was sent"</h1><p class="lead">"This page answers a form. Choose what to upload, or go back to the lists."</p></header>
            <UploadForms limit=None/>
            <p class="actions"><a class="button" href="/skills">"Skills"</a><a class="button" href="/tasks">"Tasks"</a><a class="button" href="/evaluations">"Evaluations"</a></p>
        </article>
    }
}

/// Something that went in.
struct Accepted {
    name: String,
    href: String,
    path: String,
    version: ContentHash,
    is_new: bool,
    findings: Vec<Finding>,
}

fn skills(intake: SkillIntake) -> impl IntoView {
    let next = plan_with("skill", intake.accepted.iter().map(|skill| skill.version_id.0));
    let accepted: Vec<Accepted> = intake
        .accepted
        .into_iter()
        .map(|skill| Accepted {
            name: skill.name,
            href: format!("/skills/{}", skill.skill),
            path: skill.path,
            version: skill.version,
            is_new: skill.is_new,
            findings: skill.findings,
        })
        .collect();
    let next = accepted.first().map(|_| view! { <a class="button primary" href=next>"New evaluation"</a> });
    let left_out = left_out(intake.left_out);
    view! {
        <Title text="Upload"/>
        <article class="page">
            {head("Skills", "/skills", &accepted, &intake.refused, &intake.findings)}
            <FindingList findings=intake.findings/>
            {accepted_list("skill", accepted)}
            {refused_list(intake.refused)}
            {left_out}
            <p class="actions">{next}<a class="button" href="/skills">"All skills"</a></p>
            <section class="section"><h2>"Upload more"</h2><UploadForms limit=None/></section>
        </article>
    }
}

/// The form of a plan with what has just gone in already chosen, as far as an address may be long.
fn plan_with(field: &str, ids: impl ExactSizeIterator<Item = i64>) -> String {
    const MOST: usize = 100;
    if ids.len() > MOST {
        return "/evaluations/new".to_owned();
    }
    let chosen: Vec<String> = ids.map(|id| format!("{field}={id}")).collect();
    format!("/evaluations/new?{}", chosen.join("&"))
}

fn tasks(path: String, intake: TaskIntake) -> impl IntoView {
    let next = plan_with("task", intake.accepted.iter().map(|task| task.id.0));
    let accepted: Vec<Accepted> = intake
        .accepted
        .into_iter()
        .map(|task| Accepted {
            name: task.name,
            href: format!("/tasks/{}", task.id),
            path: task.path,
            version: task.version,
            is_new: task.is_new,
            findings: task.findings,
        })
        .collect();
    view! {
        <Title text="Tasks added"/>
        <article class="page">
            {head("Tasks", "/tasks", &accepted, &intake.refused, &intake.findings)}
            <p class="quiet">"Read from "<code>{path}</code></p>
            <FindingList findings=intake.findings/>
            {accepted_list("task", accepted)}
            {refused_list(intake.refused)}
            <p class="actions"><a class="button primary" href=next>"New evaluation"</a><a class="button" href="/tasks">"All tasks"</a></p>
        </article>
    }
}

/// Title that says how it went, in numbers; sets the status where nothing went in.
fn head(
    parent: &'static str,
    href: &'static str,
    accepted: &[Accepted],
    refused: &[Refused],
    findings: &[Finding],
) -> impl IntoView + use<> {
    if accepted.is_empty() && (!refused.is_empty() || has_errors(findings)) {
        set_status(422);
    }
    let new = accepted.iter().filter(|one| one.is_new).count() as u64;
    let known = accepted.len() as u64 - new;
    let mut parts = vec![format!("{} accepted", accepted.len())];
    if known > 0 {
        parts.push(format!("of them {known} already known"));
    }
    parts.push(format!("{} refused", refused.len()));
    view! {
        <header class="page-head">
            <Crumbs links=vec![(href.to_owned(), parent.to_owned())]/>
            <h1>{parts.join(", ")}</h1>
        </header>
    }
}

fn accepted_list(noun: &'static str, accepted: Vec<Accepted>) -> impl IntoView {
    let item = |one: Accepted| {
        view! {
            <li class="intake">
                <p class="intake-head">
                    <span class="state state-pass"><Icon sign=Sign::Pass/><span>{if one.is_new { "accepted" } else { "already known" }}</span></span>
                    <a href=one.href><strong>{one.name}</strong></a>
                    <code class="hash">{one.version.short()}</code>
                    <span class="quiet foreign">{one.path}</span>
                </p>
                <FindingList findings=one.findings/>
            </li>
        }
    };
    (!accepted.is_empty()).then(|| {
        view! {
            <section class="section">
                <h2>{format!("Accepted: {}", plural(accepted.len() as u64, noun, if noun == "skill" { "skills" } else { "tasks" }))}</h2>
                <ul class="intakes">{accepted.into_iter().map(item).collect_view()}</ul>
            </section>
        }
    })
}

fn refused_list(refused: Vec<Refused>) -> impl IntoView {
    let item = |one: Refused| {
        view! {
            <li class="intake">
                <p class="intake-head">
                    <span class="state state-fail"><Icon sign=Sign::Fail/><span>"refused"</span></span>
                    <strong class="foreign">{one.path}</strong>
                </p>
                <FindingList findings=one.findings/>
            </li>
        }
    };
    (!refused.is_empty()).then(|| {
        view! {
            <section class="section">
                <h2>{format!("Refused: {}", refused.len())}</h2>
                <ul class="intakes">{refused.into_iter().map(item).collect_view()}</ul>
            </section>
        }
    })
}

fn left_out(paths: Vec<String>) -> impl IntoView {
    (!paths.is_empty()).then(|| {
        view! {
            <section class="section">
                <h2>{format!("Left out on purpose: {}", plural(paths.len() as u64, "file", "files"))}</h2>
                <ul class="plain-list">{paths.into_iter().map(|path| view! { <li><code>{path}</code></li> }).collect_view()}</ul>
            </section>
        }
    })
}
