//! Planning an evaluation: the form, and beside it what the plan takes and can tell.

use std::time::Duration;

use leptos::ev::Event;
use leptos::html::Form;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use leptos_router::params::ParamsMap;

use super::plan_arms::Arms;
use super::plan_card::PlanCardView;
use super::plan_form::{Basics, EarlyEnd, Limits, TaskChoice, focus_first_invalid};
use super::plan_network::Networks;
use crate::api::{self, Checked, PlanFormView};
use crate::command::command;
use crate::components::loaded::loaded;
use crate::components::words::{Crumbs, CsrfField, Empty};
use crate::draft::Draft;

/// Milliseconds without typing after which the plan card follows.
const PAUSE_MS: u64 = 300;

/// The page of a new evaluation; its whole form stands in the address.
#[component]
pub fn New() -> impl IntoView {
    let query = use_query_map();
    let draft = Memo::new(move |_| query.with(Draft::from_params));
    let data = Resource::new(move || draft.get(), api::new_evaluation);
    view! { <Title text="New evaluation"/>{loaded(data, |view| page(view).into_any())} }.into_any()
}

fn page(view: PlanFormView) -> impl IntoView {
    let missing = view.tasks.is_empty()
        || (view.skills.is_empty() && view.tasks.iter().all(|task| task.bundled_skills.is_empty()));
    view! {
        <article class="page page-wide">
            <header class="page-head">
                <Crumbs links=vec![("/evaluations".to_owned(), "Evaluations".to_owned())]/>
                <h1>"New evaluation"</h1>
                <p class="lead">"The only difference between the two arms is the skills that lie in them. Pairs run interleaved, in an order drawn from the seed."</p>
            </header>
            {if missing {
                view! {
                    <Empty title="A skill and at least one task are needed first">
                        <p class="actions"><a class="button primary" href="/skills">"Add a skill"</a><a class="button primary" href="/tasks">"Add tasks"</a></p>
                    </Empty>
                }
                .into_any()
            } else {
                view! { <PlanForm view=view/> }.into_any()
            }}
        </article>
    }
}

/// A plain form: `Check plan` and `Start` post it; with JavaScript the card also follows every change.
#[component]
fn PlanForm(view: PlanFormView) -> impl IntoView {
    let checked = RwSignal::new(view.checked.clone());
    focus_first_invalid(view.checked.as_ref());
    let command = command(&view);
    let form = NodeRef::<Form>::new();
    let follow = follow(form, checked);
    view! {
        <form class="plan" node_ref=form method="post" action="/evaluations/check" on:input=follow>
            <CsrfField/>
            <div class="plan-form">
                <Arms view=view.clone() checked=checked/>
                <Basics view=view.clone() checked=checked/>
                <TaskChoice tasks=view.tasks.clone() chosen=view.draft.task.clone() set=view.draft.task_set.clone() checked=checked/>
                <EarlyEnd draft=view.draft.clone() checked=checked/>
                <Networks draft=view.draft.clone() checked=checked/>
                <Limits draft=view.draft.clone() checked=checked/>
            </div>
            <aside class="plan-side" aria-label="Plan">
                <PlanCardView checked=checked/>
                <p class="actions">
                    <button class="button">"Check plan"</button>
                    <button class="button primary" formaction="/evaluations/start">"Start evaluation"</button>
                </p>
                <p class="quiet">"Nothing is spent before the start."</p>
                {command.map(|command| view! {
                    <details class="fold-list">
                        <summary>"The same on the command line"</summary>
                        <pre class="command" tabindex="0"><code>{command}</code></pre>
                        <p class="hint">"As checked last. Put the folder of each skill in the place of its name."</p>
                    </details>
                })}
            </aside>
        </form>
    }
}

/// Asks the server what the plan comes to when nothing was changed for a moment; an answer that was overtaken is dropped.
fn follow(form: NodeRef<Form>, checked: RwSignal<Option<Checked>>) -> impl FnMut(Event) + 'static {
    let asked = StoredValue::new(0_u32);
    debounce(Duration::from_millis(PAUSE_MS), move |_: Event| {
        let Some(draft) = form.try_get_untracked().flatten().as_ref().and_then(read) else { return };
        let number = asked.try_update_value(|number| {
            *number = number.wrapping_add(1);
            *number
        });
        spawn_local(async move {
            let answer = api::check_plan(draft).await;
            if let Ok(answer) = answer
                && asked.try_get_value() == number
            {
                checked.try_set(Some(answer));
            }
        });
    })
}

/// The draft as the form shows it.
fn read(form: &web_sys::HtmlFormElement) -> Option<Draft> {
    let data = web_sys::FormData::new_with_form(form).ok()?;
    let mut params = ParamsMap::new();
    for name in Draft::FIELDS {
        for value in data.get_all(name).iter().filter_map(|value| value.as_string()) {
            params.insert(name, value);
        }
    }
    Some(Draft::from_params(&params))
}
