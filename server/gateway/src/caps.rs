//! Limits on what one attempt may spend on its model.

use std::fmt;

use domain::usage::TokenUsage;

/// Limits of one attempt; `None` = no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Model calls that reach the upstream.
    pub calls: Option<u64>,
    /// Tokens of all classes together. Checked before each call, so the call that goes over it is still answered. Classes that the
    /// upstream does not report cannot be counted against it.
    pub tokens: Option<u64>,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapReached {
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
}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { cap } => write!(f, "{cap} model calls"),
            Self::Tokens { cap, used } => write!(f, "{cap} tokens ({used} used)"),
        }
    }
}

impl Caps {
    /// Whether a further call would go over a limit.
    #[must_use]
    pub fn check(&self, calls_begun: u64, used: u64) -> Option<CapReached> {
        let calls = self.calls.filter(|cap| calls_begun >= *cap).map(|cap| CapReached::Calls { cap });
        calls.or_else(|| self.tokens.filter(|cap| used >= *cap).map(|cap| CapReached::Tokens { cap, used }))
    }
}

/// The tokens that are known to be used, whatever else is unknown.
#[must_use]
pub(crate) fn known_tokens(usage: &TokenUsage) -> u64 {
    [usage.input, usage.cache_read, usage.cache_write, usage.output].into_iter().flatten().sum()
}
