//! Whether the model's provider lets an evaluation in, told from its first trials: a key that is refused once is refused to all of them.

use crate::condition::{Condition, Pair};
use crate::verdict::{InfraClass, Verdict};

/// What the trials that are over say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Nothing yet.
    Unknown,
    /// A trial was denied it, and none has a score; in `both` arms, or in one so far.
    Denied {
        /// Whether a trial of each arm was.
        both: bool,
        /// The words of the last one.
        told: String,
    },
    /// A trial has a score, so the key and the model were good.
    Granted,
}

impl Access {
    /// By the arms and verdicts of the trials that are over.
    #[must_use]
    pub fn of<'a>(over: impl IntoIterator<Item = (Condition, &'a Verdict)>) -> Self {
        let mut denied: Pair<Option<&str>> = Pair::default();
        let mut last = None;
        for (condition, verdict) in over {
            match verdict {
                Verdict::Pass | Verdict::Fail { .. } => return Self::Granted,
                Verdict::InfraError { class: InfraClass::ProviderDenied, message } => {
                    last = Some(message.as_str());
                    *denied.get_mut(condition) = last;
                }
                Verdict::InfraError { .. } | Verdict::VerifierError { .. } | Verdict::Cancelled => {}
            }
        }
        last.map_or(Self::Unknown, |told| Self::Denied {
            both: denied.without.is_some() && denied.with.is_some(),
            told: told.to_owned(),
        })
    }

    /// Why nothing more is to be run. One trial is not enough: what is denied to one arm alone may be what the skill adds to a request. One of
    /// each arm is, and costs no more than the first pair. After a score nothing is ended: a key that served once is no mistake of the plan, and an
    /// account that ran empty may be filled while the rest goes on.
    #[must_use]
    pub fn ends(self) -> Option<String> {
        match self {
            Self::Denied { both: true, told } => Some(told),
            Self::Denied { both: false, .. } | Self::Unknown | Self::Granted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_in_each_arm_ends_it_where_nothing_has_a_score() {
        let trouble = |class, message: &str| Verdict::InfraError { class, message: message.to_owned() };
        let denied = trouble(InfraClass::ProviderDenied, "401");
        let later = trouble(InfraClass::ProviderDenied, "403");
        let busy = trouble(InfraClass::Provider, "529");
        let none = trouble(InfraClass::NoImage, "no image");
        let (no, with) = (Condition::NoSkill, Condition::WithSkill);
        for (over, want) in [
            (vec![], None),
            (vec![(no, &denied)], None),
            (vec![(with, &denied), (with, &denied), (with, &later)], None),
            (vec![(no, &denied), (with, &later)], Some("403")),
            (vec![(with, &denied), (no, &busy), (no, &denied)], Some("401")),
            (vec![(no, &denied), (with, &denied), (no, &Verdict::Pass)], None),
            (vec![(no, &busy), (with, &busy), (no, &busy), (with, &busy)], None),
            (vec![(no, &none), (with, &none)], None),
            (vec![(no, &Verdict::Cancelled), (with, &denied)], None),
        ] {
            assert_eq!(Access::of(over.clone()).ends().as_deref(), want, "{over:?}");
        }
    }
}
