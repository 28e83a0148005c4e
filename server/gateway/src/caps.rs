//! Limits on what an attempt, or all attempts of an evaluation together, may spend on their model.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::usage::TokenUsage;

/// Limits; `None` = no limit. All are checked before each call, so the call that goes over one is still answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// Model calls that reach the upstream.
    pub calls: Option<u64>,
    /// Tokens of all classes together. Classes that the upstream does not report cannot be counted against it.
    pub tokens: Option<u64>,
    /// List price of the tokens, in the price table's currency.
    pub money: Option<f64>,
    /// From the opening of the gateway. For a whole evaluation: the sum over its attempts.
    pub time: Option<Duration>,
}

/// What has been spent, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Calls that were begun.
    pub calls: u64,
    /// Those of them whose tokens are not all known: under way still, or never told.
    pub uncounted: u64,
    /// Tokens.
    pub tokens: u64,
    /// List price.
    pub money: f64,
    /// Time.
    pub time: Duration,
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapScope {
    /// The attempt's own.
    Trial,
    /// That of its whole evaluation.
    Evaluation,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapReached {
    /// Whose.
    pub scope: CapScope,
    /// Which.
    pub limit: Limit,
}

/// A limit with what was spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// No further model call is allowed.
    Calls {
        /// The limit.
        cap: u64,
    },
    /// Too many tokens were used.
    Tokens {
        /// The limit.
        cap: u64,
        /// Tokens known to be used.
        used: u64,
    },
    /// Too much money was spent.
    Money {
        /// The limit.
        cap: f64,
        /// Money known to be spent.
        spent: f64,
    },
    /// It took too long.
    Time {
        /// The limit.
        cap: Duration,
    },
}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.scope {
            CapScope::Trial => "",
            CapScope::Evaluation => " for the whole evaluation",
        };
        match self.limit {
            Limit::Calls { cap } => write!(f, "{cap} model calls{whose}"),
            Limit::Tokens { cap, used } => write!(f, "{cap} tokens{whose} ({used} used)"),
            Limit::Money { cap, spent } => write!(f, "{cap} in money{whose} ({spent:.4} spent at list price)"),
            Limit::Time { cap } => write!(f, "{} s of model use{whose}", cap.as_secs()),
        }
    }
}

impl Caps {
    /// The limit that a further call would go over.
    #[must_use]
    pub fn check(&self, spent: &Spent) -> Option<Limit> {
        let calls = self.calls.filter(|cap| spent.calls >= *cap).map(|cap| Limit::Calls { cap });
        let tokens = self.tokens.filter(|cap| spent.tokens >= *cap);
        let money = self.money.filter(|cap| spent.money >= *cap);
        let time = self.time.filter(|cap| spent.time >= *cap).map(|cap| Limit::Time { cap });
        calls
            .or_else(|| tokens.map(|cap| Limit::Tokens { cap, used: spent.tokens }))
            .or_else(|| money.map(|cap| Limit::Money { cap, spent: spent.money }))
            .or(time)
    }
}

/// What all attempts of one evaluation may spend together.
#[derive(Debug)]
pub struct SharedBudget {
    caps: Caps,
    spent: Mutex<Spent>,
}

impl SharedBudget {
    /// A budget of which `spent` is gone already, as after a restart.
    #[must_use]
    pub const fn new(caps: Caps, spent: Spent) -> Self {
        Self { caps, spent: Mutex::new(spent) }
    }

    /// The limits.
    #[must_use]
    pub const fn caps(&self) -> &Caps {
        &self.caps
    }

    /// What is gone.
    #[must_use]
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that is about to begin; with one look at the budget, so that trials side by side do not go over it together.
    ///
    /// # Errors
    /// The limit that it would go over; it is not counted then.
    pub fn begin(&self) -> Result<(), Limit> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        match self.caps.check(&spent) {
            Some(limit) => Err(limit),
            None => {
                spent.calls = spent.calls.saturating_add(1);
                Ok(())
            }
        }
    }

    /// Takes from it.
    pub fn add(&self, more: &Spent) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls = spent.calls.saturating_add(more.calls);
        spent.tokens = spent.tokens.saturating_add(more.tokens);
        spent.money += more.money;
        spent.time = spent.time.saturating_add(more.time);
    }
}

/// The tokens that are known to be used, whatever else is unknown.
#[must_use]
pub(crate) fn known_tokens(usage: &TokenUsage) -> u64 {
    [usage.input, usage.cache_read, usage.cache_write, usage.output].into_iter().flatten().fold(0, u64::saturating_add)
}
