//! What is compared: the skills of the with-skill arm, what the baseline arm holds, and what lies in both.

use domain::listing::VersionChoice;
use leptos::prelude::*;

use super::plan_form::{Answer, FieldProblem, takes_focus};
use crate::api::PlanFormView;
use crate::draft::{ITSELF, NOTHING, TASKS_OWN};

/// What the baseline arm may hold: value, words.
const BASELINES: [(&str, &str); 5] = [
    ("no-skill", "no skill"),
    ("previous-version", "an earlier version of the skill"),
    ("control", "an unrelated skill, as a control"),
    (ITSELF, "the same again (A/A, the skill in both arms)"),
    (NOTHING, "A/A without a skill: no skill in either arm"),
];

/// The three choices.
#[component]
pub fn Arms(view: PlanFormView, checked: Answer) -> impl IntoView {
    let PlanFormView { skills, draft, .. } = view;
    let own = (TASKS_OWN.to_owned(), "each task's own skills".to_owned(), String::new());
    let baselines = BASELINES
        .map(|(value, words)| {
            let selected = draft.baseline == value;
            view! { <option value=value selected=selected>{words}</option> }
        })
        .into_iter()
        .collect_view();
    let with = draft.baseline_skill.clone();
    let open = !with.is_empty()
        || matches!(draft.baseline.as_str(), "previous-version" | "control")
        || takes_focus("baseline_skill");
    let beside = draft.distractor.clone();
    let has_beside = !beside.is_empty() || takes_focus("distractor");
    view! {
        <fieldset class="group">
            <legend>"What is compared"</legend>
            <FieldProblem field="" checked=checked/>
            <div class="field" role="group" aria-labelledby="skill-label" aria-describedby="skill-hint skill-problem">
                <span class="label" id="skill-label">"Skills of the with-skill arm"</span>
                <p class="hint" id="skill-hint">"One or more versions for every task, or the skills that are bundled with each task."</p>
                <FieldProblem field="skill" checked=checked/>
                <VersionList name="skill" choices=options(&skills, &draft.skill) more=vec![own] chosen=draft.skill.clone()/>
            </div>
            <div class="field">
                <label class="label" for="baseline">"Compared with"</label>
                <select id="baseline" class="input" name="baseline" autofocus=takes_focus("baseline") aria-describedby="baseline-hint baseline-problem">{baselines}</select>
                <p class="hint" id="baseline-hint">"An A/A evaluation shows what chance alone does on these tasks: their noise floor."</p>
                <FieldProblem field="baseline" checked=checked/>
            </div>
            <details class="fold-list" open=open>
                <summary>"Skill of the baseline arm, for an earlier version or a control"</summary>
                <FieldProblem field="baseline_skill" checked=checked/>
                <VersionList name="baseline_skill" choices=options(&skills, &with) more=vec![] chosen=with/>
            </details>
            <details class="fold-list" open=has_beside>
                <summary>"Distractors: skills that lie in both arms"</summary>
                <FieldProblem field="distractor" checked=checked/>
                <VersionList name="distractor" choices=options(&skills, &beside) more=vec![] chosen=beside/>
            </details>
        </fieldset>
    }
}

/// Value, name, and what tells it from others of the name.
type Choice = (String, String, String);

/// All versions, and those chosen that are not among them.
fn options(skills: &[VersionChoice], chosen: &[String]) -> Vec<Choice> {
    let option = |skill: &VersionChoice| {
        let age = match (skill.newest, skill.only_compared) {
            (true, _) => "newest",
            (false, true) => "stored to compare with",
            (false, false) => "earlier",
        };
        let about = format!("version {}, {age} · {}", skill.number, skill.version.short());
        (skill.id.to_string(), skill.name.clone(), about)
    };
    let mut options: Vec<Choice> = skills.iter().map(option).collect();
    for value in chosen.iter().filter(|value| value.parse::<i64>().is_ok()) {
        if options.iter().all(|option| option.0 != *value) {
            options.push((value.clone(), format!("version number {value}"), "not known here".to_owned()));
        }
    }
    options
}

/// Check boxes; the first takes the focus where something is wrong with the field.
#[component]
fn VersionList(name: &'static str, choices: Vec<Choice>, more: Vec<Choice>, chosen: Vec<String>) -> impl IntoView {
    let focus = takes_focus(name);
    let rows = choices
        .into_iter()
        .chain(more)
        .enumerate()
        .map(|(i, (value, words, about))| {
            let is_chosen = chosen.contains(&value);
            view! {
                <li>
                    <label class="task-choice">
                        <input type="checkbox" name=name value=value checked=is_chosen autofocus=focus && i == 0/>
                        <span class="task-name foreign">{words}</span>
                        <span class="quiet">{about}</span>
                    </label>
                </li>
            }
        })
        .collect_view();
    view! { <ul class="task-list short-list">{rows}</ul> }
}
