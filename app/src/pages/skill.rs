//! One skill: its versions, files, findings and its SKILL.md as text.

use domain::finding::Finding;
use domain::id::SkillId;
use domain::listing::{FindingCounts, SkillVersionDetail};
use domain::tree::Tree;
use leptos::prelude::*;
use leptos_meta::Title;

use super::address::part;
use super::skill_results::SkillResults;
use crate::AppError;
use crate::api::{self, SkillView};
use crate::components::findings::{FindingList, FindingNumbers};
use crate::components::fold::LongText;
use crate::components::loaded::loaded;
use crate::components::words::{Crumbs, Time};
use crate::format::{bytes, count, plural};

/// One skill.
#[component]
pub fn Skill() -> impl IntoView {
    let id = part::<SkillId>("id");
    let data = Resource::new(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::skill(id).await,
                None => Err(AppError::not_found("skill")),
            }
        },
    );
    loaded(data, |view| page(view).into_any())
}

fn page(view: SkillView) -> impl IntoView {
    let SkillView { skill, rows, published, origin } = view;
    let newest = skill.versions.first().cloned();
    let evaluate = newest.as_ref().map(|version| format!("/evaluations/new?skill={}", version.id));
    view! {
        <Title text=skill.name.clone()/>
        <article class="page">
            <header class="page-head">
                <Crumbs links=vec![("/skills".to_owned(), "Skills".to_owned())]/>
                <div class="title-line">
                    <h1>{skill.name.clone()}</h1>
                    {evaluate.map(|href| view! { <a class="button primary" href=href>"Evaluate this version"</a> })}
                </div>
                {newest.as_ref().map(|version| view! { <p class="lead foreign">{version.manifest.description.clone()}</p> })}
                {newest.as_ref().map(facts)}
            </header>
            <SkillResults skill=skill.id name=skill.name.clone() rows=rows published=published origin=origin/>
            {newest.as_ref().map(|version| findings(version.findings.clone()))}
            <section class="section">
                <h2>"SKILL.md"</h2>
                <LongText text=skill.skill_md.clone()/>
            </section>
            {newest.map(|version| files(&version.tree))}
            <section class="section">
                <h2>{format!("Versions ({})", count(skill.versions.len() as u64))}</h2>
                {versions(skill.versions)}
            </section>
        </article>
    }
}

fn facts(version: &SkillVersionDetail) -> impl IntoView + use<> {
    view! {
        <dl class="actor">
            <div><dt>"Version"</dt><dd><code class="hash" title=version.version.to_hex()>{version.version.short()}</code></dd></div>
            <div><dt>"Licence"</dt><dd>{version.manifest.license.clone().unwrap_or_else(|| "not stated".to_owned())}</dd></div>
            <div><dt>"Files"</dt><dd class="num">{plural(version.tree.len() as u64, "file", "files")} ", " {bytes(Some(version.tree.total_size()))}</dd></div>
            <div><dt>"Added"</dt><dd><Time at=version.created_at/></dd></div>
        </dl>
    }
}

fn findings(findings: Vec<Finding>) -> impl IntoView {
    let none = findings.is_empty();
    view! {
        <section class="section">
            <h2>"Findings"</h2>
            {none.then(|| view! { <p class="quiet">"The check found nothing to mend in this version."</p> })}
            <FindingList findings=findings/>
        </section>
    }
}

/// The files with their sizes.
pub fn files(tree: &Tree) -> impl IntoView + use<> {
    let rows = tree
        .iter()
        .map(|(path, entry)| {
            view! {
                <tr>
                    <th scope="row"><code>{path.as_str().to_owned()}</code></th>
                    <td>{entry.executable.then_some("executable")}</td>
                    <td class="num">{bytes(Some(entry.size))}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <section class="section">
            <h2>{format!("Files ({})", count(tree.len() as u64))}</h2>
            <div class="table-scroll">
                <table class="table table-dense">
                    <thead><tr><th scope="col">"Path"</th><th scope="col">"Mode"</th><th scope="col" class="num">"Size"</th></tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn versions(versions: Vec<SkillVersionDetail>) -> impl IntoView {
    let row = |version: SkillVersionDetail| {
        view! {
            <tr>
                <th scope="row">
                    <code class="hash" title=version.version.to_hex()>{version.version.short()}</code>
                    {version.only_compared.then(|| view! { <span class="quiet block">"stored to compare with"</span> })}
                </th>
                <td data-label="Added"><Time at=version.created_at/></td>
                <td data-label="Files" class="num">{count(version.tree.len() as u64)}</td>
                <td data-label="Size" class="num">{bytes(Some(version.tree.total_size()))}</td>
                <td data-label="Findings"><FindingNumbers counts=FindingCounts::of(&version.findings)/></td>
                <td><a href=format!("/evaluations/new?skill={}", version.id)>"Evaluate"</a></td>
            </tr>
        }
    };
    view! {
        <div class="table-scroll">
            <table class="table table-cards">
                <thead>
                    <tr>
                        <th scope="col">"Version"</th>
                        <th scope="col">"Added"</th>
                        <th scope="col" class="num">"Files"</th>
                        <th scope="col" class="num">"Size"</th>
                        <th scope="col">"Findings"</th>
                        <th scope="col"><span class="visually-hidden">"Action"</span></th>
                    </tr>
                </thead>
                <tbody>{versions.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}
