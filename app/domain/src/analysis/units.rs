//! Δ where tasks are not independent: they share a repository, or a skill (statistics F9, rule 8). The cluster is then the unit of the test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::number::counted;
use crate::stats::alpha::Alpha;
use crate::stats::cluster::clustered_mean;
use crate::stats::counts::PairCounts;
use crate::stats::delta::{CiMethod, DeltaEstimate, TestMethod, delta};
use crate::stats::interval::Interval;
use crate::stats::signflip::{SignFlipMethod, sign_flip};
use crate::stats::verdict::{DeltaVerdict, VerdictRule};

/// Δ with errors that allow for tasks of one cluster being alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusteredDelta {
    /// What a cluster is: `cluster` (a column of the file), `repository`, `skill`, or `task`.
    pub unit: String,
    /// How many there are (C).
    pub clusters: u32,
    /// Mean over tasks, the same Δ as without clusters.
    pub delta: f64,
    /// Clustered standard error with C/(C − 1); `None` with one cluster.
    pub se: Option<f64>,
    /// As if all tasks were independent.
    pub se_unclustered: Option<f64>,
    /// Miller's form; `None` where it is not defined.
    pub se_miller: Option<f64>,
    /// Clustered over independent variance.
    pub design_effect: Option<f64>,
    /// Δ ± t·se with C − 1 degrees of freedom. With fewer than ten clusters, or where they do not vary, it is widened to hold the interval of
    /// independent tasks; where they do not vary also that of so many single tasks, one for each cluster.
    pub ci: Option<Interval>,
    /// Fewer than ten clusters: the standard error may well be too small.
    pub too_few: bool,
    /// Sign-flip test of the clusters' sums (statistics F4).
    pub p_value: f64,
    /// By this interval and p.
    pub verdict: Option<DeltaVerdict>,
}

/// Δ of tasks labelled by cluster; `plain` is the estimate as if they were independent. `None` without tasks.
#[must_use]
pub fn clustered<K: Ord + Clone>(unit: &str, tasks: &[(K, f64)], plain: &DeltaEstimate) -> Option<ClusteredDelta> {
    let mut sums: BTreeMap<K, f64> = BTreeMap::new();
    tasks.iter().for_each(|(cluster, delta)| *sums.entry(cluster.clone()).or_default() += delta);
    let clusters = u32::try_from(sums.len()).ok()?;
    let sums: Vec<f64> = sums.into_values().collect();
    let p_value = sign_flip(&sums)?.p;
    let mean = clustered_mean(tasks, Alpha::FIVE_PERCENT);
    let too_few = mean.is_none_or(|mean| mean.too_few);
    let ci = match mean.and_then(|mean| mean.ci) {
        Some(ci) if too_few => both(ci, plain.ci),
        Some(ci) => Some(ci),
        None => both(plain.ci, alike(&sums)?),
    };
    let ci = ci.and_then(|ci| Interval::new(ci.low.max(-1.0), ci.high.min(1.0)));
    let judged = DeltaEstimate {
        n_tasks: clusters,
        ci: ci.unwrap_or(plain.ci),
        ci_method: CiMethod::PairedT,
        p_value,
        newcombe: None,
        p_mid: None,
        test: TestMethod::SignFlip(SignFlipMethod::Exact),
        ..*plain
    };
    Some(ClusteredDelta {
        unit: unit.to_owned(),
        clusters,
        delta: plain.delta,
        se: mean.map(|mean| mean.se),
        se_unclustered: mean.map(|mean| mean.se_unclustered),
        se_miller: mean.and_then(|mean| mean.se_miller),
        design_effect: mean.and_then(|mean| mean.design_effect),
        ci,
        too_few,
        p_value,
        verdict: Some(DeltaVerdict::raw(&judged, &VerdictRule::default())),
    })
}

/// The least interval that holds both.
fn both(a: Interval, b: Interval) -> Option<Interval> {
    Interval::new(a.low.min(b.low), a.high.max(b.high))
}

