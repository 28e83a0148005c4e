//! Wilson's score interval for a single rate (F5): pass, activation, error. Source: E. B. Wilson, JASA 22 (1927).

use super::alpha::Alpha;
use super::interval::Interval;

/// The interval of a rate, from `hits` of `n`; `None` with n = 0 or more hits than trials.
#[must_use]
pub fn wilson(hits: u64, n: u64, alpha: Alpha) -> Option<Interval> {
    (0 < n && hits <= n).then(|| of_share(hits as f64 / n as f64, n as f64, alpha.z()))
}

/// The interval of a share in 0..=1 seen on n > 0 units, at the normal quantile z.
pub(super) fn of_share(share: f64, n: f64, z: f64) -> Interval {
    let square = z * z / n;
    let centre = share + square / 2.0;
    let half = z * (share * (1.0 - share) / n + square / n / 4.0).sqrt();
    // At the ends the limit equals the share; rounding must not push it past.
    let low = if share <= 0.0 { 0.0 } else { ((centre - half) / (1.0 + square)).clamp(0.0, share) };
    let high = if share >= 1.0 { 1.0 } else { ((centre + half) / (1.0 + square)).clamp(share, 1.0) };
    Interval { low, high }
}

#[cfg(test)]
mod tests {
    use super::{Alpha, wilson};

    #[test]
    fn ten_of_ten_is_not_certainty() {
        let interval = wilson(10, 10, Alpha::FIVE_PERCENT).unwrap();
        assert!((interval.low - 0.722_467_200_137_110_7).abs() < 1e-12, "{interval:?}");
        assert_eq!(interval.high, 1.0);
        assert_eq!(wilson(0, 0, Alpha::FIVE_PERCENT), None);
        assert_eq!(wilson(3, 2, Alpha::FIVE_PERCENT), None);
    }
}
