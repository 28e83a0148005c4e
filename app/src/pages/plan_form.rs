//! The fields of a plan, each with its hint and with what is wrong beside it.

use domain::listing::{AgentChoice, TaskListing};
use domain::plan::ModelRef;
use leptos::prelude::*;

use crate::api::{Checked, PlanFormView};
use crate::components::audit::OutcomeMark;
use crate::components::icon::{Icon, Sign};
use crate::components::loaded::sentence;
use crate::draft::{Draft, IN_PROMPT};
use crate::format::{UNKNOWN, count};

/// The answer of the last check.
pub(super) type Answer = RwSignal<Option<Checked>>;

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

/// The first field of the form that something is wrong with: it gets the focus.
#[derive(Clone)]
struct FirstInvalid(Option<String>);

/// Has the first of the fields that `checked` finds fault with take the focus when the page is there.
pub fn focus_first_invalid(checked: Option<&Checked>) {
    let is_wrong =
        |field: &&&str| checked.is_some_and(|checked| checked.problems.iter().any(|problem| problem.field == **field));
    provide_context(FirstInvalid(Draft::FIELDS.iter().find(is_wrong).map(|field| (*field).to_owned())));
}

/// Whether `field` is the one.
pub fn takes_focus(field: &str) -> bool {
    use_context::<FirstInvalid>().is_some_and(|first| first.0.as_deref() == Some(field))
}

/// `true` for as long as something is wrong with `field`.
pub fn is_invalid(field: &'static str, checked: Answer) -> Memo<bool> {
    Memo::new(move |_| {
        checked
            .with(|checked| checked.iter().flat_map(|checked| &checked.problems).any(|problem| problem.field == field))
    })
}

/// A labelled one-line input.
#[component]
pub fn TextField(
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
    let invalid = is_invalid(name, checked);
    view! {
        <div class="field">
            <label class="label" for=name>{label}</label>
            <input id=name class="input" name=name value=value inputmode=mode placeholder=placeholder autocomplete="off"
                autofocus=takes_focus(name) aria-invalid=move || invalid.get().to_string()
                aria-describedby=format!("{name}-hint {name}-problem")/>
            <p class="hint" id=format!("{name}-hint")>{hint}</p>
            <FieldProblem field=name checked=checked/>
        </div>
    }
}