/// Clusters that do not vary tell nothing of the error between them. Each is then taken as one task that went the way of its sum: what so many
/// independent tasks could tell is the most that these can.
fn alike(sums: &[f64]) -> Option<Interval> {
    let one = |sum: &f64| PairCounts {
        rescued: u32::from(*sum > 0.0),
        broken: u32::from(*sum < 0.0),
        both: u32::from(*sum == 0.0),
        ..PairCounts::default()
    };
    delta(&sums.iter().map(one).collect::<Vec<_>>(), Alpha::FIVE_PERCENT).map(|estimate| estimate.ci)
}

impl ClusteredDelta {
    /// What to beware of, for people; empty with ten clusters or more.
    #[must_use]
    pub fn warning(&self) -> String {
        if !self.too_few {
            return String::new();
        }
        format!(
            "Only {}: with fewer than 10 the clustered error may be too small, so the wider interval is shown.",
            counted(self.clusters, &self.unit),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(flip: i32) -> PairCounts {
        match flip {
            1 => PairCounts { rescued: 1, ..PairCounts::default() },
            -1 => PairCounts { broken: 1, ..PairCounts::default() },
            _ => PairCounts { both: 1, ..PairCounts::default() },
        }
    }

    fn of(tasks: &[(u32, i32)]) -> ClusteredDelta {
        let counts: Vec<PairCounts> = tasks.iter().map(|(_, flip)| counts(*flip)).collect();
        let labelled: Vec<(u32, f64)> = tasks.iter().map(|(cluster, flip)| (*cluster, f64::from(*flip))).collect();
        clustered("cluster", &labelled, &delta(&counts, Alpha::FIVE_PERCENT).unwrap()).unwrap()
    }

    #[test]
    fn tasks_of_their_own_change_nothing_in_the_test() {
        let tasks: Vec<(u32, i32)> = (0..12).map(|i| (i, i32::from(i < 9))).collect();
        let found = of(&tasks);
        assert!((found.p_value - 2.0_f64.powi(-8)).abs() < 1e-12 && !found.too_few && found.warning().is_empty());
        assert_eq!(found.verdict.unwrap().word(), "improves");
    }

    #[test]
    fn twelve_gains_in_two_repositories_are_two_observations() {
        let tasks: Vec<(u32, i32)> = (0..12).map(|i| (i % 2, 1)).collect();
        let found = of(&tasks);
        assert_eq!((found.clusters, found.p_value), (2, 0.5));
        assert!(found.ci.unwrap().low < 0.0, "two observations hold 0 for possible: {:?}", found.ci);
        assert!(found.too_few && found.warning().contains("Only 2 clusters"), "{}", found.warning());
        assert_eq!(found.verdict.unwrap().word(), "cannot_be_resolved");
    }

    #[test]
    fn few_clusters_never_make_an_interval_narrower() {
        for flips in [
            [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 1, 1, 1, 0],
            // Each cluster the same: no spread between them.
            [1, -1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0],
            // Tasks that pull against one another within each cluster: less spread than by chance.
            [1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, 0],
        ] {
            let of_clusters = of(&(0..).zip(flips).map(|(i, flip)| (i / 4, flip)).collect::<Vec<_>>()).ci.unwrap();
            let of_tasks = delta(&flips.map(counts), Alpha::FIVE_PERCENT).unwrap().ci;
            assert!(of_clusters.low <= of_tasks.low && of_clusters.high >= of_tasks.high, "{flips:?}: {of_clusters:?}");
        }
    }

    #[test]
    fn many_tasks_of_few_repositories_rule_nothing_out() {
        let tasks: Vec<(u32, i32)> = (0..300).map(|i| (i % 6, 0)).collect();
        let found = of(&tasks);
        assert_eq!(found.verdict.unwrap().word(), "inconclusive", "{found:?}");
        assert!(found.ci.unwrap().high > 0.2, "six observations: {:?}", found.ci);
    }
}
