//! The result in words. Made by one function, so that page, command line, Markdown and badge never disagree.

use serde::{Deserialize, Serialize};

use super::sight::{ArmWords, Sight};
use super::{EvaluationReport, MeasuredNoise, Totals, number};
use crate::comparison::Compared;
use crate::stats::alpha::Alpha;
use crate::stats::interval::Interval;
use crate::stats::mcnemar::smallest_p;
use crate::stats::verdict::{Adjustment, DeltaVerdict, Evidence};
use crate::stop::StopReason;

/// The verdict in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// A stable word for style classes and icons: `improves`, `harms`, `no_effect`, `inconclusive`, `cannot_be_resolved`, `interim`,
    /// `no_result`, `noise_floor` (two arms that are the same).
    pub class: String,
    /// For people, such as `Improves`.
    pub word: String,
    /// What that means to somebody who knows no statistics.
    pub meaning: String,
    /// What was seen, in one sentence.
    pub sentence: String,
    /// What it takes to know more, or what to beware of; empty where there is nothing to add.
    pub advice: String,
}

impl Headline {
    /// All of it for plain text, line by line: the word with what it means, what was seen, and the advice where there is one.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let lines = [format!("{}. {}", self.word, self.meaning), self.sentence.clone(), self.advice.clone()];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
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

/// Says what a report says. While trials are still to come it is marked as interim and gives no verdict. What was compared comes first, unless it
/// is a skill against none.
#[must_use]
pub fn headline(report: &EvaluationReport) -> Headline {
    let scope = Scope { finished: report.finished, one_repeat: report.repeats == 1, unit: "task" };
    let comparison = &report.comparison;
    if let Some(told) = report.denied() {
        return denied(told, &report.totals);
    }
    if comparison.kind == Compared::Same {
        return alike(report, scope);
    }
    // What an early end did not run may go any way, and says nothing worth bounds; what trouble took is told all the same.
    let bounds = report.totals.delta_bounds.filter(|_| report.stopped.is_none());
    let ended_early = report.stopped.is_some() && scope.finished && report.totals.pairs_complete > 0;
    let not_run = if ended_early { report.totals.pairs_not_run } else { 0 };
    let pairs_incomplete = report.totals.pairs_incomplete.saturating_sub(not_run);
    let totals = Totals { delta_bounds: bounds, pairs_incomplete, ..report.totals.clone() };
    let mut headline = marked(judged(&totals, scope, comparison.kind), report, &totals);
    if report.imported.is_some() && scope.finished && totals.verdict.is_none() {
        headline.advice = "The source reports no task in both arms with a score. Results of the other arm can be imported together with these.".to_owned();
    }
    if comparison.is_plain() {
        return headline;
    }
    Headline { sentence: compared(&comparison.words, &headline.sentence), ..headline }
}

/// Says of a result that is over whether it was ended early, and what its verdict rests on if not on a fixed number of tasks.
fn marked(headline: Headline, report: &EvaluationReport, totals: &Totals) -> Headline {
    let Some(seen) = report.seen.filter(|_| report.finished) else { return headline };
    let needed = number::e_value(Some(1.0 / Alpha::FIVE_PERCENT.value()));
    let evidence = number::e_value(Some(seen.e_value));
    // From the totals, since pages get a finished report without its tasks.
    let of_tasks = format!("of {}", number::counted(report.totals.pairs() / u64::from(report.repeats.max(1)), "task"));
    let why = report.stopped.as_ref().map(|stopped| stopped.why);
    let advice = match why.zip(report.stopped.as_ref().map(|stopped| stopped.seen.tasks)) {
        Some((StopReason::Evidence, tasks)) => format!(
            "Ended after {tasks} {of_tasks} because the evidence sufficed (e-value {evidence}, at least {needed} needed), as its plan allowed. Δ at such an end tends to be too large, and its interval does not allow for the stop."
        ),
        Some((StopReason::Futility, tasks)) => format!(
            "Ended after {tasks} {of_tasks} because no outcome of the others could have been told from chance, as its plan allowed."
        ),
        Some((StopReason::OutOfTime, tasks)) => format!("Ended after {tasks} {of_tasks}: the plan's time was over."),
        Some((StopReason::ByHand, _)) => format!(
            "Cancelled after {} {of_tasks}. Whoever cancels may have seen how it stood, so it is judged by the evidence (e-value {evidence}, at least {needed} needed).",
            seen.tasks
        ),
        Some((StopReason::ProviderDenied, tasks)) => {
            format!("Ended after {tasks} {of_tasks}: the model's provider denied access.")
        }
        None if report.is_by_evidence() => format!(
            "Judged by the evidence (e-value {evidence}, at least {needed} needed), since its plan allowed to stop on it."
        ),
        None => return headline,
    };
    let sentence = match why {
        Some(_) => headline.sentence.trim_end_matches('.').to_owned() + "; ended early.",
        None => headline.sentence,
    };
    // It ended since more of these tasks could not have told more.
    let rest = match why {
        Some(StopReason::Futility) => out_of_reach(totals, "task").unwrap_or_default() + &left_out(totals),
        Some(StopReason::Evidence | StopReason::OutOfTime | StopReason::ByHand | StopReason::ProviderDenied) | None => {
            headline.advice
        }
    };
    let advice = format!("{advice} {}", rest.trim_start()).trim_end().to_owned();
    Headline { sentence, advice, ..headline }
}

/// What to say where the model's provider let nothing in: its words, and how to go on.
fn denied(told: &str, totals: &Totals) -> Headline {
    Headline {
        class: "no_result".to_owned(),
        word: "No result".to_owned(),
        meaning: "Nothing was measured: the model's provider denied access to the first trials of both arms, so the others were not run.".to_owned(),
        sentence: format!("No pair of {} is complete; ended early.", totals.pairs_incomplete),
        advice: format!("What stood in the way: {}. Mend that, and run it again.", told.trim_end_matches('.')),
    }
}

/// `sheep against goats: rescues …`.
fn compared(words: &str, sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_lowercase).into_iter().flatten();
    format!("{words}: {}{}", first.collect::<String>(), letters.as_str())
}

