//! The pairs that do not count, and why: trouble trial by trial, cancelled ones as a number.

use domain::report::{EvaluationReport, TrialReport};
use leptos::prelude::*;

use crate::components::delta::Delta;
use crate::components::icon::{Icon, Sign};
use crate::components::state::{self, State};
use crate::format::{UNKNOWN, plural};

/// What was left out; nothing where every pair is complete.
#[component]
pub fn LeftOut(report: EvaluationReport) -> impl IntoView {
    let totals = &report.totals;
    let is =
        |trial: &&TrialReport, words: &[&str]| trial.verdict.as_deref().is_some_and(|verdict| words.contains(&verdict));
    let trouble: Vec<&TrialReport> =
        report.trials.iter().filter(|trial| is(trial, &["infra_error", "verifier_error"])).collect();
    let cancelled = report.trials.iter().filter(|trial| is(trial, &["cancelled"])).count() as u64;
    let bounds = totals.delta_bounds.filter(|_| totals.pairs_complete > 0).map(|[least, most]| {
        view! { <p>"Had they gone worst or best for the skill, Δ would lie between " <Delta delta=Some(least) neutral=true/> " and " <Delta delta=Some(most) neutral=true/> "."</p> }
    });
    let why = (!trouble.is_empty()).then(|| {
        view! { <p class="quiet">"Trouble of engine, network, provider or verifier is no score of the agent; it was tried again, blind to the arm, and stayed."</p> }
    });
    let stopped = (cancelled > 0).then(|| {
        let words = format!("{} cancelled before a score; start the evaluation again to have them.", plural(cancelled, "trial was", "trials were"));
        view! { <li class="left-out"><p><span class="state state-none"><Icon sign=Sign::Barred/><span>"cancelled"</span></span>{words}</p></li> }
    });
    (totals.pairs_incomplete > 0).then(|| {
        view! {
            <section class="section" id="left-out">
                <h2>{format!("Left out: {}", plural(totals.pairs_incomplete, "pair", "pairs"))}</h2>
                {why}
                {bounds}
                <ul class="plain-list">
                    {trouble.into_iter().map(|trial| trouble_item(&report, trial)).collect_view()}
                    {void_items(&report)}
                    {stopped}
                </ul>
            </section>
        }
    })
}

fn trouble_item(report: &EvaluationReport, trial: &TrialReport) -> impl IntoView + use<> {
    let task = report.tasks.iter().find(|task| task.task == trial.task);
    let words = format!("{}, {}, repeat {}", trial.task, trial.condition, trial.repeat);
    let name = match task {
        Some(task) => {
            let href = format!("/evaluations/{}/pairs/{}/{}", report.evaluation_id, task.task_id, trial.repeat);
            view! { <a href=href>{words}</a> }.into_any()
        }
        None => words.into_any(),
    };
    let attempts = plural(u64::from(trial.attempts), "attempt", "attempts");
    let why = trial.error.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    view! {
        <li class="left-out">
            <p><State look=state::of_trial(trial)/>{name}<span class="quiet">{attempts}</span></p>
            <p class="quiet foreign">{why}</p>
        </li>
    }
}

/// Pairs that were scored in both arms and yet say nothing.
fn void_items(report: &EvaluationReport) -> impl IntoView + use<> {
    let id = report.evaluation_id;
    let void = report
        .tasks
        .iter()
        .flat_map(|task| task.pairs.iter().filter_map(move |pair| Some((task, pair.repeat, pair.void.clone()?))));
    void.map(|(task, repeat, why)| {
        let href = format!("/evaluations/{id}/pairs/{}/{repeat}", task.task_id);
        view! {
            <li class="left-out">
                <p><span class="state state-none"><Icon sign=Sign::NotScored/><span>"pair void"</span></span><a href=href>{format!("{}, repeat {repeat}", task.task)}</a></p>
                <p class="quiet foreign">{why}</p>
            </li>
        }
    })
    .collect_view()
}
