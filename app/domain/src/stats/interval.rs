//! A closed interval of finite numbers.

use serde::{Deserialize, Serialize};

/// A confidence interval (or other range); `low <= high`, both finite. Unit: that of the estimate it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower limit, included.
    pub low: f64,
    /// Upper limit, included.
    pub high: f64,
}

impl Interval {
    /// The interval from `low` to `high`; `None` where one is not finite or they are out of order.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// Whether `value` lies inside, limits included.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it lies inside (`-margin`, `margin`), limits excluded.
    #[must_use]
    pub fn within(self, margin: f64) -> bool {
        -margin < self.low && self.high < margin
    }

    /// `high - low`.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// The interval of the negated quantity.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// The interval of the quantity plus `by`.
    #[must_use]
    pub(super) fn shifted(self, by: f64) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub(super) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The part between `min` and `max`.
    #[must_use]
    pub(super) fn clipped(self, min: f64, max: f64) -> Self {
        Self { low: self.low.max(min).min(max), high: self.high.min(max).max(min) }
    }
}
