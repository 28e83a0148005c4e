//! Tasks: the list, and adding a folder of them.

use domain::listing::TaskListing;
use domain::task::DataVersion;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::api::{self, TasksView};
use crate::components::audit::{AuditForm, Standing};
use crate::components::findings::FindingNumbers;
use crate::components::loaded::loaded;
use crate::components::words::{CsrfField, Empty};
use crate::format::{UNKNOWN, count};

/// The list of tasks.
#[component]
pub fn Tasks() -> impl IntoView {
    let data = Resource::new(|| (), |()| api::tasks());
    view! { <Title text="Tasks"/>{loaded(data, |view| page(view).into_any())} }.into_any()
}

fn page(view: TasksView) -> impl IntoView {
    view! {
        <article class="page">
            <header class="page-head">
                <h1>"Tasks"</h1>
                <p class="lead">"A task is an instruction, an environment and a verifier: deterministic tests that run after the agent has stopped."</p>
            </header>
            <AddForm roots=view.roots/>
            <section class="section">
                <div class="title-line">
                    <h2>{format!("All tasks ({})", count(view.tasks.len() as u64))}</h2>
                    {(!view.tasks.is_empty()).then(|| view! { <AuditForm tasks=Vec::new() words="Audit all tasks"/> })}
                </div>
                {if view.tasks.is_empty() {
                    view! { <Empty title="No tasks yet"><p>"Add a folder above: every task in it will stand here with its findings."</p></Empty> }.into_any()
                } else {
                    table(view.tasks).into_any()
                }}
            </section>
        </article>
    }
}

/// A plain form with the path of a folder on the server.
#[component]
fn AddForm(roots: Vec<String>) -> impl IntoView {
    let none = roots.is_empty();
    let start = roots.first().map(|root| format!("{}/", root.trim_end_matches('/'))).unwrap_or_default();
    let list = roots.into_iter().map(|root| view! { <li><code>{root}</code></li> }).collect_view();
    let layouts = DataVersion::ALL
        .map(|version| {
            let words = match version {
                DataVersion::Auto => "in the layout each task is in",
                DataVersion::V11 => "only the layout 1.1 (task.md)",
                DataVersion::V10 => "only the layout 1.0 (task.toml)",
            };
            view! { <option value=version.word()>{words}</option> }
        })
        .collect_view();
    view! {
        <form class="add-form" method="post" action="/tasks/add">
            <CsrfField/>
            <label class="label" for="add-path">"A folder on the server: one task, or a folder with many"</label>
            <div class="add-line">
                <input id="add-path" class="input mono" name="path" value=start required=true spellcheck="false" autocomplete="off" aria-describedby="add-roots"/>
                <select class="input" name="layout" aria-label="Layout">{layouts}</select>
                <button class="button primary" disabled=none>"Add and check"</button>
            </div>
            <div id="add-roots" class="quiet">
                {if none {
                    view! { <p>"No task folders are configured on this server: name them by task_roots in its skilldelta.toml, or add tasks from the command line."</p> }.into_any()
                } else {
                    view! { <p>"It must lie below:"</p><ul class="plain-list inline-list">{list}</ul> }.into_any()
                }}
            </div>
        </form>
    }
}

fn table(tasks: Vec<TaskListing>) -> impl IntoView {
    view! {
        <div class="table-scroll">
            <table class="table table-cards">
                <thead>
                    <tr>
                        <th scope="col">"Task"</th>
                        <th scope="col">"Category"</th>
                        <th scope="col">"Difficulty"</th>
                        <th scope="col">"Layout"</th>
                        <th scope="col">"Own solution"</th>
                        <th scope="col">"Own skills"</th>
                        <th scope="col">"Findings"</th>
                        <th scope="col">"Audit"</th>
                    </tr>
                </thead>
                <tbody>{tasks.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn row(task: TaskListing) -> impl IntoView {
    let own = if task.bundled_skills.is_empty() { "none".to_owned() } else { task.bundled_skills.join(", ") };
    view! {
        <tr class="row-link">
            <th scope="row" class="cell-title">
                <a href=format!("/tasks/{}", task.id)>{task.name}</a>
                <code class="hash block">{task.version.short()}</code>
            </th>
            <td data-label="Category" class="wrap">{task.category.unwrap_or_else(|| UNKNOWN.to_owned())}</td>
            <td data-label="Difficulty">{task.difficulty.unwrap_or_else(|| UNKNOWN.to_owned())}</td>
            <td data-label="Layout">{task.layout.word()}</td>
            <td data-label="Own solution">{if task.has_oracle { "yes" } else { "no" }}</td>
            <td data-label="Own skills" class="wrap">{own}</td>
            <td data-label="Findings"><FindingNumbers counts=task.findings/></td>
            <td data-label="Audit"><Standing audit=task.audit/></td>
        </tr>
    }
}
