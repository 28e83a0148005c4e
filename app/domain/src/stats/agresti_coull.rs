//! Agresti and Coull's interval for a single rate: Wilson's centre with a spread that never shrinks as fast, so that it has no dips near 0 and 1.
//! Source: A. Agresti and B. A. Coull, The American Statistician 52 (1998) 119.

use super::interval::Interval;

/// The interval of a share in 0..=1 seen on n > 0 units, at the normal quantile z. It holds Wilson's.
pub(super) fn of_share(share: f64, n: f64, z: f64) -> Interval {
    let units = n + z * z;
    let centre = (share * n + z * z / 2.0) / units;
    let half = z * (centre * (1.0 - centre) / units).sqrt();
    Interval { low: (centre - half).clamp(0.0, share), high: (centre + half).clamp(share, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::of_share;
    use crate::stats::wilson;

    /// By statsmodels 0.15, `proportion_confint(method="agresti_coull")`.
    #[test]
    fn reference_values_and_wilson_inside() {
        let z = crate::stats::alpha::Alpha::FIVE_PERCENT.z();
        for (hits, n, low, high) in REFERENCE {
            let found = of_share(hits / n, n, z);
            assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{hits} of {n}: {found:?}");
            let inner = wilson::of_share(hits / n, n, z);
            assert!(found.low <= inner.low + 1e-15 && inner.high <= found.high + 1e-15, "{hits} of {n}");
        }
    }

    const REFERENCE: [(f64, f64, f64, f64); 4] = [
        (0.0, 10.0, 0.0, 0.320_887_305_750_545_8),
        (1.0, 17.0, 0.0, 0.289_172_316_791_489_25),
        (20.0, 50.0, 0.275_903_660_493_825_3, 0.538_365_859_332_846_4),
        (499.0, 500.0, 0.987_574_240_474_681_7, 1.0),
    ];
}
