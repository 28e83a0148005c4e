//! The life of a trial: `queued → preparing → agent → verifying → finished`. One total `step`; states carry their data; the
//! store applies each move as a compare-and-set.

use serde::{Deserialize, Serialize};

use crate::id::AttemptId;
use crate::time::Timestamp;
use crate::verdict::{InfraClass, Verdict};

/// Where a trial stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TrialState {
    /// Waits for a free place.
    Queued {
        /// Attempts made so far.
        attempts: u32,
        /// When it may be tried again after trouble; `None` = at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// An attempt is under way.
    Running {
        /// Attempts made so far, this one included.
        attempts: u32,
        /// Which.
        attempt: AttemptId,
        /// How far it is.
        phase: Phase,
        /// Since when it is in that phase.
        since: Timestamp,
        /// When it is taken for dead unless renewed.
        lease_until: Timestamp,
    },
    /// Decided.
    Finished {
        /// Attempts made in all.
        attempts: u32,
        /// The last attempt's, or `cancelled`.
        verdict: Verdict,
        /// When.
        at: Timestamp,
    },
}

/// The phases of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Image, container, skill, audit.
    Preparing,
    /// The agent works.
    Agent,
    /// The verifier judges.
    Verifying,
}

impl Phase {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Agent => "agent",
            Self::Verifying => "verifying",
        }
    }
}

/// What can happen to a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum TrialInput {
    /// A worker took it.
    Claimed {
        /// The new attempt.
        attempt: AttemptId,
        /// When.
        at: Timestamp,
        /// When the worker must have renewed its lease.
        lease_until: Timestamp,
    },
    /// The attempt reached a phase.
    PhaseReached {
        /// Which attempt says so.
        attempt: AttemptId,
        /// Which phase.
        phase: Phase,
        /// When.
        at: Timestamp,
    },
    /// The worker lives.
    LeaseRenewed {
        /// Which attempt.
        attempt: AttemptId,
        /// When it must renew next.
        lease_until: Timestamp,
    },
    /// The attempt came to an end.
    Ended {
        /// Which.
        attempt: AttemptId,
        /// How.
        verdict: Verdict,
        /// When.
        at: Timestamp,
    },
    /// Somebody looked at the clock: an attempt whose lease is over is closed as interrupted.
    LeaseChecked {
        /// When.
        at: Timestamp,
    },
    /// A person stopped the evaluation.
    CancelRequested {
        /// When.
        at: Timestamp,
    },
}

/// Interruptions that a trial may have beside its attempts: a restarted server is not the trial's doing, and one that is killed by the trial
/// must not be so for ever.
pub const MAX_INTERRUPTIONS: u32 = 10;

/// The attempts that a trial may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// In all, interrupted ones apart.
    pub max_attempts: u32,
    /// Attempts before this one that were interrupted.
    pub interrupted: u32,
}

/// How long a trial waits after trouble before it is tried again, whatever the trouble and the condition: an outage is over some time later,
/// and attempts made meanwhile are spent for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryWait {
    /// After the first attempt, in milliseconds; 0 = not at all.
    pub first_ms: u32,
}

impl RetryWait {
    /// The longest wait, in milliseconds.
    pub const LONGEST_MS: i64 = 600_000;

    /// Milliseconds of waiting after so many attempts that came to trouble, four times as many with each; `None` = no wait.
    #[must_use]
    pub fn after(self, attempts: u32) -> Option<i64> {
        let wait = i64::from(self.first_ms).saturating_mul(4_i64.saturating_pow(attempts.saturating_sub(1)));
        (wait > 0).then_some(wait.min(Self::LONGEST_MS))
    }
}

/// What an input does to a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It goes on to this state.
    Moved(TrialState),
    /// Nothing: the input came too late or is about another attempt. Not an error.
    Ignored,
}

impl TrialState {
    /// A new trial.
    pub const NEW: Self = Self::Queued { attempts: 0, not_before: None };

