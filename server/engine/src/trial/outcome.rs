//! From the agent's end and the verifier's judgement to the verdict: one total function (design §5.3).

use domain::verdict::{FailReason, Verdict};

use super::fault::Fault;
use crate::agent::AgentEnd;

/// How the agent's end bears on the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bearing {
    /// The verifier decides.
    Verifier,
    /// The verifier decides, but where it says wrong, this is the reason shown.
    Excuse(FailReason),
    /// It is a fail whatever the verifier says; the tests are shown all the same.
    Fail(FailReason),
}

/// What an agent's end means. Trouble that is not the agent's is a fault.
pub(super) fn bearing(end: AgentEnd) -> Result<Bearing, Fault> {
    Ok(match end {
        AgentEnd::Completed => Bearing::Verifier,
        AgentEnd::Crashed { message } => Bearing::Excuse(FailReason::AgentError { message }),
        AgentEnd::TimedOut { limit } => {
            Bearing::Fail(FailReason::TimedOut { limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) })
        }
        AgentEnd::OutOfMemory { limit_mb } => Bearing::Fail(FailReason::OutOfMemory { limit_mb }),
        AgentEnd::Refused => Bearing::Fail(FailReason::Refused),
        AgentEnd::BudgetExceeded { cap } => Bearing::Fail(FailReason::BudgetExceeded { cap }),
        AgentEnd::ProviderTrouble { message } => return Err(Fault::Provider(message)),
        AgentEnd::ProviderDenied { message } => return Err(Fault::Denied(message)),
        AgentEnd::NotReady { message } => return Err(Fault::Order(message)),
        AgentEnd::SandboxFailed(error) => return Err(Fault::Sandbox(error)),
    })
}

/// The verdict of an attempt whose verifier has judged.
pub(super) fn verdict(bearing: Bearing, judged: Verdict) -> Verdict {
    match (bearing, judged) {
        (Bearing::Fail(reason), _) => Verdict::Fail { reason },
        (Bearing::Excuse(reason), Verdict::Fail { .. }) => Verdict::Fail { reason },
        (Bearing::Verifier | Bearing::Excuse(_), judged) => judged,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_agents_own_end_can_decide_before_the_verifier() {
        let wrong = || Verdict::Fail { reason: FailReason::WrongResult };
        let broken = || Verdict::VerifierError { message: "no reward".into() };
        let timed_out = FailReason::TimedOut { limit_ms: 5000 };
        let crashed = FailReason::AgentError { message: "exit 1".into() };
        let limit = Duration::from_secs(5);
        for (end, judged, want) in [
            (AgentEnd::Completed, Verdict::Pass, Verdict::Pass),
            (AgentEnd::Completed, wrong(), wrong()),
            (AgentEnd::Completed, broken(), broken()),
            (AgentEnd::TimedOut { limit }, Verdict::Pass, Verdict::Fail { reason: timed_out.clone() }),
            (AgentEnd::TimedOut { limit }, broken(), Verdict::Fail { reason: timed_out }),
            (
                AgentEnd::OutOfMemory { limit_mb: 64 },
                wrong(),
                Verdict::Fail { reason: FailReason::OutOfMemory { limit_mb: 64 } },
            ),
            (AgentEnd::Refused, wrong(), Verdict::Fail { reason: FailReason::Refused }),
            (AgentEnd::Crashed { message: "exit 1".into() }, Verdict::Pass, Verdict::Pass),
            (AgentEnd::Crashed { message: "exit 1".into() }, wrong(), Verdict::Fail { reason: crashed }),
            (AgentEnd::Crashed { message: "exit 1".into() }, broken(), broken()),
        ] {
            let name = format!("{end:?} {judged:?}");
            assert_eq!(verdict(bearing(end).unwrap(), judged), want, "{name}");
        }
        assert!(bearing(AgentEnd::ProviderTrouble { message: "529".into() }).is_err());
    }
}
