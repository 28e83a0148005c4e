//! The wire's count beside the agent's own: it goes into the steps, and a disagreement is told.

use domain::finding::Finding;
use domain::trace::{Source, Trace, TraceStep};
use domain::usage::TokenUsage;
use formats::trace::Reading;
use gateway::{CallOutcome, CallRecord, TrialGateway};

/// Tokens as the agent counts them, sub-agents included: from its stream, or where this ended too early from its session file.
pub(super) fn reported(reading: &Reading, session: Option<&Reading>) -> TokenUsage {
    let stream = match reading.usage.sub_agents {
        None => reading.usage.tokens,
        Some(sub) => reading.usage.tokens.plus(&sub.tokens),
    };
    match session {
        Some(session) if stream.total().is_none() => session.usage.tokens,
        _ => stream,
    }
}

/// What to say where both counts are known and differ, and why they do as far as that can be told. `told_calls` = the agent's own count.
pub(super) fn disagreement(reported: &TokenUsage, told_calls: Option<u64>, gateway: &TrialGateway) -> Option<Finding> {
    differing(reported, told_calls, &gateway.usage(), gateway.calls())
}

/// Says how many calls are in no record.
pub(super) fn left_out(gateway: &TrialGateway) -> Option<Finding> {
    let calls = gateway.left_out();
    (calls > 0).then(|| {
        let message = format!(
            "{calls} more calls to the model are counted and not listed one by one: nearly all of them were refused"
        );
        Finding::warning("calls_left_out", "model calls", message).hint("the calls that are listed say why")
    })
}

fn differing(reported: &TokenUsage, told_calls: Option<u64>, wire: &TokenUsage, wire_calls: u64) -> Option<Finding> {
    let classes = [
        ("input", reported.input, wire.input),
        ("cache read", reported.cache_read, wire.cache_read),
        ("cache write", reported.cache_write, wire.cache_write),
        ("output", reported.output, wire.output),
    ];
    let differ: Vec<String> = classes
        .into_iter()
        .filter_map(|(class, told, wire)| {
            let (told, wire) = told.zip(wire)?;
            (told != wire).then(|| format!("{class} {told}, on the wire {wire}"))
        })
        .collect();
    (!differ.is_empty()).then(|| {
        let message = format!("the agent's own count of its tokens differs from the wire's: {}", differ.join("; "));
        let why = why(reported, told_calls, wire, wire_calls);
        Finding::note("self_report", "tokens", message).hint(format!("{why}; the wire's count is the one that is used"))
    })
}

fn why(reported: &TokenUsage, told_calls: Option<u64>, wire: &TokenUsage, wire_calls: u64) -> String {
    if reported.total().is_some() && reported.total() == wire.total() {
        return "the sums agree: it puts the tokens into other classes, as where it has none for cache writes"
            .to_owned();
    }
    match told_calls {
        Some(told) if told < wire_calls => format!(
            "its record holds {told} of the {wire_calls} calls: side requests (a title, a summary), sub-agents and calls that it gave up \
             are left out"
        ),
        Some(told) if told > wire_calls => {
            format!("its record holds {told} calls, the wire {wire_calls}: it counts answers more than once")
        }
        Some(_) => "both count the same calls, so it adds up their tokens otherwise".to_owned(),
        None => "agents leave out side requests, sub-agents and calls that they gave up".to_owned(),
    }
}

/// Gives each step of the model the tokens of its call, where steps and answered calls are as many.
pub(super) fn into_steps(trace: &mut Trace, records: &[CallRecord]) {
    let answered: Vec<TokenUsage> = records
        .iter()
        .filter(|record| record.outcome == CallOutcome::Answered && record.usage != TokenUsage::ZERO)
        .map(|record| record.usage)
        .collect();
    let speaks = |step: &TraceStep| step.source == Source::Agent && !step.aside;
    let counted = |step: &TraceStep| speaks(step) && step.usage.is_some();
    let is_one_each =
        |which: &dyn Fn(&TraceStep) -> bool| trace.steps.iter().filter(|step| which(step)).count() == answered.len();
    let all = if is_one_each(&speaks) {
        true
    } else if is_one_each(&counted) {
        false
    } else {
        return;
    };
    let steps = trace.steps.iter_mut().filter(|step| if all { speaks(step) } else { counted(step) });
    for (step, usage) in steps.zip(answered) {
        step.usage = Some(usage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disagreement_comes_with_its_reason() {
        let tokens = |input, cache_write, output| TokenUsage {
            input: Some(input),
            cache_read: Some(0),
            cache_write: Some(cache_write),
            output: Some(output),
        };
        let wire = tokens(10, 20, 5);
        for (reported, told, want) in [
            (wire, Some(3), None),
            (TokenUsage::UNKNOWN, Some(3), None),
            (tokens(30, 0, 5), Some(3), Some("the sums agree")),
            (tokens(9, 20, 5), Some(2), Some("holds 2 of the 3 calls")),
            (tokens(19, 20, 5), Some(5), Some("more than once")),
            (tokens(9, 20, 5), Some(3), Some("both count the same calls")),
            (tokens(9, 20, 5), None, Some("agents leave out")),
        ] {
            let found = differing(&reported, told, &wire, 3);
            let hint = found.and_then(|finding| finding.hint);
            assert_eq!(
                hint.as_deref().map(|hint| want.is_some_and(|want| hint.contains(want))),
                want.map(|_| true),
                "{hint:?}"
            );
        }
    }
}
