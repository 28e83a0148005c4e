//! A running evaluation: how far it is, every trial's phase, the end of the log, and a way to stop it.

use std::collections::HashMap;

use domain::condition::Condition;
use domain::id::TrialId;
use domain::listing::TrialCounts;
use domain::report::matrix::View;
use domain::report::{EvaluationReport, Headline, TaskReport, TrialReport, headline, number};
use domain::stop::StopReason;
use domain::time::Timestamp;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::result_matrix::pages;
use crate::api::EvaluationView;
use crate::components::arms::ArmName;
use crate::components::state::{self, State};
use crate::components::words::CsrfField;
use crate::format::count;
use crate::live::{Link, LogLine};

/// Makes a browser without JavaScript load the page again after the seconds of `?refresh=`, as long as the evaluation runs.
pub(super) fn refresh() {
    #[cfg(feature = "ssr")]
    {
        use axum::http::{HeaderName, HeaderValue, request::Parts};
        let parts = use_context::<Parts>();
        let query = parts.as_ref().and_then(|parts| parts.uri.query()).unwrap_or_default();
        let wanted = query.split('&').find_map(|pair| pair.strip_prefix("refresh=")?.parse::<u16>().ok());
        if let (Some(seconds), Some(response)) = (wanted, use_context::<leptos_axum::ResponseOptions>()) {
            let seconds = seconds.clamp(2, 600);
            response.insert_header(HeaderName::from_static("refresh"), HeaderValue::from(seconds));
        }
    }
}

/// The live page.
pub fn live(view: RwSignal<EvaluationView>, log: RwSignal<Vec<LogLine>>, link: RwSignal<Link>) -> impl IntoView {
    refresh();
    let id = view.with_untracked(|view| view.report.evaluation_id);
    let search = use_location().search;
    let shown = Memo::new(move |_| View::from_query(&search.get()));
    view! {
        <section class="section live-head">
            <div class="title-line">
                {move || view.with(|view| status(counts(&view.report)))}
                <form method="post" action=format!("/evaluations/{id}/cancel")>
                    <CsrfField/>
                    <button class="button danger">"Cancel evaluation"</button>
                </form>
            </div>
            {move || view.with(|view| Bar(BarProps { counts: counts(&view.report) }).into_any())}
            {move || view.with(|view| interim(&view.report))}
            <News link=link place=format!("/evaluations/{id}")/>
        </section>
        <section class="section">
            <h2>"Trials"</h2>
            <p class="quiet">"Both trials of a pair run side by side in time; which goes first is drawn."</p>
            {move || view.with(|view| grid(&view.report, shown.get()))}
        </section>
        <section class="section">
            <h2>"Log"</h2>
            <p class="quiet">"The latest output and steps, times in UTC; all of it is on the pair's page."</p>
            <LogTail log=log/>
        </section>
    }
}

/// How the trials stand.
fn counts(report: &EvaluationReport) -> TrialCounts {
    TrialCounts::of(report.trials.iter().map(|trial| (trial.verdict.as_deref(), trial.state.as_str())))
}

/// How many are finished.
pub(super) fn status(counts: TrialCounts) -> impl IntoView {
    view! {
        <p class="live-status" role="status">
            <span class="pulse" aria-hidden="true"></span>
            <b>{format!("{} of {} trials finished", count(counts.finished()), count(counts.total()))}</b>
        </p>
    }
}

/// A bar of all trials: passed, failed, not scored, running; the rest waits.
#[component]
pub(super) fn Bar(counts: TrialCounts) -> impl IntoView {
    let total = counts.total().max(1) as f64;
    let mut start = 0.0;
    let parts: [(&str, u64); 4] = [
        ("bar-pass", counts.passed),
        ("bar-fail", counts.failed),
        ("bar-none", counts.not_scored + counts.not_run),
        ("bar-running", counts.running),
    ];
    let segments = parts.map(|(class, n)| {
        let width = n as f64 / total * 100.0;
        let x = start;
        start += width;
        view! { <rect class=class x=format!("{x:.2}%") width=format!("{width:.2}%") y="0" height="100%"></rect> }
    });
    let number = |class: &'static str, n: u64, word: &'static str| {
        view! { <li class=class><span class="swatch" aria-hidden="true"></span><b class="num">{count(n)}</b>" "{word}</li> }
    };
    view! {
        <svg class="progress" role="img" aria-label=format!("{} of {} trials finished", counts.finished(), counts.total())>
            {segments.into_iter().collect_view()}
        </svg>
        <ul class="legend">
            {number("key-pass", counts.passed, "passed")}
            {number("key-fail", counts.failed, "failed")}
            {number("key-none", counts.not_scored, "not scored")}
            {number("key-none", counts.not_run, "not run")}
            {number("key-running", counts.running, "running")}
            {number("key-queued", counts.queued, "queued")}
        </ul>
    }
}

