//! Newcombe's square-and-add interval for the difference of two paired rates (F6), and its extension to task means for k > 1.
//! Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635, method 10. Never of zero width.

use super::alpha::Alpha;
use super::counts::PairCounts;
use super::interval::Interval;
use super::task_means::TaskMeans;
use super::wilson;

/// The interval of Δ = (b − c)/n; `None` without pairs.
#[must_use]
pub fn newcombe(counts: &PairCounts, alpha: Alpha) -> Option<Interval> {
    let means = TaskMeans::of_single(counts)?;
    Some(square_and_add(&means, |share| wilson::of_share(share, means.n, alpha.z())))
}

/// The same on shares averaged within n tasks, from any limits of a single share. A task mean varies no more than a single pass or fail would, so
/// limits at n tasks stay valid; with one pair per task and Wilson's limits this is [`newcombe`].
pub(super) fn square_and_add(means: &TaskMeans, limits: impl Fn(f64) -> Interval) -> Interval {
    let (with, without) = (limits(means.with), limits(means.without));
    let phi = correlation(means);
    let reach = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
    let down = reach(means.with - with.low, without.high - means.without);
    let up = reach(with.high - means.with, means.without - without.low);
    Interval { low: means.delta - down, high: means.delta + up }.clipped(-1.0, 1.0)
}

/// φ with the continuity correction of method 10, which keeps it below 1.
fn correlation(means: &TaskMeans) -> f64 {
    let spread = (means.with * (1.0 - means.with) * means.without * (1.0 - means.without)).sqrt();
    if spread <= 0.0 {
        return 0.0;
    }
    let covariance =
        if means.covariance > 0.0 { (means.covariance - 0.5 / means.n).max(0.0) } else { means.covariance };
    (covariance / spread).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Alpha, PairCounts, newcombe};

    #[test]
    fn published_examples() {
        for ([both, rescued, broken, neither], low, high) in [
            ([1, 1, 7, 12], -0.506_920_226_686_141, -0.025_559_124_164_859_837),
            ([59, 6, 16, 80], -0.118_621_195_638_709_96, -0.004_625_113_933_050_054),
            ([1, 0, 0, 1], -0.573_419_467_969_717_2, 0.573_419_467_969_717_2),
            ([7, 3, 0, 0], -0.037_592_434_579_050_59, 0.603_221_852_538_854_6),
            ([10, 0, 0, 0], -0.277_532_799_862_889, 0.277_532_799_862_889),
        ] {
            let counts = PairCounts { both, rescued, broken, neither };
            let found = newcombe(&counts, Alpha::FIVE_PERCENT).unwrap();
            assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{counts:?}: {found:?}");
        }
        assert_eq!(newcombe(&PairCounts::default(), Alpha::FIVE_PERCENT), None);
    }
}
