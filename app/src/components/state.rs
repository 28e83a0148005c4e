//! How a trial stands: a sign, a word and a colour together.

use domain::report::TrialReport;
use domain::task_audit::AuditRun;
use domain::verdict::{FailReason, Verdict};
use leptos::prelude::*;

use super::icon::{Icon, Sign};

/// Sign, word and class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The sign.
    pub sign: Sign,
    /// The word.
    pub word: &'static str,
    /// CSS class that gives the colour.
    pub class: &'static str,
}

const fn look(sign: Sign, word: &'static str, class: &'static str) -> Look {
    Look { sign, word, class }
}

/// How a trial of a report looks.
#[must_use]
pub fn of_trial(trial: &TrialReport) -> Look {
    of_words(trial.verdict.as_deref(), trial.error.as_deref(), &trial.state)
}

/// How a run of an audit looks.
#[must_use]
pub fn of_run(run: &AuditRun) -> Look {
    of_words(run.verdict.as_deref(), run.detail.as_deref(), &run.state)
}

fn of_words(verdict: Option<&str>, detail: Option<&str>, state: &str) -> Look {
    if let Some(verdict) = verdict {
        return of_word(verdict, detail);
    }
    match state {
        "preparing" => look(Sign::Quarter, "preparing", "state-running"),
        "agent" => look(Sign::Half, "agent at work", "state-running"),
        "verifying" => look(Sign::ThreeQuarters, "verifying", "state-running"),
        _ => look(Sign::Queued, "queued", "state-queued"),
    }
}

/// How a verdict word looks; `detail` tells the kinds of failure apart.
fn of_word(verdict: &str, detail: Option<&str>) -> Look {
    let starts = |with: &str| detail.is_some_and(|detail| detail.starts_with(with));
    match verdict {
        "pass" => look(Sign::Pass, "pass", "state-pass"),
        "fail" if starts("timed out") => look(Sign::TimedOut, "timed out", "state-fail"),
        "fail" if starts("out of memory") => look(Sign::OutOfMemory, "out of memory", "state-fail"),
        "fail" if starts("the agent refused") => look(Sign::Barred, "refused", "state-fail"),
        "fail" if starts("budget") => look(Sign::Budget, "budget", "state-fail"),
        "fail" => look(Sign::Fail, "fail", "state-fail"),
        "infra_error" => look(Sign::NotScored, "infra error", "state-none"),
        "verifier_error" => look(Sign::NotScored, "verifier error", "state-none"),
        "cancelled" => look(Sign::Barred, "cancelled", "state-none"),
        _ => look(Sign::NotScored, "not known", "state-none"),
    }
}

/// How a verdict looks.
#[must_use]
pub fn of_verdict(verdict: &Verdict) -> Look {
    match verdict {
        Verdict::Fail { reason: FailReason::AgentError { .. } } => look(Sign::Fail, "agent error", "state-fail"),
        Verdict::Pass
        | Verdict::Fail { .. }
        | Verdict::InfraError { .. }
        | Verdict::VerifierError { .. }
        | Verdict::Cancelled => of_word(verdict.word(), verdict.detail().as_deref()),
    }
}

/// Shows a look.
#[component]
pub fn State(look: Look) -> impl IntoView {
    view! { <span class=format!("state {}", look.class)><Icon sign=look.sign/><span>{look.word}</span></span> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::verdict::InfraClass;

    #[test]
    fn every_kind_of_end_has_its_word() {
        let fail = |reason| Verdict::Fail { reason };
        for (verdict, word) in [
            (Verdict::Pass, "pass"),
            (fail(FailReason::WrongResult), "fail"),
            (fail(FailReason::TimedOut { limit_ms: 1 }), "timed out"),
            (fail(FailReason::OutOfMemory { limit_mb: 1 }), "out of memory"),
            (fail(FailReason::Refused), "refused"),
            (fail(FailReason::BudgetExceeded { cap: "tokens".to_owned() }), "budget"),
            (fail(FailReason::AgentError { message: String::new() }), "agent error"),
            (Verdict::InfraError { class: InfraClass::Image, message: String::new() }, "infra error"),
            (Verdict::VerifierError { message: String::new() }, "verifier error"),
            (Verdict::Cancelled, "cancelled"),
        ] {
            assert_eq!(of_verdict(&verdict).word, word);
        }
    }
}
