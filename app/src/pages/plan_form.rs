//! The fields of a plan, each with its hint and with what is wrong beside it.

use domain::listing::{AgentChoice, SkillListing, TaskListing};
use domain::plan::ModelRef;
use leptos::prelude::*;

use crate::api::{Checked, PlanFormView};
use crate::components::audit::OutcomeMark;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::sentence;
use crate::draft::{Draft, TASKS_OWN};
use crate::format::{UNKNOWN, count};

/// The answer of the last check.
type Answer = RwSignal<Option<Checked>>;

/// What is wrong with one field, as long as something is.
#[component]
pub fn FieldProblem(field: &'static str, checked: Answer) -> impl IntoView {
    let messages = Memo::new(move |_| {
        checked.with(|checked| {
            let problems = checked.iter().flat_map(|checked| &checked.problems);
            problems
                .filter(|problem| problem.field == field)
                .map(|problem| sentence(&problem.message))
                .collect::<Vec<_>>()
        })
    });
    move || {
        let messages = messages.get();
        (!messages.is_empty()).then(|| {
            view! { <p class="problem" id=format!("{field}-problem") role="alert"><Icon sign=Sign::Error/><span>{messages.join(" ")}</span></p> }
        })
    }
}

/// A labelled one-line input.
#[component]
fn TextField(
    /// Name of the field.
    name: &'static str,
    /// Its label.
    label: &'static str,
    /// What it means.
    hint: &'static str,
    /// As it stands.
    value: String,
    /// `numeric` or `text`.
    mode: &'static str,
    /// Shown while it is empty.
    #[prop(optional)]
    placeholder: &'static str,
    checked: Answer,
) -> impl IntoView {
    view! {
        <div class="field">
            <label class="label" for=name>{label}</label>
            <input id=name class="input" name=name value=value inputmode=mode placeholder=placeholder autocomplete="off"
                aria-describedby=format!("{name}-hint {name}-problem")/>
            <p class="hint" id=format!("{name}-hint")>{hint}</p>
            <FieldProblem field=name checked=checked/>
        </div>
    }
}

/// Skill, agent, model, repeats.
#[component]
pub fn Basics(view: PlanFormView, checked: Answer) -> impl IntoView {
    let PlanFormView { skills, choices, draft, .. } = view;
    view! {
        <fieldset class="group">
            <legend>"What is compared"</legend>
            <FieldProblem field="" checked=checked/>
            <div class="field">
                <label class="label" for="skill">"Skill of the with-skill arm"</label>
                <select id="skill" class="input" name="skill" aria-describedby="skill-hint skill-problem">{skill_options(skills, &draft.skill)}</select>
                <p class="hint" id="skill-hint">"One version for every task, or the skills that are bundled with each task."</p>
                <FieldProblem field="skill" checked=checked/>
            </div>
            <div class="field-row">
                <div class="field">
                    <label class="label" for="agent">"Agent"</label>
                    <select id="agent" class="input" name="agent" aria-describedby="agent-problem">{agent_options(choices.agents, &draft.agent)}</select>
                    <FieldProblem field="agent" checked=checked/>
                </div>
                <div class="field">
                    <label class="label" for="model">"Model"</label>
                    <select id="model" class="input" name="model" aria-describedby="model-hint model-problem">{model_options(choices.models, &draft.model)}</select>
                    <p class="hint" id="model-hint">"Not used by agents that call no model."</p>
                    <FieldProblem field="model" checked=checked/>
                </div>
            </div>
            <div class="field-row">
                <TextField name="k" label="Repeats (k)" hint="How often each task runs in each arm." value=draft.k mode="numeric" checked=checked/>
                <TextField name="title" label="Title" hint="Made from skill and tasks where it is empty." value=draft.title mode="text" checked=checked/>
            </div>
        </fieldset>
    }
}

fn skill_options(skills: Vec<SkillListing>, chosen: &str) -> impl IntoView + use<> {
    let known =
        chosen == TASKS_OWN || chosen.is_empty() || skills.iter().any(|skill| skill.version_id.to_string() == chosen);
    let other = (!known).then(|| view! { <option value=chosen.to_owned() selected=true>{format!("an earlier version (number {chosen})")}</option> });
    let own = chosen == TASKS_OWN;
    let options = skills
        .into_iter()
        .map(|skill| {
            let value = skill.version_id.to_string();
            let selected = value == chosen;
            view! { <option value=value selected=selected>{format!("{} @{}", skill.name, skill.version.short())}</option> }
        })
        .collect_view();
    view! { {other}{options}<option value=TASKS_OWN selected=own>"each task's own skills"</option> }
}

