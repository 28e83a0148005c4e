//! An audit in words: what a task is, why, and what its author should do. The one place.

use super::classes::{ClassCounts, TestAudit, TestClass};
use super::outcome::{Agreement, AuditOutcome};
use crate::report::number::counted;

/// Names of test cases that a sentence gives.
const NAMES: usize = 3;

/// Sentence and remedy.
pub(super) fn say(
    outcome: Option<AuditOutcome>,
    nop: &Agreement,
    oracle: Option<&Agreement>,
    classes: &ClassCounts,
    tests: &[TestAudit],
) -> (String, Option<String>) {
    let Some(outcome) = outcome else { return ("The audit is under way.".to_owned(), None) };
    let (first, remedy) = verdict(outcome, nop, oracle, tests);
    let mut sentences = vec![first];
    sentences.extend(asides(outcome, nop, oracle, classes));
    let remedy = remedy.or_else(|| tidy(classes, oracle.is_some()));
    (sentences.join(" "), remedy)
}

/// What the outcome says, and what to do about it.
fn verdict(
    outcome: AuditOutcome,
    nop: &Agreement,
    oracle: Option<&Agreement>,
    tests: &[TestAudit],
) -> (String, Option<String>) {
    let why =
        |runs: &Agreement| runs.why.as_ref().map(|why| format!(": {}", why.trim_end_matches('.'))).unwrap_or_default();
    let (sentence, remedy) = match (outcome, oracle) {
        (AuditOutcome::Discriminating, Some(_)) => {
            return ("It fails where nothing was done and passes with its own solution.".to_owned(), None);
        }
        (AuditOutcome::Discriminating, None) => (
            "It fails where nothing was done; it brings no solution, so nothing shows that it can be passed."
                .to_owned(),
            "Add a solution (solve.sh) to prove that it can be passed.",
        ),
        (AuditOutcome::AtCeiling, _) => (
            format!("It passes although nothing was done, {}: no skill can rescue it.", share(nop.passed, nop)),
            "Make its verifier test what the instruction asks for, and leave the task out until then.",
        ),
        (AuditOutcome::Unsolvable, Some(runs)) if runs.failed == 0 => (
            format!("Its verifier gives no result, not even for its own solution{}.", why(runs)),
            "Mend the verifier, or give it what it needs: programs in the image, a network, time.",
        ),
        (AuditOutcome::Unsolvable, runs) => {
            let runs = runs.cloned().unwrap_or_default();
            (
                format!("Its own solution does not pass, {}{}.", share(runs.failed, &runs), why(&runs)),
                "Look at the verifier's output of the oracle's run, and mend the solution, the verifier or the image.",
            )
        }
        (AuditOutcome::Flaky, _) => (
            format!("Repeats of the same run end differently: {}.", disagreements(nop, oracle, tests)),
            "Make the verifier independent of time, order, chance and the network.",
        ),
        (AuditOutcome::Unjudged, _) => (
            format!("Its verifier gives no result where nothing was done{}.", why(nop)),
            "Let the verifier write the reward 0 where the work is missing; as it is, failed trials would be left out of Δ instead of counted.",
        ),
        (AuditOutcome::Undecided, runs) => {
            let open = if nop.decided() == 0 { nop } else { runs.unwrap_or(nop) };
            (format!("It could not be audited{}.", why(open)), "Mend that and audit it again.")
        }
    };
    (sentence, Some(remedy.to_owned()))
}

/// What else is worth knowing.
fn asides(outcome: AuditOutcome, nop: &Agreement, oracle: Option<&Agreement>, classes: &ClassCounts) -> Vec<String> {
    let mut asides = Vec::new();
    let total = classes.total();
    let of_all = |n: u32| format!("{n} of {}", counted(total, "test case"));
    if classes.pass_to_pass > 0 {
        let (passes, measures) =
            if classes.pass_to_pass == 1 { ("passes", "it measures") } else { ("pass", "they measure") };
        asides.push(format!("{} {passes} without doing anything: {measures} nothing.", of_all(classes.pass_to_pass)));
    }
    if classes.broken > 0 {
        let fails = if classes.broken == 1 { "fails" } else { "fail" };
        asides.push(format!("{} {fails} with the task's own solution.", of_all(classes.broken)));
    }
    let open = nop.open + oracle.map_or(0, |oracle| oracle.open);
    if open > 0 && outcome != AuditOutcome::Undecided {
        asides.push(format!("{} could not be scored.", counted(open, "run")));
    }
    let once = nop.decided() <= 1 && oracle.is_none_or(|oracle| oracle.decided() <= 1);
    if outcome == AuditOutcome::Discriminating && once {
        asides.push("It was run once only, so that nothing is known of flakiness.".to_owned());
    }
    asides
}

/// What to do about single test cases where the task as a whole is in order.
fn tidy(classes: &ClassCounts, has_solution: bool) -> Option<String> {
    match (classes.pass_to_pass, classes.broken) {
        (0, 0) => None,
        (0, _) => Some("Mend the solution or the test cases that fail with it.".to_owned()),
        (_, 0) if has_solution => Some(
            "Tighten the test cases that pass without work, or remove them; they are shown apart in results."
                .to_owned(),
        ),
        (_, _) => Some(
            "Tighten the test cases that pass without work, and mend those that fail with the solution.".to_owned(),
        ),
    }
}

/// `in 2 of 2 runs`.
fn share(n: u32, runs: &Agreement) -> String {
    format!("in {n} of {}", counted(runs.decided(), "run"))
}

fn disagreements(nop: &Agreement, oracle: Option<&Agreement>, tests: &[TestAudit]) -> String {
    let of = |who: &str, runs: &Agreement| {
        runs.disagrees().then(|| {
            let none = if runs.no_result > 0 { format!(", {} gave no result", runs.no_result) } else { String::new() };
            format!("{who} passed {} of {}{none}", runs.passed, counted(runs.decided(), "run"))
        })
    };
    let mut parts: Vec<String> = of("nop", nop).into_iter().collect();
    parts.extend(oracle.and_then(|oracle| of("the solution", oracle)));
    let flaky: Vec<&str> =
        tests.iter().filter(|test| test.class == TestClass::Flaky).map(|test| test.name.as_str()).collect();
    if !flaky.is_empty() {
        let more = flaky.len().saturating_sub(NAMES);
        let names = flaky.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("{} ({names}{more})", counted(flaky.len() as u64, "test case")));
    }
    parts.join("; ")
}