    /// The word used in tables and JSON: `queued`, `preparing`, `agent`, `verifying`, `finished`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Running { phase, .. } => phase.word(),
            Self::Finished { .. } => "finished",
        }
    }

    /// Attempts made so far.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        match self {
            Self::Queued { attempts, .. } | Self::Running { attempts, .. } | Self::Finished { attempts, .. } => {
                *attempts
            }
        }
    }

    /// The verdict, once it is decided.
    #[must_use]
    pub const fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::Finished { verdict, .. } => Some(verdict),
            Self::Queued { .. } | Self::Running { .. } => None,
        }
    }

    /// When it was decided, once it is.
    #[must_use]
    pub const fn finished_at(&self) -> Option<Timestamp> {
        match self {
            Self::Finished { at, .. } => Some(*at),
            Self::Queued { .. } | Self::Running { .. } => None,
        }
    }

    /// What `input` does. Attempts are counted when they are claimed, so that a trial which kills its worker ends as well. When a waiting
    /// trial may be claimed is asked by whoever claims.
    #[must_use]
    pub fn step(&self, input: TrialInput, allowance: Allowance, wait: RetryWait) -> Step {
        match (self, input) {
            (Self::Queued { attempts, .. }, TrialInput::Claimed { attempt, at, lease_until }) => {
                Step::Moved(Self::Running {
                    attempts: attempts.saturating_add(1),
                    attempt,
                    phase: Phase::Preparing,
                    since: at,
                    lease_until,
                })
            }
            (
                Self::Running { attempts, attempt, phase, lease_until, .. },
                TrialInput::PhaseReached { attempt: who, phase: next, at },
            ) if who == *attempt && next > *phase => Step::Moved(Self::Running {
                attempts: *attempts,
                attempt: *attempt,
                phase: next,
                since: at,
                lease_until: *lease_until,
            }),
            (
                Self::Running { attempts, attempt, phase, since, .. },
                TrialInput::LeaseRenewed { attempt: who, lease_until },
            ) if who == *attempt => Step::Moved(Self::Running {
                attempts: *attempts,
                attempt: *attempt,
                phase: *phase,
                since: *since,
                lease_until,
            }),
            (Self::Running { attempts, attempt, .. }, TrialInput::Ended { attempt: who, verdict, at })
                if who == *attempt =>
            {
                Step::Moved(Self::after(*attempts, verdict, at, allowance, wait))
            }
            (Self::Running { attempts, lease_until, .. }, TrialInput::LeaseChecked { at }) if at > *lease_until => {
                Step::Moved(Self::after(*attempts, interrupted(), at, allowance, wait))
            }
            (Self::Queued { attempts, .. } | Self::Running { attempts, .. }, TrialInput::CancelRequested { at }) => {
                Step::Moved(Self::Finished { attempts: *attempts, verdict: Verdict::Cancelled, at })
            }
            (Self::Queued { .. } | Self::Running { .. } | Self::Finished { .. }, _) => Step::Ignored,
        }
    }

    fn after(attempts: u32, verdict: Verdict, at: Timestamp, allowance: Allowance, wait: RetryWait) -> Self {
        let own = attempts.saturating_sub(allowance.interrupted);
        let (has_left, not_before) = if verdict.is_interruption() {
            (allowance.interrupted < MAX_INTERRUPTIONS, None)
        } else {
            (own < allowance.max_attempts, wait.after(own).map(|wait| at.plus_ms(wait)))
        };
        if verdict.is_retried() && has_left {
            Self::Queued { attempts, not_before }
        } else {
            Self::Finished { attempts, verdict, at }
        }
    }
}

