//! When a failed call is tried again: a stated time in all, Retry-After honoured, doubling delays without jitter.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// How long trouble upstream is borne.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// From the first failure: no try begins later than this. Counted over the whole incident, so an agent with retries of its own
    /// does not multiply it.
    pub within: Duration,
    /// Delay before the second try; doubled for each further one.
    pub first_delay: Duration,
    /// Longest delay, unless the provider asks for more.
    pub max_delay: Duration,
    /// Longest wait for the first byte of an answer.
    pub first_byte: Duration,
    /// Longest silence within a streamed answer.
    pub idle: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            within: Duration::from_secs(120),
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            first_byte: Duration::from_secs(180),
            idle: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// One try, no more.
    #[must_use]
    pub fn never(self) -> Self {
        Self { within: Duration::ZERO, ..self }
    }

    /// The pause before the next try; `None` = give up. `incident` is the time since the first failure, `failures` their number in this
    /// call, from 1.
    #[must_use]
    pub fn pause(&self, incident: Duration, failures: u32, retry_after: Option<Duration>) -> Option<Duration> {
        let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).and_then(|n| self.first_delay.checked_mul(n));
        let delay = retry_after.unwrap_or_else(|| doubled.unwrap_or(self.max_delay).min(self.max_delay));
        incident.checked_add(delay).filter(|end| *end <= self.within && !self.within.is_zero()).map(|_| delay)
    }
}

/// `Retry-After` in whole seconds, or the finer `retry-after-ms`. A date is not understood: it needs a clock that both sides share.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number(RETRY_AFTER.as_str()))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_end_with_the_stated_time() {
        let policy = RetryPolicy::default();
        let secs = Duration::from_secs;
        for (incident, failures, asked, want) in [
            (secs(0), 1, None, Some(Duration::from_millis(500))),
            (secs(0), 4, None, Some(secs(4))),
            (secs(0), 60, None, Some(secs(30))),
            (secs(100), 9, None, None),
            (secs(10), 2, Some(secs(60)), Some(secs(60))),
            (secs(10), 2, Some(secs(600)), None),
            (secs(0), 1, Some(Duration::MAX), None),
        ] {
            assert_eq!(policy.pause(incident, failures, asked), want, "{incident:?} {failures} {asked:?}");
        }
        assert_eq!(policy.never().pause(Duration::ZERO, 1, Some(Duration::ZERO)), None);
    }

    #[test]
    fn retry_after_is_read_or_unknown() {
        for (name, value, want) in [
            ("retry-after", "2", Some(2000)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e400", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(retry_after(&headers).map(|d| d.as_millis()), want, "{name}: {value}");
        }
    }
}
