//! Links to an evaluation's downloads, in every form that the server writes without being asked for more.

use domain::id::EvaluationId;
use leptos::prelude::*;

/// The words of the forms that are always there in their addresses, and for people.
const FORMS: [(&str, &str); 7] = [
    ("json", "JSON"),
    ("csv", "CSV"),
    ("markdown", "Markdown"),
    ("html", "HTML page"),
    ("atif", "Traces (ATIF)"),
    ("agentcompass", "AgentCompass"),
    ("skill-creator", "skill-creator"),
];
/// Only where a trial left one.
const PATCHES: (&str, &str) = ("patch", "Patches");

/// The links; a browser saves what they lead to.
#[component]
pub fn Exports(evaluation: EvaluationId, has_patches: bool) -> impl IntoView {
    let link = |(word, name): (&'static str, &'static str)| {
        let href = format!("/evaluations/{evaluation}/export/{word}");
        // Not a page of the app, so its router must not catch the click.
        view! { <li><a href=href rel="external" download="">{name}</a></li> }
    };
    view! {
        <section class="section" id="export">
            <h2>"Export"</h2>
            <p class="quiet">"JSON holds everything and can be imported elsewhere without loss; the HTML page opens offline. Traces exist where the agent leaves them; a patch is what an agent changed in its working folder."</p>
            <ul class="exports">{FORMS.into_iter().chain(has_patches.then_some(PATCHES)).map(link).collect_view()}</ul>
        </section>
    }
}