/// The verdict of an attempt whose worker is gone.
#[must_use]
pub fn interrupted() -> Verdict {
    Verdict::InfraError {
        class: InfraClass::Interrupted,
        message: "interrupted: the server stopped while this attempt ran".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::FailReason;

    const A: AttemptId = AttemptId(1);
    const B: AttemptId = AttemptId(2);
    const T0: Timestamp = Timestamp(0);
    const T9: Timestamp = Timestamp(9_000);

    fn running(attempts: u32, phase: Phase) -> TrialState {
        TrialState::Running { attempts, attempt: A, phase, since: T0, lease_until: Timestamp(5_000) }
    }

    fn infra() -> Verdict {
        Verdict::InfraError { class: InfraClass::Engine, message: "gone".into() }
    }

    /// A failed worker has spent what an attempt spends, and would fail again.
    fn worker_failed() -> Verdict {
        Verdict::InfraError { class: InfraClass::Worker, message: "a bug".into() }
    }

    fn denied() -> Verdict {
        Verdict::InfraError { class: InfraClass::ProviderDenied, message: "401".into() }
    }

    #[test]
    fn trouble_waits_longer_each_time_and_an_interruption_not_at_all() {
        for (first_ms, attempts, interrupted_before, verdict, want) in [
            (10_000, 1, 0, infra(), Some(10_000)),
            (10_000, 2, 0, infra(), Some(40_000)),
            (10_000, 3, 0, infra(), Some(160_000)),
            (10_000, 2, 0, worker_failed(), Some(40_000)),
            (10_000, 4, 0, infra(), Some(600_000)),
            (10_000, 99, 0, infra(), Some(600_000)),
            (10_000, 3, 2, infra(), Some(10_000)),
            (10_000, 1, 0, Verdict::VerifierError { message: "no reward".into() }, Some(10_000)),
            (10_000, 2, 0, interrupted(), None),
            (0, 2, 0, infra(), None),
        ] {
            let name = format!("{first_ms} {attempts} {interrupted_before} {verdict:?}");
            let allowance = Allowance { max_attempts: 100, interrupted: interrupted_before };
            let ended = TrialInput::Ended { attempt: A, verdict, at: T9 };
            let step = running(attempts, Phase::Agent).step(ended, allowance, RetryWait { first_ms });
            let not_before = want.map(|wait| T9.plus_ms(wait));
            assert_eq!(step, Step::Moved(TrialState::Queued { attempts, not_before }), "{name}");
        }
    }

    #[test]
    fn interruptions_are_counted_apart() {
        let running = |attempts| running(attempts, Phase::Agent);
        let end = |state: &TrialState, verdict: Verdict, interrupted| {
            let input = TrialInput::Ended { attempt: A, verdict, at: T9 };
            match state.step(input, Allowance { max_attempts: 3, interrupted }, RetryWait::default()) {
                Step::Moved(next) => next.word(),
                Step::Ignored => panic!("ignored"),
            }
        };
        for (attempts, verdict, before, want) in [
            (3, interrupted(), 0, "queued"),
            (5, interrupted(), 4, "queued"),
            (5, infra(), 4, "queued"),
            (7, infra(), 4, "finished"),
            (6, infra(), 4, "queued"),
            (13, interrupted(), MAX_INTERRUPTIONS, "finished"),
        ] {
            assert_eq!(end(&running(attempts), verdict.clone(), before), want, "{attempts} {verdict:?} {before}");
        }
    }

    #[test]
    fn each_state_takes_each_input_as_the_table_says() {
        let queued = TrialState::Queued { attempts: 1, not_before: Some(T9) };
        let again = |attempts| TrialState::Queued { attempts, not_before: None };
        let finished = TrialState::Finished { attempts: 1, verdict: Verdict::Pass, at: T0 };
        let claim = TrialInput::Claimed { attempt: A, at: T0, lease_until: Timestamp(5_000) };
        let phase = |attempt, phase| TrialInput::PhaseReached { attempt, phase, at: T0 };
        let ended = |attempt, verdict| TrialInput::Ended { attempt, verdict, at: T9 };
        let wrong = Verdict::Fail { reason: FailReason::WrongResult };
        let done = |attempts, verdict| TrialState::Finished { attempts, verdict, at: T9 };
        let check_at = |at| TrialInput::LeaseChecked { at };
        let cancel = TrialInput::CancelRequested { at: T9 };
        let agent = running(2, Phase::Agent);
        for (name, state, input, want) in [
            ("claim", &queued, claim.clone(), Some(running(2, Phase::Preparing))),
            ("claimed twice", &agent, claim.clone(), None),
            ("claimed after the end", &finished, claim, None),
            ("next phase", &running(1, Phase::Preparing), phase(A, Phase::Agent), Some(running(1, Phase::Agent))),
            ("phases never go back", &running(1, Phase::Verifying), phase(A, Phase::Agent), None),
            ("phase of an old attempt", &running(1, Phase::Preparing), phase(B, Phase::Agent), None),
            ("pass", &agent, ended(A, Verdict::Pass), Some(done(2, Verdict::Pass))),
            ("fail is not retried", &agent, ended(A, wrong.clone()), Some(done(2, wrong))),
            ("infra error is retried", &agent, ended(A, infra()), Some(again(2))),
            ("so is a failed worker", &agent, ended(A, worker_failed()), Some(again(2))),
            (
                "but not more often",
                &running(3, Phase::Agent),
                ended(A, worker_failed()),
                Some(done(3, worker_failed())),
            ),
            ("trouble that lasts is not", &running(1, Phase::Agent), ended(A, denied()), Some(done(1, denied()))),
            ("until attempts run out", &running(3, Phase::Agent), ended(A, infra()), Some(done(3, infra()))),
            ("result of an old attempt", &agent, ended(B, Verdict::Pass), None),
            ("second result", &finished, ended(A, infra()), None),
            ("lease holds", &agent, check_at(Timestamp(5_000)), None),
            ("lease over", &agent, check_at(T9), Some(again(2))),
            ("lease over is no attempt lost", &running(3, Phase::Agent), check_at(T9), Some(again(3))),
            ("no lease while queued", &queued, check_at(T9), None),
            ("cancel waiting", &queued, cancel.clone(), Some(done(1, Verdict::Cancelled))),
            ("cancel running", &agent, cancel.clone(), Some(done(2, Verdict::Cancelled))),
            ("cancel after the end", &finished, cancel, None),
        ] {
            let got = match state.step(input, Allowance { max_attempts: 3, interrupted: 0 }, RetryWait::default()) {
                Step::Moved(next) => Some(next),
                Step::Ignored => None,
            };
            assert_eq!(got, want, "{name}");
        }
    }
}