/// Two arms that are the same: no verdict on a skill, but on how far chance alone moves Δ.
fn alike(report: &EvaluationReport, scope: Scope) -> Headline {
    let (totals, words) = (&report.totals, &report.comparison.words);
    if totals.verdict.is_none() {
        let headline = without_pairs(totals, scope);
        return Headline { sentence: compared(words, &headline.sentence), ..headline };
    }
    if !scope.finished {
        let headline = interim(totals, scope, Compared::Same);
        return Headline { sentence: compared(words, &headline.sentence), ..headline };
    }
    let mut advice = report.noise_floor.as_ref().map(floor).unwrap_or_default();
    if totals.p_value.is_some_and(|p| p <= Alpha::FIVE_PERCENT.value()) {
        advice += " So large a difference comes by chance in 1 of 20 such evaluations; repeat it, and look whether the arms were alike indeed.";
    }
    Headline {
        class: "noise_floor".to_owned(),
        word: "Noise floor".to_owned(),
        meaning: "Both arms were the same, so this says nothing about a skill. It shows how far chance alone moves a result on these tasks.".to_owned(),
        sentence: compared(words, &Sight::of(totals, scope.one_repeat).sentence(Compared::Same)),
        advice: advice + &left_out(totals),
    }
}

/// What an A/A evaluation says of others, and what to do with it.
fn floor(noise: &MeasuredNoise) -> String {
    let band = number::points_in_words(noise.band);
    format!(
        "Every flip was chance, so this is the noise floor: with as many tasks and repeats, chance alone keeps Δ within ±{} 19 times in 20. Read other results on these tasks by it: a Δ inside that band may be nothing but chance. More tasks or repeats make it narrower.",
        band.trim_start_matches('+')
    )
}