/// Agent, model, repeats.
#[component]
pub fn Basics(view: PlanFormView, checked: Answer) -> impl IntoView {
    let PlanFormView { choices, draft, .. } = view;
    let in_prompt = draft.delivery == IN_PROMPT;
    view! {
        <fieldset class="group">
            <legend>"Who solves the tasks"</legend>
            <div class="field-row">
                <div class="field">
                    <label class="label" for="agent">"Agent"</label>
                    <select id="agent" class="input" name="agent" autofocus=takes_focus("agent") aria-describedby="agent-problem">{agent_options(choices.agents, &draft.agent)}</select>
                    <FieldProblem field="agent" checked=checked/>
                </div>
                <div class="field">
                    <label class="label" for="model">"Model"</label>
                    <select id="model" class="input" name="model" autofocus=takes_focus("model") aria-describedby="model-hint model-problem">{model_options(choices.models, &draft.model)}</select>
                    <p class="hint" id="model-hint">"Not used by agents that call no model."</p>
                    <FieldProblem field="model" checked=checked/>
                </div>
            </div>
            <label class="check check-block">
                <input type="checkbox" name="delivery" value=IN_PROMPT checked=in_prompt/>
                <span>"Put the skills' text into the prompt"<span class="hint block">"For agents that look for no skills. The results are those of another actor, and say so."</span></span>
            </label>
            <div class="field-row">
                <TextField name="k" label="Repeats (k)" hint="How often each task runs in each arm." value=draft.k mode="numeric" checked=checked/>
                <TextField name="title" label="Title" hint="Made from skill and tasks where it is empty." value=draft.title mode="text" checked=checked/>
            </div>
        </fieldset>
    }
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
pub fn TaskChoice(
    tasks: Vec<TaskListing>,
    chosen: Vec<String>,
    /// Name of the task set that they are of, where there is one.
    set: String,
    checked: Answer,
) -> impl IntoView {
    let set = (!set.is_empty()).then(|| view! { <input type="hidden" name="task_set" value=set/> });
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
            {set}
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

/// When the evaluation may end before all of its trials.
#[component]
pub fn EarlyEnd(draft: Draft, checked: Answer) -> impl IntoView {
    let chosen = |stop: &str| draft.stop.iter().any(|chosen| chosen == stop);
    let (futility, evidence) = (chosen("futility"), chosen("evidence"));
    view! {
        <fieldset class="group">
            <legend>"Early end"</legend>
            <p class="hint">"Chosen now or not at all: a rule that is made up while looking proves nothing. What runs when it ends is let finish."</p>
            <label class="check check-block">
                <input type="checkbox" name="stop" value="futility" checked=futility/>
                <span>"When no outcome of the rest could be told from chance"<span class="hint block">"Costs nothing: it cannot turn a result."</span></span>
            </label>
            <label class="check check-block">
                <input type="checkbox" name="stop" value="evidence" checked=evidence/>
                <span>"When the evidence suffices (e-value of 20)"<span class="hint block">"The verdict then rests on the e-value, which needs 7 tasks that flip the same way in place of 6."</span></span>
            </label>
            <FieldProblem field="stop" checked=checked/>
        </fieldset>
    }
}

/// Limits that hold alike in both arms.
#[component]
pub fn Limits(draft: Draft, checked: Answer) -> impl IntoView {
    let rebuild = !draft.rebuild.is_empty();
    let texts = [
        &draft.seed,
        &draft.timeout,
        &draft.agent_time,
        &draft.verifier_time,
        &draft.cap,
        &draft.money,
        &draft.calls,
        &draft.seconds,
        &draft.all_tokens,
        &draft.all_money,
        &draft.all_calls,
        &draft.all_seconds,
        &draft.rebuild,
    ];
    let wrong = checked.with_untracked(|checked| checked.as_ref().is_some_and(|checked| !checked.problems.is_empty()));
    let open = wrong || texts.iter().any(|text| !text.is_empty());
    view! {
        <details class="group limits" open=open>
            <summary>"Limits and order, alike in both arms"</summary>
            <div class="field-row">
                <TextField name="concurrency" label="Trials at the same time" hint="As many as the machine can hold." value=draft.concurrency mode="numeric" checked=checked/>
                <TextField name="seed" label="Seed" hint="Draws the order; drawn itself where it is empty." value=draft.seed mode="numeric" placeholder="drawn" checked=checked/>
            </div>
            <div class="field-row">
                <TextField name="timeout" label="Time limits times" hint="Multiplies the tasks' own limits." value=draft.timeout mode="decimal" placeholder="1" checked=checked/>
                <TextField name="agent_time" label="Seconds for the agent" hint="In place of the task's own limit." value=draft.agent_time mode="numeric" placeholder="the task's" checked=checked/>
                <TextField name="verifier_time" label="Seconds for the verifier" hint="In place of the task's own limit." value=draft.verifier_time mode="numeric" placeholder="the task's" checked=checked/>
            </div>
            <h3 class="caps-head">"Most per trial"</h3>
            <p class="hint">"A trial that reaches one fails."</p>
            <div class="field-row caps">
                <TextField name="cap" label="Tokens" hint="Of all classes together." value=draft.cap mode="numeric" placeholder="no cap" checked=checked/>
                <TextField name="money" label="Money" hint="By the price table." value=draft.money mode="decimal" placeholder="no cap" checked=checked/>
                <TextField name="calls" label="Model calls" hint="That reach the upstream." value=draft.calls mode="numeric" placeholder="no cap" checked=checked/>
                <TextField name="seconds" label="Seconds" hint="From the agent's start." value=draft.seconds mode="numeric" placeholder="the task's" checked=checked/>
            </div>
            <h3 class="caps-head">"Most in all"</h3>
            <p class="hint">"When what was spent reaches one, the trials that still call a model fail; after the seconds none is begun."</p>
            <div class="field-row caps">
                <TextField name="all_tokens" label="Tokens in all" hint="Of every attempt." value=draft.all_tokens mode="numeric" placeholder="no cap" checked=checked/>
                <TextField name="all_money" label="Money in all" hint="By the price table." value=draft.all_money mode="decimal" placeholder="no cap" checked=checked/>
                <TextField name="all_calls" label="Model calls in all" hint="Of every attempt." value=draft.all_calls mode="numeric" placeholder="no cap" checked=checked/>
                <TextField name="all_seconds" label="Seconds in all" hint="From the first trial's start." value=draft.all_seconds mode="numeric" placeholder="no cap" checked=checked/>
            </div>
            <label class="check"><input type="checkbox" name="rebuild" value="1" checked=rebuild/>"Build images again without the engine's cache"</label>
        </details>
    }
}
