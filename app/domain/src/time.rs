//! Instants as values. The domain never asks a clock: whoever calls it says what time it is.

use std::fmt;

use chrono::DateTime;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This instant and `ms` milliseconds more.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant, 0 if it lies after it.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// What [`Timestamp::rfc3339`] writes, and any other form of it, with fractions or an offset.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|at| Self(at.timestamp_millis()))
    }

    /// As machines read it: `2026-03-01T09:30:00Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        DateTime::from_timestamp_millis(self.0)
            .map_or_else(|| "?".to_owned(), |at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
    }
}

/// As people read it: `2026-03-01 09:30 UTC`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::from_timestamp_millis(self.0) {
            Some(at) => write!(f, "{}", at.format("%Y-%m-%d %H:%M UTC")),
            None => f.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn timestamps_are_shown_in_utc() {
        let at = Timestamp(1_772_357_400_000);
        assert_eq!((at.to_string().as_str(), at.rfc3339().as_str()), ("2026-03-01 09:30 UTC", "2026-03-01T09:30:00Z"));
        assert_eq!(Timestamp::from_rfc3339("2026-03-01T10:30:00.250+01:00"), Some(at.plus_ms(250)));
        assert_eq!(Timestamp::from_rfc3339("yesterday"), None);
        assert_eq!(at.ms_since(at.plus_ms(5)), 0);
        assert_eq!(at.plus_ms(5).ms_since(at), 5);
    }
}
