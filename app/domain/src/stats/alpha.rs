//! The level of a test; 1 − α is the confidence of an interval.

use serde::{Deserialize, Serialize};

use super::{normal, student};

/// A two-sided level strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Alpha(f64);

/// A number that is no level.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a level lies strictly between 0 and 1, for example 0.05; {0} does not")]
pub struct NotALevel(f64);

impl Alpha {
    /// 5 %, hence intervals of 95 % confidence.
    pub const FIVE_PERCENT: Self = Self(0.05);

    /// A level.
    ///
    /// # Errors
    /// Where `value` is not strictly between 0 and 1.
    pub fn new(value: f64) -> Result<Self, NotALevel> {
        if 0.0 < value && value < 1.0 { Ok(Self(value)) } else { Err(NotALevel(value)) }
    }

    /// The level as a number.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }

    /// The normal quantile z with P(|Z| > z) = α.
    #[must_use]
    pub fn z(self) -> f64 {
        normal::upper_quantile(self.0 / 2.0)
    }

    /// Student's quantile t with P(|T| > t) = α; `None` with 0 degrees of freedom, or where it is beyond all numbers.
    #[must_use]
    pub fn t(self, degrees_of_freedom: u32) -> Option<f64> {
        student::upper_quantile(self.0 / 2.0, degrees_of_freedom)
    }
}

impl Default for Alpha {
    fn default() -> Self {
        Self::FIVE_PERCENT
    }
}

impl TryFrom<f64> for Alpha {
    type Error = NotALevel;

    fn try_from(value: f64) -> Result<Self, NotALevel> {
        Self::new(value)
    }
}

impl From<Alpha> for f64 {
    fn from(alpha: Alpha) -> Self {
        alpha.0
    }
}