fn agent_options(agents: Vec<AgentChoice>, chosen: &str) -> impl IntoView + use<> {
    agents
        .into_iter()
        .map(|choice| {
            let selected = choice.agent.name == chosen;
            view! { <option value=choice.agent.name.clone() selected=selected>{format!("{} {}: {}", choice.agent.name, choice.agent.version, choice.about)}</option> }
        })
        .collect_view()
}

fn model_options(models: Vec<ModelRef>, chosen: &str) -> impl IntoView + use<> {
    let none = models.is_empty();
    let options = models
        .into_iter()
        .map(|model| {
            let value = format!("{}/{}", model.upstream, model.name);
            let selected = value == chosen;
            let words = if model.scripted {
                format!("{} (scripted model)", model.name)
            } else {
                format!("{} by {}", model.name, model.upstream)
            };
            view! { <option value=value selected=selected>{words}</option> }
        })
        .collect_view();
    view! { {options}{none.then(|| view! { <option value="">"none configured"</option> })} }
}

/// Tasks as check boxes; two buttons choose all or none by way of the server.
#[component]
pub fn TaskChoice(tasks: Vec<TaskListing>, chosen: Vec<String>, checked: Answer) -> impl IntoView {
    let all = tasks.len();
    let rows = tasks
        .into_iter()
        .map(|task| {
            let value = task.id.to_string();
            let is_chosen = chosen.contains(&value);
            task_row(task, value, is_chosen)
        })
        .collect_view();
    view! {
        <fieldset class="group" aria-describedby="task-problem">
            <legend>"Tasks"</legend>
            <p class="task-tools">
                <button class="button small" name="select" value="all">{format!("Choose all {}", count(all as u64))}</button>
                <button class="button small" name="select" value="none">"Choose none"</button>
            </p>
            <FieldProblem field="task" checked=checked/>
            <ul class="task-list">{rows}</ul>
        </fieldset>
    }
}

fn task_row(task: TaskListing, value: String, chosen: bool) -> impl IntoView {
    let own = (!task.bundled_skills.is_empty()).then(|| format!("own skills: {}", task.bundled_skills.join(", ")));
    let about = [task.category, task.difficulty, own].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let warning = (task.findings.errors > 0)
        .then(|| view! { <span class="finding-count error"><Icon sign=Sign::Error/>"has errors"</span> });
    let audit = task.audit.settled.map(|audit| {
        view! { <span class="quiet"><OutcomeMark outcome=audit.outcome sentence=audit.sentence/></span> }
    });
    view! {
        <li>
            <label class="task-choice">
                <input type="checkbox" name="task" value=value checked=chosen/>
                <span class="task-name">{task.name}</span>
                <span class="quiet">{if about.is_empty() { UNKNOWN.to_owned() } else { about }}</span>
                {warning}
                {audit}
            </label>
        </li>
    }
}

/// Limits that hold alike in both arms.
#[component]
pub fn Limits(draft: Draft, checked: Answer) -> impl IntoView {
    let rebuild = !draft.rebuild.is_empty();
    let open = [&draft.seed, &draft.timeout, &draft.cap, &draft.rebuild].iter().any(|text| !text.is_empty());
    view! {
        <details class="group limits" open=open>
            <summary>"Limits and order, alike in both arms"</summary>
            <div class="field-row">
                <TextField name="concurrency" label="Trials at the same time" hint="As many as the machine can hold." value=draft.concurrency mode="numeric" checked=checked/>
                <TextField name="seed" label="Seed" hint="Draws the order; drawn itself where it is empty." value=draft.seed mode="numeric" placeholder="drawn" checked=checked/>
            </div>
            <div class="field-row">
                <TextField name="timeout" label="Time limits times" hint="Multiplies the tasks' own limits." value=draft.timeout mode="decimal" placeholder="1" checked=checked/>
                <TextField name="cap" label="Most tokens per trial" hint="A trial that reaches it fails." value=draft.cap mode="numeric" placeholder="no cap" checked=checked/>
            </div>
            <label class="check"><input type="checkbox" name="rebuild" value="1" checked=rebuild/>"Build images again without the engine's cache"</label>
        </details>
    }
}
