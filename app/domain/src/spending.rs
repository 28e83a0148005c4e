//! What trials may spend on their model, and of time, beyond their own token cap; and what is spent.

use serde::{Deserialize, Serialize};

use crate::report::number::counted;

/// Limits; `None` = no limit. A trial that reaches one of its own fails as one that has used up its budget; one that the evaluation's limit keeps
/// from going on has no score, since what others spent is no result of its agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendingCaps {
    /// Model calls of one trial.
    pub trial_calls: Option<u64>,
    /// List price of one trial's tokens, in the price table's currency.
    pub trial_money: Option<f64>,
    /// Seconds of one trial, from the start of its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial_seconds: Option<u64>,
    /// Tokens of the whole evaluation, all attempts included.
    pub evaluation_tokens: Option<u64>,
    /// List price of the whole evaluation's tokens, all attempts included.
    pub evaluation_money: Option<f64>,
    /// Model calls of the whole evaluation, all attempts included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_calls: Option<u64>,
    /// Seconds after its start at which no further trial of the evaluation is begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_seconds: Option<u64>,
}

impl SpendingCaps {
    /// Whether there is no limit at all.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether any limit is on what the whole evaluation spends.
    #[must_use]
    pub const fn is_of_evaluation(&self) -> bool {
        self.evaluation_tokens.is_some() || self.evaluation_money.is_some() || self.evaluation_calls.is_some()
    }

    /// The first limit that is no amount: money below 0, or no number.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let wrong = |money: Option<f64>| money.is_some_and(|money| !(money.is_finite() && money >= 0.0));
        if wrong(self.trial_money) {
            Some("the cap on a trial's money must be an amount of 0 or more")
        } else if wrong(self.evaluation_money) {
            Some("the cap on the evaluation's money must be an amount of 0 or more")
        } else {
            None
        }
    }
}

/// What is spent, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// Of all classes.
    pub tokens: u64,
    /// List price.
    pub money: f64,
    /// Model calls that were begun.
    #[serde(default)]
    pub calls: u64,
    /// Those of them whose tokens are not all known: under way still, or never told.
    #[serde(default)]
    pub uncounted: u64,
}

impl Spending {
    /// In words. As long as a call is not counted the tokens are the least that it can be.
    #[must_use]
    pub fn words(&self) -> String {
        let tokens = counted(self.tokens, "token");
        let calls = counted(self.calls, "model call");
        match self.uncounted {
            0 => format!("{tokens} in {calls}"),
            some => format!("at least {tokens} in {calls}, of which {some} not counted to the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_is_said() {
        let mut spent = Spending { tokens: 1200, money: 0.0, calls: 3, uncounted: 0 };
        assert_eq!(spent.words(), "1200 tokens in 3 model calls");
        spent.uncounted = 1;
        assert_eq!(spent.words(), "at least 1200 tokens in 3 model calls, of which 1 not counted to the end");
    }
}
