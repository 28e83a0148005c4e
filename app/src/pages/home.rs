//! The first page: what this is, what to do next, the latest evaluations.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::api::{self, HomeView};
use crate::components::evaluation_table::EvaluationTable;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::loaded;
use crate::format::plural;

/// The first page.
#[component]
pub fn Home() -> impl IntoView {
    let data = Resource::new(|| (), |()| api::home());
    view! { <Title text=""/>{loaded(data, |view| page(view).into_any())} }.into_any()
}

fn page(home: HomeView) -> impl IntoView {
    let ready = home.skills > 0 && home.tasks > 0;
    view! {
        <article class="page">
            <header class="hero">
                <h1>"Does this skill help?"</h1>
                <p class="lead">
                    "Skilldelta runs every task twice in containers, without and with a skill, judges both with the task's own tests, and shows the difference: "
                    <b>"Δ"</b>", the pass rate with the skill minus the pass rate without it, and what the skill costs in tokens."
                </p>
            </header>
            <Steps home=home.clone()/>
            {if home.latest.is_empty() {
                view! { <Preview ready=ready/> }.into_any()
            } else {
                view! {
                    <section class="section">
                        <div class="section-head">
                            <h2>"Latest evaluations"</h2>
                            <a href="/evaluations">{format!("All {}", plural(u64::from(home.evaluations), "evaluation", "evaluations"))}</a>
                        </div>
                        <EvaluationTable evaluations=home.latest/>
                    </section>
                }
                .into_any()
            }}
        </article>
    }
}

/// The three steps, each with what is there already.
#[component]
fn Steps(home: HomeView) -> impl IntoView {
    let step = |number: u32,
                title: &'static str,
                text: &'static str,
                have: String,
                href: &'static str,
                action: &'static str,
                next: bool| {
        view! {
            <li class=if next { "step step-next" } else { "step" }>
                <span class="step-count" aria-hidden="true">{number}</span>
                <h2>{title}</h2>
                <p>{text}</p>
                <p class="step-foot">
                    <span class="quiet">{have}</span>
                    <a class=if next { "button primary" } else { "button" } href=href>{action}<Icon sign=Sign::Next/></a>
                </p>
            </li>
        }
    };
    let (skills, tasks, evaluations) = (home.skills, home.tasks, home.evaluations);
    view! {
        <ol class="steps">
            {step(1, "Add a skill", "A zip, a folder or a SKILL.md. It is checked at once, line by line.", plural(u64::from(skills), "skill", "skills"), "/skills", "Skills", skills == 0)}
            {step(2, "Add tasks", "A folder of tasks on the server, each with an environment and its own tests.", plural(u64::from(tasks), "task", "tasks"), "/tasks", "Tasks", skills > 0 && tasks == 0)}
            {step(3, "Compare", "Choose agent, model and repeats; see what it takes before anything is spent.", plural(u64::from(evaluations), "evaluation", "evaluations"), "/evaluations/new", "New evaluation", skills > 0 && tasks > 0)}
        </ol>
    }
}

/// How results will look, while there are none.
#[component]
fn Preview(ready: bool) -> impl IntoView {
    let words =
        if ready { "Start the first evaluation; its result will stand here." } else { "Results will stand here." };
    view! {
        <section class="section">
            <h2>"Latest evaluations"</h2>
            <div class="empty">
                <p class="empty-title">{words}</p>
                <div class="bones" aria-hidden="true"><div class="bone"></div><div class="bone"></div><div class="bone"></div></div>
            </div>
        </section>
    }
}
