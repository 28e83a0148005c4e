//! One audit: live while it runs, what it says of each task afterwards.

use domain::id::EvaluationId;
use domain::listing::TrialCounts;
use domain::task_audit::{AuditAgent, AuditOutcome, AuditReport, TaskAudit};
use leptos::prelude::*;
use leptos_meta::Title;

use super::address::part;
use super::live_view::{Bar, BarProps, LogTail, News, refresh, status};
use crate::AppError;
use crate::api::{self, AuditView};
use crate::components::actor::agent_name;
use crate::components::arms::{ArmName, call_arms};
use crate::components::audit::OutcomeMark;
use crate::components::loaded::loaded;
use crate::components::state::{self, State};
use crate::components::words::{Crumbs, CsrfField, Time};
use crate::format::{UNKNOWN, count, plural};
use crate::live::{Link, LogLine, follow, log_lines};

/// One audit.
#[component]
pub fn Audit() -> impl IntoView {
    let id = part::<EvaluationId>("id");
    let data = Resource::new(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::audit(id).await,
                None => Err(AppError::not_found("audit")),
            }
        },
    );
    loaded(data, |view| page(view).into_any())
}

fn page(view: AuditView) -> impl IntoView {
    call_arms(AuditAgent::ARMS);
    let log = RwSignal::new(log_lines(&view.events));
    let report = view.report.clone();
    let view = RwSignal::new(view);
    let link = follow(view, log);
    let finished = Memo::new(move |_| view.with(|view| view.report.finished));
    view! {
        <Title text=report.title.clone()/>
        <article class="page page-wide">
            <header class="page-head">
                <Crumbs links=vec![("/tasks".to_owned(), "Tasks".to_owned())]/>
                <h1 class="foreign">{report.title.clone()}</h1>
                <AuditActor report=report/>
            </header>
            {move || {
                if finished.get() {
                    view.with_untracked(|view| result(&view.report)).into_any()
                } else {
                    live(view, log, link).into_any()
                }
            }}
        </article>
    }
}

/// Who ran, how often, when.
#[component]
pub fn AuditActor(report: AuditReport) -> impl IntoView {
    view! {
        <dl class="actor">
            <div><dt>"Nothing done by"</dt><dd>{agent_name(&report.nop)}</dd></div>
            <div><dt>"Solutions run by"</dt><dd>{agent_name(&report.oracle)}</dd></div>
            <div><dt>"Runs of each"</dt><dd class="num">{report.repeats.to_string()}</dd></div>
            <div><dt>"Seed"</dt><dd class="num">{report.seed.to_string()}</dd></div>
            <div><dt>"Planned"</dt><dd><Time at=report.created_at/></dd></div>
        </dl>
    }
}

fn counts(report: &AuditReport) -> TrialCounts {
    let runs = report.tasks.iter().flat_map(|task| &task.runs);
    TrialCounts::of(runs.map(|run| (run.verdict.as_deref(), run.state.as_str())))
}

fn live(view: RwSignal<AuditView>, log: RwSignal<Vec<LogLine>>, link: RwSignal<Link>) -> impl IntoView {
    refresh();
    let id = view.with_untracked(|view| view.report.audit_id);
    view! {
        <section class="section live-head">
            <div class="title-line">
                {move || view.with(|view| status(counts(&view.report)))}
                <form method="post" action=format!("/audits/{id}/cancel")>
                    <CsrfField/>
                    <button class="button danger">"Cancel audit"</button>
                </form>
            </div>
            {move || view.with(|view| Bar(BarProps { counts: counts(&view.report) }).into_any())}
            <News link=link place=format!("/audits/{id}")/>
        </section>
        <section class="section">
            <h2>"Runs"</h2>
            <p class="quiet">"A task is trusted if it fails where nothing was done, passes with its own solution, and repeats agree."</p>
            {move || view.with(|view| grid(&view.report))}
        </section>
        <section class="section">
            <h2>"Log"</h2>
            <p class="quiet">"The latest output, times in UTC; all of it is on the page of the runs."</p>
            <LogTail log=log/>
        </section>
    }
}

