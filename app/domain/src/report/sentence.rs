//! The result in words. Made by one function, so that page, command line, Markdown and badge never disagree.

use serde::{Deserialize, Serialize};

use super::{EvaluationReport, Totals, number};
use crate::stats::interval::Interval;
use crate::stats::verdict::DeltaVerdict;

/// The verdict in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// A stable word for style classes and icons: `improves`, `harms`, `no_effect`, `inconclusive`, `cannot_be_resolved`, `interim`,
    /// `no_result`.
    pub class: String,
    /// For people, such as `Improves`.
    pub word: String,
    /// What was seen, in one sentence.
    pub sentence: String,
    /// What it takes to know more, or what to beware of; empty where there is nothing to add.
    pub advice: String,
}

/// What the words need to know beside the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Whether every trial is finished.
    pub finished: bool,
    /// Whether each task has one repeat, so that pairs may be called tasks.
    pub one_repeat: bool,
    /// The unit that the verdict counts, in the singular: `task`, or `skill` where tasks of one skill are taken together.
    pub unit: &'static str,
}

/// Says what a report says. While trials are still to come it is marked as interim and gives no verdict.
#[must_use]
pub fn headline(report: &EvaluationReport) -> Headline {
    headline_of(&report.totals, Scope { finished: report.finished, one_repeat: report.repeats == 1, unit: "task" })
}

/// The same for totals that come from elsewhere.
#[must_use]
pub fn headline_of(totals: &Totals, scope: Scope) -> Headline {
    let Some(verdict) = &totals.verdict else { return without_pairs(totals, scope) };
    let sentence = seen(totals, scope);
    if !scope.finished {
        let advice = format!("Interim: {} pairs are still to come.", totals.pairs_incomplete);
        return Headline { class: "interim".to_owned(), word: "Interim".to_owned(), sentence, advice };
    }
    let advice = advice(verdict, totals, scope.unit);
    Headline { class: verdict.word().to_owned(), word: verdict.to_string(), sentence, advice }
}

fn without_pairs(totals: &Totals, scope: Scope) -> Headline {
    let (class, word, advice) = if scope.finished {
        ("no_result", "No result", "Look at the trials below: each says what kept it from being scored.")
    } else {
        ("interim", "Running", "The first numbers appear when both trials of a pair are finished.")
    };
    Headline {
        class: class.to_owned(),
        word: word.to_owned(),
        sentence: format!("No pair of {} is complete.", totals.pairs_incomplete),
        advice: advice.to_owned(),
    }
}

fn seen(totals: &Totals, scope: Scope) -> String {
    let unit = if scope.one_repeat { "task" } else { "pair" };
    let mut sentence = format!(
        "Rescues {} of {}, breaks {}; Δ {}",
        totals.rescued,
        number::counted(totals.pairs_complete, unit),
        totals.broken,
        number::points(totals.delta),
    );
    if let Some(ci) = totals.delta_ci {
        sentence += &format!(", 95 % interval {}", interval(ci));
    }
    match totals.rho {
        Some(rho) if rho > 0.0 => sentence += &format!("; costs {} more tokens", number::percent(Some(rho))),
        Some(rho) if rho < 0.0 => sentence += &format!("; saves {} of the tokens", number::percent(Some(-rho))),
        Some(_) => sentence += "; costs no more tokens",
        None => {}
    }
    sentence + "."
}

/// `−4 to +26 pp`.
fn interval(ci: Interval) -> String {
    let low = number::points(Some(ci.low));
    format!("{} to {}", low.trim_end_matches(" pp"), number::points(Some(ci.high)))
}

fn advice(verdict: &DeltaVerdict, totals: &Totals, unit: &str) -> String {
    let mut advice = match verdict {
        DeltaVerdict::CannotBeResolved { tasks, tasks_needed, .. } => format!(
            "With {} no outcome could be told from chance; it takes at least {tasks_needed} {unit}s that all flip the same way.",
            number::counted(u64::from(*tasks), unit),
        ),
        DeltaVerdict::Improves(_) | DeltaVerdict::Harms(_) => String::new(),
        DeltaVerdict::NoEffect { .. } => "A difference that matters has been ruled out.".to_owned(),
        DeltaVerdict::Inconclusive(_) => {
            format!("Not enough to tell a difference from chance; more {unit}s would narrow the interval.")
        }
    };
    if totals.pairs_incomplete > 0 {
        let left_out = format!("{} left out of Δ", number::counted(totals.pairs_incomplete, "pair"));
        let bounds = totals.delta_bounds.and_then(|[low, high]| Interval::new(low, high)).map(interval);
        let bounds =
            bounds.map(|bounds| format!("; had they gone worst or best, Δ would be {bounds}")).unwrap_or_default();
        advice = format!("{advice} {left_out}{bounds}.").trim_start().to_owned();
    }
    advice
}