/// What stands there while trials are still to come: the numbers so far, Δ only from where an outcome could be told from chance.
fn interim(totals: &Totals, scope: Scope, compared: Compared) -> Headline {
    let tasks = u32::try_from(totals.tasks_complete).unwrap_or(u32::MAX);
    let shown = smallest_p(tasks) <= Alpha::FIVE_PERCENT.value();
    let advice = format!(
        "Interim: {} still to come.",
        match totals.pairs_incomplete {
            1 => "1 pair is".to_owned(),
            n => format!("{n} pairs are"),
        }
    );
    Headline {
        class: "interim".to_owned(),
        word: "Interim".to_owned(),
        meaning: "Not a result yet: it may still turn.".to_owned(),
        sentence: Sight::of(totals, scope.one_repeat).so_far(compared, shown),
        advice,
    }
}

/// The same for totals that come from elsewhere.
#[must_use]
pub fn headline_of(totals: &Totals, scope: Scope) -> Headline {
    judged(totals, scope, Compared::NoSkill)
}

fn judged(totals: &Totals, scope: Scope, compared: Compared) -> Headline {
    let Some(verdict) = &totals.verdict else { return without_pairs(totals, scope) };
    if !scope.finished {
        return interim(totals, scope, compared);
    }
    Headline {
        class: verdict.word().to_owned(),
        word: verdict.to_string(),
        meaning: meaning(verdict, compared, scope.unit),
        sentence: Sight::of(totals, scope.one_repeat).sentence(compared),
        advice: advice(verdict, totals, scope.unit),
    }
}

fn without_pairs(totals: &Totals, scope: Scope) -> Headline {
    let (class, word, meaning, advice) = if scope.finished {
        let meaning = "Nothing can be compared: no task was scored in both arms.";
        (
            "no_result",
            "No result",
            meaning,
            "Look at the trials below: each says what kept it from being scored. Mend that, and run it again.",
        )
    } else {
        let meaning = "Nothing to compare yet.";
        ("interim", "Running", meaning, "The first numbers appear when both trials of a pair are finished.")
    };
    Headline {
        class: class.to_owned(),
        word: word.to_owned(),
        meaning: meaning.to_owned(),
        sentence: format!("No pair of {} is complete.", totals.pairs_incomplete),
        advice: advice.to_owned(),
    }
}

/// The verdict in everyday words.
fn meaning(verdict: &DeltaVerdict, compared: Compared, unit: &str) -> String {
    let ArmWords { with, without, better } = ArmWords::of(compared);
    match verdict {
        DeltaVerdict::Improves(_) => format!("{with} more {unit}s pass than {without}, by more than chance explains."),
        DeltaVerdict::Harms(_) => format!("{with} fewer {unit}s pass than {without}, by more than chance explains."),
        DeltaVerdict::NoEffect { margin, .. } => format!(
            "{with} about the same share of {unit}s passes as {without}: any true difference is smaller than {} percentage points.",
            number::bare_points(*margin).trim_start_matches('+'),
        ),
        DeltaVerdict::Inconclusive(evidence) if leaves_out_zero(evidence.ci) => format!(
            "This points to a {}, but does not prove it: {}.",
            if evidence.ci.low > 0.0 { "gain" } else { "loss" },
            match evidence.adjustment {
                Adjustment::Anytime => {
                    "the evidence falls short of what a plan that may stop early asks for".to_owned()
                }
                Adjustment::Raw => format!(
                    "chance alone would give a difference this large in {} such runs, and at most 5 in 100 are allowed",
                    number::how_often(evidence.p)
                ),
                Adjustment::Holm { .. } => "among so many that are compared chance cannot be ruled out".to_owned(),
            },
        ),
        DeltaVerdict::Inconclusive(evidence)
            if matches!(evidence.adjustment, Adjustment::Raw) && evidence.p <= Alpha::FIVE_PERCENT.value() =>
        {
            format!(
                "This points to a {}, but does not prove it: chance alone is unlikely to give so large a difference, and yet the interval reaches 0. It takes both.",
                if evidence.delta > 0.0 { "gain" } else { "loss" },
            )
        }
        DeltaVerdict::Inconclusive(Evidence { ci, .. }) => format!(
            "This cannot tell whether {better}: the true difference may be anything from {} to {}.",
            difference(ci.low),
            difference(ci.high),
        ),
        DeltaVerdict::CannotBeResolved { tasks, evidence, .. } => format!(
            "Too few {unit}s to tell anything: with {} even the clearest outcome may be chance{}.",
            number::counted(u64::from(*tasks), unit),
            if leaves_out_zero(evidence.ci) { ", so an interval that leaves out 0 settles nothing" } else { "" },
        ),
    }
}