/// Task × repeat × agent.
fn grid(report: &AuditReport) -> impl IntoView + use<> {
    let id = report.audit_id;
    let repeats = report.repeats;
    let rows = report.tasks.iter().map(|task| grid_row(id, task, repeats)).collect_view();
    view! {
        <div class="table-scroll">
            <table class="table grid">
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"Task"</th>
                        {(1..=repeats).map(|repeat| view! { <th scope="colgroup" colspan="2">{format!("Repeat {repeat}")}</th> }).collect_view()}
                    </tr>
                    <tr>
                        {(1..=repeats)
                            .map(|_| AuditAgent::BOTH.map(|agent| view! { <th scope="col"><ArmName condition=agent.condition()/></th> }).into_iter().collect_view())
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn grid_row(id: EvaluationId, task: &TaskAudit, repeats: u32) -> impl IntoView + use<> {
    let places = (1..=repeats).flat_map(|repeat| AuditAgent::BOTH.map(|agent| (repeat, agent)));
    let cells = places
        .map(|(repeat, agent)| {
            let run = task.runs.iter().find(|run| run.agent == agent && run.repeat == repeat);
            let href = runs_page(id, task, repeat);
            match run {
                Some(run) => view! { <td><a class="cell-link" href=href><State look=state::of_run(run)/></a></td> }.into_any(),
                None => view! { <td><span class="cell-link quiet" title="the task brings no solution">{UNKNOWN}</span></td> }.into_any(),
            }
        })
        .collect_view();
    view! { <tr><th scope="row" class="foreign">{task.task.clone()}</th>{cells}</tr> }
}

/// The page of the runs of one repeat.
pub(super) fn runs_page(audit: EvaluationId, task: &TaskAudit, repeat: u32) -> String {
    format!("/audits/{audit}/runs/{}/{repeat}", task.task_id)
}

fn result(report: &AuditReport) -> impl IntoView + use<> {
    let trusted = report.count(AuditOutcome::Discriminating);
    let headline = format!("{trusted} of {} can be trusted", plural(report.tasks.len() as u64, "task", "tasks"));
    let outcomes: Vec<(AuditOutcome, usize)> =
        AuditOutcome::ALL.into_iter().map(|outcome| (outcome, report.count(outcome))).filter(|(_, n)| *n > 0).collect();
    let rows = report.tasks.iter().map(|task| row(report.audit_id, task)).collect_view();
    view! {
        <section class="section">
            <h2>{headline}</h2>
            <ul class="legend">
                {outcomes.into_iter().map(|(outcome, n)| view! { <li><b class="num">{count(n as u64)}</b><OutcomeMark outcome=outcome/></li> }).collect_view()}
            </ul>
            <div class="table-scroll">
                <table class="table table-cards">
                    <thead>
                        <tr>
                            <th scope="col">"Task"</th>
                            <th scope="col">"It is"</th>
                            <th scope="col" class="num">{AuditAgent::Nop.word()}</th>
                            <th scope="col" class="num">{AuditAgent::Oracle.word()}</th>
                            <th scope="col" class="num">"fail-to-pass"</th>
                            <th scope="col" class="num">"pass-to-pass"</th>
                            <th scope="col" class="num">"broken"</th>
                            <th scope="col" class="num">"flaky"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn row(audit: EvaluationId, task: &TaskAudit) -> impl IntoView + use<> {
    let classes = (task.classes.total() > 0).then_some(task.classes);
    let number = |n: Option<u32>| n.map_or_else(|| UNKNOWN.to_owned(), |n| n.to_string());
    let words = match &task.remedy {
        Some(remedy) => format!("{} {remedy}", task.sentence),
        None => task.sentence.clone(),
    };
    let repeats = task.runs.iter().map(|run| run.repeat).max().unwrap_or(0);
    let runs = (1..=repeats).map(|repeat| (runs_page(audit, task, repeat), repeat)).map(|(href, repeat)| {
        view! { " "<a href=href>{format!("runs {repeat}")}</a> }
    });
    view! {
        <tr>
            <th scope="row" class="cell-title">
                <a href=format!("/tasks/{}", task.task_id)>{task.task.clone()}</a>
                <code class="hash block">{task.version.short()}</code>
            </th>
            <td data-label="It is" class="audit-says">
                {task.outcome.map(|outcome| view! { <OutcomeMark outcome=outcome/> })}
                <span class="quiet block foreign">{words}</span>
                <span class="block">{runs.collect_view()}</span>
            </td>
            <td data-label=AuditAgent::Nop.word() class="num">{passed(task, AuditAgent::Nop)}</td>
            <td data-label=AuditAgent::Oracle.word() class="num">{passed(task, AuditAgent::Oracle)}</td>
            <td data-label="fail-to-pass" class="num">{number(classes.map(|classes| classes.fail_to_pass))}</td>
            <td data-label="pass-to-pass" class="num">{number(classes.map(|classes| classes.pass_to_pass))}</td>
            <td data-label="broken" class="num">{number(classes.map(|classes| classes.broken))}</td>
            <td data-label="flaky" class="num">{number(classes.map(|classes| classes.flaky))}</td>
        </tr>
    }
}

/// `2 of 2 passed`.
fn passed(task: &TaskAudit, agent: AuditAgent) -> String {
    task.passed(agent, |passed, scored| format!("{passed} of {scored} passed"))
}
