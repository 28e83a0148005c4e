//! What a task audit says, as marks; and the form that starts one.

use domain::id::TaskId;
use domain::task_audit::{AuditOutcome, AuditStanding, ClassCounts, Passes, TestClass};
use leptos::prelude::*;

use super::icon::{Icon, Sign};
use super::words::CsrfField;
use crate::format::plural;

/// Sign and class of what a task is.
const fn look(outcome: AuditOutcome) -> (Sign, &'static str) {
    match outcome {
        AuditOutcome::Discriminating => (Sign::Pass, "state state-pass"),
        AuditOutcome::AtCeiling | AuditOutcome::Unsolvable | AuditOutcome::Flaky | AuditOutcome::Unjudged => {
            (Sign::Error, "state state-fail")
        }
        AuditOutcome::Undecided => (Sign::NotScored, "state state-none"),
    }
}

/// What a task is: sign and word.
#[component]
pub fn OutcomeMark(
    outcome: AuditOutcome,
    /// The whole sentence, as a hint.
    #[prop(optional)]
    sentence: String,
) -> impl IntoView {
    let (sign, class) = look(outcome);
    view! { <span class=class title=sentence><Icon sign=sign/><span>{outcome.word()}</span></span> }
}

/// How a task stands, in a list.
#[component]
pub fn Standing(audit: AuditStanding) -> impl IntoView {
    let running = audit.running.map(|id| {
        view! { <a class="block quiet" href=format!("/audits/{id}")>"audit under way"</a> }
    });
    let settled = match audit.settled {
        None => view! { <span class="quiet">"not audited"</span> }.into_any(),
        Some(summary) => {
            let trust = if summary.outcome.is_trusted() { "trusted" } else { "not trusted" };
            let apart = pass_without_work(&summary.classes);
            view! {
                <OutcomeMark outcome=summary.outcome sentence=summary.sentence/>
                <span class="quiet block">{trust}</span>
                {apart.map(|words| view! { <span class="quiet block">{words}</span> })}
            }
            .into_any()
        }
    };
    view! { {settled}{running} }
}

/// `4 of 9 test cases pass without work`; `None` where all measure something.
fn pass_without_work(classes: &ClassCounts) -> Option<String> {
    let n = classes.pass_to_pass;
    let verb = if n == 1 { "passes" } else { "pass" };
    let all = plural(u64::from(classes.total()), "test case", "test cases");
    (n > 0).then(|| format!("{n} of {all} {verb} without work"))
}

/// What a test case measures: sign and word.
#[component]
pub fn ClassMark(class: TestClass) -> impl IntoView {
    let (sign, style) = match class {
        TestClass::FailToPass => (Sign::Pass, "state state-pass"),
        TestClass::PassToPass => (Sign::Barred, "state state-none"),
        TestClass::Broken => (Sign::Fail, "state state-fail"),
        TestClass::Flaky => (Sign::Warning, "state state-fail"),
        TestClass::Unproven => (Sign::NotScored, "state state-none"),
    };
    view! { <span class=style title=meaning(class)><Icon sign=sign/><span>{class.word()}</span></span> }
}

/// What a class means, as a hint.
#[must_use]
pub const fn meaning(class: TestClass) -> &'static str {
    match class {
        TestClass::FailToPass => "fails where nothing was done and passes with the solution: it measures the work",
        TestClass::PassToPass => "passes where nothing was done: it measures nothing",
        TestClass::Broken => "fails with the task's own solution",
        TestClass::Flaky => "ends differently in repeats of the same run",
        TestClass::Unproven => "never seen to pass or fail with a solution",
    }
}

/// `2 of 2`: runs in which a test case passed, of those that were scored.
#[must_use]
pub fn passes(passes: Passes) -> String {
    format!("{} of {}", passes.passed, passes.runs)
}

/// The button that starts an audit. Without tasks it means all of them.
#[component]
pub fn AuditForm(tasks: Vec<TaskId>, words: &'static str) -> impl IntoView {
    let hidden = tasks.into_iter().map(|task| view! { <input type="hidden" name="task" value=task.to_string()/> });
    view! {
        <form class="audit-form" method="post" action="/audits/start">
            <CsrfField/>
            {hidden.collect_view()}
            <label class="label" for="audit-k">"Runs of each"</label>
            <input id="audit-k" class="input" type="number" name="k" value="2" min="1" max="100" required=true/>
            <button class="button">{words}</button>
        </form>
    }
}
