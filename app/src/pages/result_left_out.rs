//! The pairs that do not count, and why: trouble trial by trial, the others by number.

use domain::id::{EvaluationId, TaskId};
use domain::report::matrix::{Kind, View};
use domain::report::{LeftOut as Parts, Totals, TrialReport, VoidPair};
use leptos::prelude::*;

use crate::components::delta::Delta;
use crate::components::icon::{Icon, Sign};
use crate::components::state::{self, State};
use crate::format::{UNKNOWN, count, plural};

/// What was left out; nothing where every pair is complete.
#[component]
pub fn LeftOut(
    /// The evaluation.
    id: EvaluationId,
    /// Its numbers.
    totals: Totals,
    /// What is not in them.
    parts: Parts,
    /// Whether it was ended early.
    ended_early: bool,
) -> impl IntoView {
    let bounds = totals.delta_bounds.filter(|_| totals.pairs_complete > 0).map(|[least, most]| {
        view! { <p>"Had they gone worst or best for the skill, Δ would lie between " <Delta delta=Some(least) neutral=true/> " and " <Delta delta=Some(most) neutral=true/> "."</p> }
    });
    let why = (parts.in_trouble > 0).then(|| {
        view! { <p class="quiet">"These trials failed for reasons outside the agent (engine, network, provider or verifier). What may pass was tried again, blind to the arm. They count neither as pass nor as fail."</p> }
    });
    let cancelled = (parts.cancelled > 0).then(|| {
        let trials = plural(parts.cancelled, "trial was", "trials were");
        match ended_early {
            true => item(
                Sign::Barred,
                "not run",
                format!("{trials} not run: the evaluation ended early."),
            ),
            false => item(
                Sign::Barred,
                "cancelled",
                format!("{trials} cancelled before a score, by a person or because the evaluation's budget was used up; start the evaluation again to have them."),
            ),
        }
    });
    let one_armed = (parts.one_armed > 0).then(|| {
        let words = format!(
            "{} only one arm: there is no trial to compare with.",
            plural(parts.one_armed, "pair has", "pairs have")
        );
        item(Sign::NotScored, "one arm", words)
    });
    let named = (parts.trouble.len() + parts.void.len()) as u64;
    let more = (parts.in_trouble + parts.voided).saturating_sub(named);
    let all = format!("{}#pairs", View::default().of_kind(Some(Kind::Incomplete)).query());
    let more = (more > 0).then(|| {
        view! { <li class="left-out"><p>{format!("{} more: ", count(more))}<a href=all>"all pairs that are left out"</a></p></li> }
    });
    (totals.pairs_incomplete > 0).then(|| {
        view! {
            <section class="section" id="left-out">
                <h2>{format!("Left out: {}", plural(totals.pairs_incomplete, "pair", "pairs"))}</h2>
                {why}
                {bounds}
                <ul class="plain-list">
                    {parts.trouble.into_iter().map(|(task, trial)| trouble(id, task, &trial)).collect_view()}
                    {parts.void.into_iter().map(|pair| void(id, pair)).collect_view()}
                    {more}
                    {cancelled}
                    {one_armed}
                </ul>
            </section>
        }
    })
}

fn item(sign: Sign, word: &'static str, words: String) -> impl IntoView {
    view! { <li class="left-out"><p><span class="state state-none"><Icon sign=sign/><span>{word}</span></span>{words}</p></li> }
}

fn trouble(id: EvaluationId, task: TaskId, trial: &TrialReport) -> impl IntoView + use<> {
    let words = format!("{}, {}, repeat {}", trial.task, trial.condition, trial.repeat);
    let href = format!("/evaluations/{id}/pairs/{task}/{}", trial.repeat);
    let attempts = plural(u64::from(trial.attempts), "attempt", "attempts");
    let why = trial.error.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    view! {
        <li class="left-out">
            <p><State look=state::of_trial(trial)/><a href=href>{words}</a><span class="quiet">{attempts}</span></p>
            <p class="quiet foreign">{why}</p>
        </li>
    }
}

/// A pair that was scored in both arms and yet says nothing.
fn void(id: EvaluationId, pair: VoidPair) -> impl IntoView {
    let href = format!("/evaluations/{id}/pairs/{}/{}", pair.task_id, pair.repeat);
    view! {
        <li class="left-out">
            <p><span class="state state-none"><Icon sign=Sign::NotScored/><span>"pair void"</span></span><a href=href>{format!("{}, repeat {}", pair.task, pair.repeat)}</a></p>
            <p class="quiet foreign">{pair.why}</p>
        </li>
    }
}
