//! What the newest audit says of a task, on the task's page: verdict, remedy, runs, test cases.

use domain::id::{EvaluationId, TaskId};
use domain::task_audit::{AuditReport, AuditRun, TaskAudit, TestAudit, TestClass};
use leptos::prelude::*;

use super::audit::{AuditActor, runs_page};
use crate::components::audit::{AuditForm, ClassMark, OutcomeMark, passes};
use crate::components::state::{self, State};
use crate::components::words::Time;
use crate::format::UNKNOWN;

/// The section.
#[component]
pub fn AuditSection(
    task: TaskId,
    /// The newest audit that was carried through.
    audit: Option<AuditReport>,
    /// One that is under way.
    running: Option<EvaluationId>,
) -> impl IntoView {
    let running = running.map(|id| {
        view! { <p><a href=format!("/audits/{id}")>"An audit is under way: follow it."</a></p> }
    });
    let said = match audit {
        None => view! {
            <p class="quiet">"Not audited yet. An audit runs the verifier where nothing was done, and on the task's own solution; it says whether the task can be trusted, and which of its test cases measure anything."</p>
        }
        .into_any(),
        Some(report) => said(report).into_any(),
    };
    view! {
        <section class="section">
            <div class="title-line"><h2>"Audit"</h2><AuditForm tasks=vec![task] words="Audit this task"/></div>
            {running}
            {said}
        </section>
    }
}

fn said(report: AuditReport) -> impl IntoView {
    let audit = report.audit_id;
    let task = report.tasks.first().cloned();
    view! {
        {task.map(|task| {
            let tests = sorted(task.tests.clone());
            view! {
                <p>{task.outcome.map(|outcome| view! { <OutcomeMark outcome=outcome/> })}" "<span class="foreign">{task.sentence.clone()}</span></p>
                {task.remedy.clone().map(|remedy| view! { <p class="quiet">{remedy}</p> })}
                <div class="section">
                    <div>{runs(audit, &task)}</div>
                    {(!tests.is_empty()).then(|| test_table(tests))}
                </div>
            }
        })}
        <p><a href=format!("/audits/{audit}")>"The whole audit"</a></p>
        <AuditActor report=report/>
    }
}

/// What is wrong comes first.
fn sorted(mut tests: Vec<TestAudit>) -> Vec<TestAudit> {
    tests.sort_by_key(|test| match test.class {
        TestClass::Broken => 0,
        TestClass::Flaky => 1,
        TestClass::PassToPass => 2,
        TestClass::Unproven => 3,
        TestClass::FailToPass => 4,
    });
    tests
}

fn runs(audit: EvaluationId, task: &TaskAudit) -> impl IntoView + use<> {
    let row = |run: &AuditRun| {
        let reward = run.reward.map_or_else(|| UNKNOWN.to_owned(), |reward| format!("{reward:.2}"));
        let tests = run.tests_passed.zip(run.tests);
        let tests = tests.map_or_else(|| UNKNOWN.to_owned(), |(passed, all)| format!("{passed} of {all}"));
        let image =
            run.image.as_deref().map(|image| image.trim_start_matches("sha256:").chars().take(12).collect::<String>());
        view! {
            <tr>
                <th scope="row"><a href=runs_page(audit, task, run.repeat)>{format!("{} {}", run.agent.word(), run.repeat)}</a></th>
                <td data-label="Verdict"><State look=state::of_run(run)/>{run.detail.clone().map(|why| view! { <span class="quiet block foreign">{why}</span> })}</td>
                <td data-label="Reward" class="num">{reward}</td>
                <td data-label="Tests passed" class="num">{tests}</td>
                <td data-label="Image"><code class="hash">{image.unwrap_or_else(|| UNKNOWN.to_owned())}</code></td>
                <td data-label="Ended">{run.finished_at.map(|at| view! { <Time at=at/> })}</td>
            </tr>
        }
    };
    view! {
        <h3>"Runs"</h3>
        <div class="table-scroll">
            <table class="table table-cards">
                <thead>
                    <tr>
                        <th scope="col">"Run"</th><th scope="col">"Verdict"</th><th scope="col" class="num">"Reward"</th>
                        <th scope="col" class="num">"Tests passed"</th><th scope="col">"Image"</th><th scope="col">"Ended"</th>
                    </tr>
                </thead>
                <tbody>{task.runs.iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn test_table(tests: Vec<TestAudit>) -> impl IntoView {
    let row = |test: TestAudit| {
        view! {
            <tr>
                <th scope="row" class="foreign"><code>{test.name}</code></th>
                <td><ClassMark class=test.class/></td>
                <td>{passes(test.nop)}</td>
                <td>{test.oracle.map_or_else(|| UNKNOWN.to_owned(), passes)}</td>
            </tr>
        }
    };
    view! {
        <div>
            <h3>"Test cases"</h3>
            <div class="table-scroll">
                <table class="table table-classes">
                    <thead>
                        <tr>
                            <th scope="col">"Test case"</th><th scope="col">"It is"</th>
                            <th scope="col">"Passed for nop"</th><th scope="col">"for oracle"</th>
                        </tr>
                    </thead>
                    <tbody>{tests.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </div>
    }
}
