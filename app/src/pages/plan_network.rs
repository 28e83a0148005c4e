//! What each phase may reach, where that is not to be as the tasks say.

use leptos::prelude::*;

use super::plan_form::{Answer, FieldProblem, TextField, is_invalid, takes_focus};
use crate::draft::{Draft, HOSTS};

/// What may be chosen: value, words.
const OF_AGENT: [(&str, &str); 5] = [
    ("", "as each task says"),
    ("none", "nothing"),
    ("model-only", "its model alone"),
    (HOSTS, "its model and named hosts"),
    ("public", "everything"),
];
const OF_VERIFIER: [(&str, &str); 4] =
    [("", "as each task says"), ("none", "nothing"), (HOSTS, "named hosts"), ("public", "everything")];

/// Both phases, alike in both arms.
#[component]
pub fn Networks(draft: Draft, checked: Answer) -> impl IntoView {
    let said = [&draft.agent_network, &draft.agent_hosts, &draft.verifier_network, &draft.verifier_hosts];
    let wrong = ["agent_network", "agent_hosts", "verifier_network", "verifier_hosts"].into_iter().any(takes_focus);
    let open = wrong || said.iter().any(|text| !text.is_empty());
    view! {
        <details class="group limits" open=open>
            <summary>"Network, alike in both arms"</summary>
            <p class="hint">"Each task says what its agent and its verifier may reach. A choice here holds instead, for all tasks; the result says so, and is in no row of the leaderboard."</p>
            <div class="field-row">
                <Choice name="agent_network" label="The agent may reach" choices=&OF_AGENT chosen=draft.agent_network checked=checked/>
                <TextField name="agent_hosts" label="Named hosts for the agent" hint="Ports 80 and 443, or the one that is named." value=draft.agent_hosts mode="text" placeholder="example.com, *.example.org:8443" checked=checked/>
            </div>
            <div class="field-row">
                <Choice name="verifier_network" label="The verifier may reach" choices=&OF_VERIFIER chosen=draft.verifier_network checked=checked/>
                <TextField name="verifier_hosts" label="Named hosts for the verifier" hint="Such as an index of packages." value=draft.verifier_hosts mode="text" placeholder="pypi.org, packages.example.org" checked=checked/>
            </div>
        </details>
    }
}

#[component]
fn Choice(
    name: &'static str,
    label: &'static str,
    choices: &'static [(&'static str, &'static str)],
    chosen: String,
    checked: Answer,
) -> impl IntoView {
    let invalid = is_invalid(name, checked);
    let options = choices
        .iter()
        .map(|(value, words)| {
            let selected = chosen == *value;
            view! { <option value=*value selected=selected>{*words}</option> }
        })
        .collect_view();
    view! {
        <div class="field">
            <label class="label" for=name>{label}</label>
            <select id=name class="input" name=name autofocus=takes_focus(name) aria-invalid=move || invalid.get().to_string()
                aria-describedby=format!("{name}-problem")>{options}</select>
            <FieldProblem field=name checked=checked/>
        </div>
    }
}