fn leaves_out_zero(ci: Interval) -> bool {
    ci.low > 0.0 || ci.high < 0.0
}

/// `a loss of 10 percentage points`.
fn difference(share: f64) -> String {
    let size = number::points_in_words(share.abs());
    match size.trim_start_matches('+') {
        "0 percentage points" => "none".to_owned(),
        size if share < 0.0 => format!("a loss of {size}"),
        size => format!("a gain of {size}"),
    }
}

/// Δ on a badge or in a narrow table: `Δ +12 pp [3, 21]`.
#[must_use]
pub fn delta_in_short(delta: Option<f64>, ci: Option<Interval>) -> String {
    let limit = |share: f64| number::bare_points(share).trim_start_matches('+').to_owned();
    let ci = ci.map(|ci| format!(" [{}, {}]", limit(ci.low), limit(ci.high))).unwrap_or_default();
    format!("Δ {}{ci}", number::points(delta))
}

fn advice(verdict: &DeltaVerdict, totals: &Totals, unit: &str) -> String {
    let advice = match verdict {
        DeltaVerdict::CannotBeResolved { tasks_needed, .. } => {
            format!("It takes at least {tasks_needed} {unit}s in which the arms differ, all in the same direction.")
        }
        DeltaVerdict::Improves(_) | DeltaVerdict::Harms(_) => String::new(),
        DeltaVerdict::NoEffect { .. } => "A difference that matters has been ruled out.".to_owned(),
        DeltaVerdict::Inconclusive(_) => {
            out_of_reach(totals, unit).unwrap_or_else(|| format!("More {unit}s would narrow the interval."))
        }
    };
    (advice + &left_out(totals)).trim_start().to_owned()
}

/// What keeps these tasks from showing more, however many of them there are.
fn out_of_reach(totals: &Totals, unit: &str) -> Option<String> {
    match (totals.pass_rate_without?, totals.pass_rate_with?) {
        (without, _) if without >= 1.0 => {
            Some(format!("Every {unit} passes in the baseline arm, so no gain can show here: choose harder {unit}s."))
        }
        (without, with) if without <= 0.0 && with <= 0.0 => {
            Some(format!("No {unit} passes in either arm, so no difference can show here: choose easier {unit}s."))
        }
        _ => None,
    }
}

/// ` 2 pairs left out of Δ; had they gone …`, after a blank; empty where none is.
fn left_out(totals: &Totals) -> String {
    if totals.pairs_incomplete == 0 {
        return String::new();
    }
    let bounds = totals.delta_bounds.and_then(|[low, high]| Interval::new(low, high)).map(number::bare_interval);
    let bounds = bounds
        .map(|bounds| format!("; had they gone worst or best, Δ would be {bounds} percentage points"))
        .unwrap_or_default();
    format!(" {} left out of Δ{bounds}.", number::counted(totals.pairs_incomplete, "pair"))
}
