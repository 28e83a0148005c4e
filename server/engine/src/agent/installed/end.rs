//! How a run ended: from the program's exit, its own record and the wire. The wire knows best what became of the model's provider, the exit
//! least: some agents end with 0 when nothing worked, and some with 1 when only the provider failed.

use formats::trace::{Reading, ReportedEnd};
use gateway::{CallOutcome, TrialGateway};

use crate::agent::AgentEnd;
use crate::sandbox::Exit;

/// The end of a run.
pub(super) fn of(exit: Exit, reading: &Reading, words: &str, gateway: &TrialGateway) -> AgentEnd {
    let wire = Wire {
        cap: gateway.cap_reached().map(|cap| cap.to_string()),
        trouble: AgentEnd::of_provider(gateway),
        declined: gateway.declined(),
        refused: gateway.last_outcome().and_then(|outcome| match outcome {
            CallOutcome::Refused { reason } => Some(reason),
            _ => None,
        }),
        rejected: matches!(gateway.last_outcome(), Some(CallOutcome::Rejected { .. })),
    };
    classify(exit, reading, words, &wire)
}

/// What the wire tells of the end.
#[derive(Debug, Default)]
struct Wire {
    /// A cap was reached.
    cap: Option<String>,
    /// The end that the provider's trouble makes, where nothing has mended it.
    trouble: Option<AgentEnd>,
    /// The last answer was a refusal by the model.
    declined: bool,
    /// The last call was refused by the gateway.
    refused: Option<String>,
    /// The last call was found wrong by the provider.
    rejected: bool,
}

fn classify(exit: Exit, reading: &Reading, words: &str, wire: &Wire) -> AgentEnd {
    if let Some(cap) = &wire.cap {
        return AgentEnd::BudgetExceeded { cap: cap.clone() };
    }
    match exit {
        Exit::OutOfMemory { limit_mb } => return AgentEnd::OutOfMemory { limit_mb },
        // Waiting for a provider that fails is not the agent's slowness.
        Exit::TimedOut { limit } if wire.trouble.is_none() => return AgentEnd::TimedOut { limit },
        Exit::TimedOut { .. } | Exit::Exited(_) | Exit::Signalled(_) => {}
    }
    if let Some(trouble) = &wire.trouble {
        return trouble.clone();
    }
    if !reading.denials.is_empty() {
        let tools = reading.denials.join(", ");
        let message = format!("the agent program denied its model what it is there to have: {tools}");
        return AgentEnd::NotReady { message };
    }
    if wire.declined {
        return AgentEnd::Refused;
    }
    told(exit, reading, words, wire)
}

fn told(exit: Exit, reading: &Reading, words: &str, wire: &Wire) -> AgentEnd {
    match &reading.end {
        ReportedEnd::Completed if exit.is_success() => AgentEnd::Completed,
        ReportedEnd::Completed => AgentEnd::Crashed { message: last(exit, words) },
        ReportedEnd::Limit { what } => AgentEnd::BudgetExceeded { cap: what.clone() },
        ReportedEnd::Refused => AgentEnd::Refused,
        ReportedEnd::ContextFull { message } | ReportedEnd::Failed { message } => {
            AgentEnd::Crashed { message: message.clone() }
        }
        ReportedEnd::Provider { message, .. } => match &wire.refused {
            Some(reason) => AgentEnd::ProviderTrouble { message: format!("the gateway refused its call: {reason}") },
            None if wire.rejected => AgentEnd::Crashed { message: message.clone() },
            None => AgentEnd::ProviderTrouble { message: message.clone() },
        },
        ReportedEnd::NotTold if exit.is_success() => AgentEnd::Completed,
        ReportedEnd::NotTold => AgentEnd::Crashed { message: last(exit, words) },
    }
}

fn last(exit: Exit, words: &str) -> String {
    let line = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() { exit.to_string() } else { format!("{exit}: {line}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn check(exit: Exit, end: ReportedEnd, denials: &[&str], wire: &Wire, want: &AgentEnd) {
        let denials = denials.iter().map(|tool| (*tool).to_owned()).collect();
        let reading = Reading { end, denials, ..Reading::default() };
        assert_eq!(&classify(exit, &reading, "first\nlast words\n", wire), want, "{exit} {reading:?} {wire:?}");
    }

    #[test]
    fn the_exit_code_is_the_last_to_be_believed() {
        let quiet = Wire::default();
        let crashed = |message: &str| AgentEnd::Crashed { message: message.to_owned() };
        let provider = |message: &str| AgentEnd::ProviderTrouble { message: message.to_owned() };
        let overloaded = || ReportedEnd::Provider { status: Some(529), message: "529 Overloaded".to_owned() };
        let limit = Duration::from_secs(5);
        let troubled = Wire { trouble: Some(provider("529")), ..Wire::default() };
        let denial = || AgentEnd::ProviderDenied { message: "401".to_owned() };
        let denied = Wire { trouble: Some(denial()), ..Wire::default() };
        check(Exit::Exited(0), ReportedEnd::Completed, &[], &quiet, &AgentEnd::Completed);
        check(Exit::Exited(0), ReportedEnd::NotTold, &[], &quiet, &AgentEnd::Completed);
        check(Exit::Exited(1), ReportedEnd::NotTold, &[], &quiet, &crashed("exit 1: last words"));
        check(Exit::Exited(1), overloaded(), &[], &quiet, &provider("529 Overloaded"));
        check(Exit::Exited(1), ReportedEnd::NotTold, &[], &troubled, &provider("529"));
        check(Exit::Exited(0), ReportedEnd::Completed, &[], &troubled, &provider("529"));
        check(Exit::Exited(1), overloaded(), &[], &denied, &denial());
        check(Exit::TimedOut { limit }, ReportedEnd::NotTold, &[], &denied, &denial());
        check(Exit::TimedOut { limit }, ReportedEnd::NotTold, &[], &quiet, &AgentEnd::TimedOut { limit });
        check(Exit::TimedOut { limit }, ReportedEnd::NotTold, &[], &troubled, &provider("529"));
        check(
            Exit::OutOfMemory { limit_mb: 64 },
            ReportedEnd::NotTold,
            &[],
            &quiet,
            &AgentEnd::OutOfMemory { limit_mb: 64 },
        );
        check(Exit::Exited(0), ReportedEnd::Refused, &[], &quiet, &AgentEnd::Refused);
        let capped = Wire { cap: Some("9 calls".to_owned()), ..Wire::default() };
        check(Exit::Exited(1), overloaded(), &[], &capped, &AgentEnd::BudgetExceeded { cap: "9 calls".to_owned() });
        let declined = Wire { declined: true, ..Wire::default() };
        check(Exit::Exited(0), ReportedEnd::Completed, &[], &declined, &AgentEnd::Refused);
        check(Exit::Exited(1), overloaded(), &[], &declined, &AgentEnd::Refused);
        check(Exit::TimedOut { limit }, ReportedEnd::NotTold, &[], &declined, &AgentEnd::TimedOut { limit });
        let rejected = Wire { rejected: true, ..Wire::default() };
        check(Exit::Exited(1), overloaded(), &[], &rejected, &crashed("529 Overloaded"));
        let what = "the agent program denied its model what it is there to have: Write".to_owned();
        check(Exit::Exited(0), ReportedEnd::Completed, &["Write"], &quiet, &AgentEnd::NotReady { message: what });
    }
}
