//! Tango's score test and interval for the difference of two paired rates (F7). Source: T. Tango, Statistics in Medicine 17 (1998) 891.

use super::alpha::Alpha;
use super::counts::PairCounts;
use super::interval::Interval;

/// The interval of Δ = (b − c)/n; `None` without pairs.
#[must_use]
pub fn tango(counts: &PairCounts, alpha: Alpha) -> Option<Interval> {
    let n = counts.pairs() as f64;
    (n > 0.0).then(|| of_shares(f64::from(counts.rescued) / n, f64::from(counts.broken) / n, n, alpha))
}

/// The same from the shares of rescued and broken among n > 0 pairs; with several repeats, of what tasks gained and lost.
pub(super) fn of_shares(rescued: f64, broken: f64, n: f64, alpha: Alpha) -> Interval {
    Interval { low: lower_limit(rescued, broken, n, alpha.z()), high: -lower_limit(broken, rescued, n, alpha.z()) }
}

/// The score statistic of "Δ = D", large where Δ is; as far as numbers go where nothing could vary.
pub(super) fn statistic(rescued: f64, broken: f64, n: f64, difference: f64) -> f64 {
    const NOTHING: f64 = 1e-12;
    let distance = rescued - broken - difference;
    let spread = (variance(rescued, broken, difference) / n).sqrt();
    match distance {
        _ if spread > NOTHING => distance / spread,
        _ if distance.abs() <= NOTHING => 0.0,
        _ => f64::MAX.copysign(distance),
    }
}

/// The smallest D that the score test does not reject, by bisection between −1 and the estimate.
fn lower_limit(rescued: f64, broken: f64, n: f64, z: f64) -> f64 {
    let mut rejected = -1.0;
    let mut kept = rescued - broken;
    loop {
        let middle = rejected + (kept - rejected) / 2.0;
        if middle <= rejected || middle >= kept {
            return kept;
        }
        if rescued - broken - middle > z * (variance(rescued, broken, middle) / n).sqrt() {
            rejected = middle;
        } else {
            kept = middle;
        }
    }
}

/// Of one pair's difference, where the rates are as likely as can be while rescued − broken = D.
fn variance(rescued: f64, broken: f64, difference: f64) -> f64 {
    let b = (2.0 - rescued + broken) * difference - rescued - broken;
    let c = -broken * difference * (1.0 - difference);
    let root = (b * b - 8.0 * c).max(0.0).sqrt();
    // The larger root of 2q² + bq + c, in the form that does not cancel.
    let broken_rate = if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / 4.0 };
    (2.0 * broken_rate + difference * (1.0 - difference)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::{Alpha, PairCounts, tango};

    #[test]
    fn published_examples() {
        for ([both, rescued, broken, neither], low, high) in [
            ([59, 6, 16, 80], -0.124_023_432_464_068_97, -0.005_433_395_731_677_088),
            ([0, 3, 0, 0], -0.122_994_063_510_090_86, 1.0),
            ([1, 0, 0, 1], -0.657_619_772_493_344_4, 0.657_619_772_493_344_4),
        ] {
            let counts = PairCounts { both, rescued, broken, neither };
            let found = tango(&counts, Alpha::FIVE_PERCENT).unwrap();
            assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{counts:?}: {found:?}");
        }
        assert_eq!(tango(&PairCounts::default(), Alpha::FIVE_PERCENT), None);
    }
}