/// The numbers so far, marked as such.
fn interim(report: &EvaluationReport) -> impl IntoView + use<> {
    let stopped = report.stopped.as_ref().map(|stopped| {
        let why = match stopped.why {
            StopReason::Futility => "no outcome of the rest could be told from chance",
            StopReason::Evidence => "the evidence suffices",
            StopReason::OutOfTime => "the plan's time is over",
            StopReason::ByHand => "somebody cancelled it",
            StopReason::ProviderDenied => stopped.told.as_deref().unwrap_or("the model's provider denies access"),
        };
        view! { <p class="interim"><span class="chip">"ending early"</span>{format!(" {why}; what runs is let finish.")}</p> }
    });
    let evidence = report.seen.filter(|_| report.stop.evidence && report.stopped.is_none()).map(|seen| {
        let seen = format!("Evidence so far: e-value {} of the 20 that end it.", number::e_value(Some(seen.e_value)));
        view! { <p class="quiet">{seen}</p> }
    });
    let so_far = (report.totals.pairs_complete > 0).then(|| {
        let Headline { sentence, meaning, .. } = headline(report);
        view! { <p class="interim"><span class="chip">"interim"</span>{format!(" {sentence} {meaning}")}</p> }
    });
    view! { {stopped}{so_far}{evidence} }
}

/// Says how this page, at `place`, gets its news.
#[component]
pub(super) fn News(link: RwSignal<Link>, place: String) -> impl IntoView {
    move || {
        match link.get() {
        Link::Still => view! {
            <p class="news quiet">
                <a href=place.clone() rel="external">"Refresh"</a>" · "
                <a href=format!("{place}?refresh=10") rel="external">"refresh every 10 s"</a>
            </p>
        }
        .into_any(),
        Link::Live => view! { <p class="news quiet">"Live: this page follows by itself."</p> }.into_any(),
        Link::Paused => view! { <p class="news news-paused">"Live updates paused; reading every few seconds until they are back."</p> }.into_any(),
    }
    }
}

/// Task × repeat × arm, a page of tasks at a time.
fn grid(report: &EvaluationReport, view: View) -> impl IntoView + use<> {
    let page = view.matrix(&report.tasks, &HashMap::new());
    let trials: HashMap<TrialId, &TrialReport> = report.trials.iter().map(|trial| (trial.id, trial)).collect();
    let id = report.evaluation_id.to_string();
    let repeats = report.repeats;
    let rows = page.rows.iter().map(|(_, task)| grid_row(&id, task, &trials)).collect_view();
    view! {
        <div class="table-scroll">
            <table class="table grid" id="pairs">
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"Task"</th>
                        {(1..=repeats).map(|repeat| view! { <th scope="colgroup" colspan="2">{format!("Repeat {repeat}")}</th> }).collect_view()}
                    </tr>
                    <tr>
                        {(1..=repeats)
                            .map(|_| Condition::BOTH.map(|arm| view! { <th scope="col"><ArmName condition=arm/></th> }).into_iter().collect_view())
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {pages(&page)}
    }
}

fn grid_row(id: &str, task: &TaskReport, trials: &HashMap<TrialId, &TrialReport>) -> impl IntoView + use<> {
    let cells = task
        .pairs
        .iter()
        .flat_map(|pair| {
            let href = format!("/evaluations/{id}/pairs/{}/{}", task.task_id, pair.repeat);
            Condition::BOTH.map(|arm| {
                let trial = pair.trials.get(arm).and_then(|trial| trials.get(&trial).copied());
                let attempts = trial.map_or(0, |trial| trial.attempts);
                let again = (attempts > 1).then(|| view! { <span class="quiet">{format!(" try {attempts}")}</span> });
                let look = trial.map(state::of_trial);
                view! { <td><a class="cell-link" href=href.clone()>{look.map(|look| view! { <State look=look/> })}{again}</a></td> }
            })
        })
        .collect_view();
    view! { <tr><th scope="row" class="foreign">{task.task.clone()}</th>{cells}</tr> }
}

/// `11:06:42`, in UTC.
fn time_of_day(at: Timestamp) -> String {
    at.rfc3339().chars().skip(11).take(8).collect()
}

/// The last lines, newest at the bottom.
#[component]
pub(super) fn LogTail(log: RwSignal<Vec<LogLine>>) -> impl IntoView {
    let line = |line: LogLine| {
        view! {
            <li class="log-line">
                <span class="log-at">{time_of_day(line.at)}</span>
                <span class="log-who"><ArmName condition=line.condition/>{format!(" {} · {}", line.task, line.repeat)}</span>
                <span class="log-what">{line.what}</span>
                <span class="log-text">{line.text}</span>
            </li>
        }
    };
    view! {
        <div class="log" tabindex="0" role="log" aria-label="Log" aria-live="off">
            {move || {
                if log.with(Vec::is_empty) {
                    view! { <p class="quiet">"Nothing yet: the first trials are being prepared."</p> }.into_any()
                } else {
                    view! { <ol class="log-lines"><For each=move || log.get() key=|line| line.id children=line/></ol> }.into_any()
                }
            }}
        </div>
    }
}
