//! A mean whose units come in clusters (F9): tasks that share a repository, pairs that share a skill. Sources: the sandwich estimator with the
//! C/(C − 1) correction, as statsmodels and Inspect have it; Miller 2024 (arXiv 2411.00640) for the other form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::interval::Interval;

/// A mean with its standard errors, clustered and not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusteredMean {
    /// Mean of all values, each of the same weight.
    pub mean: f64,
    /// Clusters (C), at least 2.
    pub clusters: u32,
    /// Clustered standard error, corrected for few clusters.
    pub se: f64,
    /// mean ± t·se with C − 1 degrees of freedom; `None` where the clusters show no spread.
    pub ci: Option<Interval>,
    /// The standard error as if all values were independent; to show beside `se` where `too_few` is true.
    pub se_unclustered: f64,
    /// Miller's form; `None` where within-cluster terms make its square negative.
    pub se_miller: Option<f64>,
    /// Clustered over independent variance, uncorrected; `None` where the values do not vary.
    pub design_effect: Option<f64>,
    /// Fewer than ten clusters: `se` may well be too small, so warn.
    pub too_few: bool,
}

/// The mean of values labelled by cluster; `None` with fewer than two clusters, or where a value is not finite.
#[must_use]
pub fn clustered_mean<K: Ord>(values: &[(K, f64)], alpha: Alpha) -> Option<ClusteredMean> {
    const FEWEST: u32 = 10;
    let n = values.len() as f64;
    let mean = values.iter().map(|(_, value)| value).sum::<f64>() / n;
    let mut sums: BTreeMap<&K, f64> = BTreeMap::new();
    for (cluster, value) in values {
        *sums.entry(cluster).or_default() += value - mean;
    }
    let clusters = u32::try_from(sums.len()).ok().filter(|clusters| *clusters >= 2)?;
    let of_clusters: f64 = sums.values().map(|sum| sum * sum).sum();
    let of_values: f64 = values.iter().map(|(_, value)| (value - mean).powi(2)).sum();
    let count = f64::from(clusters);
    let se = (count / (count - 1.0) * of_clusters).sqrt() / n;
    let unclustered = of_values / (n - 1.0) / n;
    let miller = unclustered + (of_clusters - of_values) / (n * n);
    if !se.is_finite() || !mean.is_finite() {
        return None;
    }
    let half = alpha.t(clusters - 1)? * se;
    Some(ClusteredMean {
        mean,
        clusters,
        se,
        ci: if half > 0.0 { Interval::new(mean - half, mean + half) } else { None },
        se_unclustered: unclustered.sqrt(),
        se_miller: (miller >= 0.0).then(|| miller.sqrt()),
        design_effect: (of_values > 0.0).then(|| of_clusters / of_values),
        too_few: clusters < FEWEST,
    })
}

#[cfg(test)]
mod tests {
    use super::{Alpha, clustered_mean};

    #[test]
    fn agrees_with_the_reference() {
        let clusters = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4];
        let scores = [1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0].map(f64::from);
        let values: Vec<(i32, f64)> = clusters.into_iter().zip(scores).collect();
        let found = clustered_mean(&values, Alpha::FIVE_PERCENT).unwrap();
        assert!((found.se - 0.178_152_410_171_740_47).abs() < 1e-12);
        assert!((found.se_miller.unwrap() - 0.162_580_108_459_388_92).abs() < 1e-12);
        assert!((found.design_effect.unwrap() - 1.625).abs() < 1e-12);
        assert!(found.too_few && found.clusters == 5);
    }

    #[test]
    fn is_silent_where_nothing_can_be_said() {
        for values in [vec![], vec![(1, 0.5), (1, 0.7)], vec![(1, 0.5), (2, f64::NAN)]] {
            assert_eq!(clustered_mean(&values, Alpha::FIVE_PERCENT), None, "{values:?}");
        }
        assert_eq!(clustered_mean(&[(1, 0.5), (2, 0.5)], Alpha::FIVE_PERCENT).unwrap().ci, None);
    }
}
