//! The methods behind an interval and a p of Δ, by name.

use serde::{Deserialize, Serialize};

use super::signflip::SignFlipMethod;

/// Where an interval of Δ comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiMethod {
    /// The score test inverted exactly: fewer than 20 tasks.
    Exact,
    /// Closed forms of the score test and of Newcombe, together: 20 tasks or more, one pair each or none that differs.
    Score,
    /// Student's t on task differences.
    PairedT,
    /// The same, widened to hold [`Self::Score`]: the spread rests on few tasks.
    PairedTWidened,
}

/// Where a p of Δ comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// McNemar's exact test, one pair for each task.
    McnemarExact,
    /// The sign-flip test of task differences.
    SignFlip(SignFlipMethod),
}

impl CiMethod {
    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact, by the score test",
            Self::Score => "score (Tango) and square-and-add (Newcombe), the wider of both",
            Self::PairedT => "paired t on task means",
            Self::PairedTWidened => "paired t on task means, widened for few flips",
        }
    }
}

impl TestMethod {
    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::McnemarExact => "McNemar, exact",
            Self::SignFlip(SignFlipMethod::Exact) => "sign flip, exact",
            Self::SignFlip(SignFlipMethod::Drawn) => "sign flip, 100,000 draws",
            Self::SignFlip(SignFlipMethod::Normal) => "sign flip, normal approximation",
        }
    }
}
