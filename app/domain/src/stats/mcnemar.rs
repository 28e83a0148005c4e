//! McNemar's test on the pairs whose arms differ, in its exact and its mid-p form (F2, F3). Sources: McNemar 1947; Fagerland, Lydersen,
//! Laake, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better than exact conditional" (2013).

use super::binomial::{half_cdf, half_pmf};

/// Two-sided exact p of `rescued` against `broken` pairs; 1 where there is neither (no information).
#[must_use]
pub fn exact(rescued: u32, broken: u32) -> f64 {
    let (fewer, all) = fewer_of_all(rescued, broken);
    (2.0 * half_cdf(fewer, all)).min(1.0)
}

/// Two-sided mid-p: less conservative than [`exact`], shown beside it; 1 where no pair differs.
#[must_use]
pub fn mid_p(rescued: u32, broken: u32) -> f64 {
    let (fewer, all) = fewer_of_all(rescued, broken);
    let p = if all == 0 {
        1.0
    } else if rescued == broken {
        1.0 - half_pmf(fewer, all) / 2.0
    } else {
        exact(rescued, broken) - half_pmf(fewer, all)
    };
    p.clamp(0.0, 1.0)
}

/// One-sided exact p of "the skill rescues more than it breaks"; 1 where no pair differs.
#[must_use]
pub fn one_sided(rescued: u32, broken: u32) -> f64 {
    half_cdf(u64::from(broken), u64::from(rescued) + u64::from(broken))
}

/// The smallest two-sided p that `tasks` tasks can give, all of them rescued or all broken: 2^(1−n), at most 1. The sign-flip test has the same.
#[must_use]
pub fn smallest_p(tasks: u32) -> f64 {
    match i32::try_from(tasks) {
        Ok(0) => 1.0,
        Ok(n) => 2.0_f64.powi(1 - n),
        Err(_) => 0.0,
    }
}

fn fewer_of_all(rescued: u32, broken: u32) -> (u64, u64) {
    (u64::from(rescued.min(broken)), u64::from(rescued) + u64::from(broken))
}

#[cfg(test)]
mod tests {
    use super::{exact, mid_p, one_sided, smallest_p};

    #[test]
    fn known_p_values() {
        for (rescued, broken, p) in [
            (0, 0, 1.0),
            (6, 0, 0.031_25),
            (0, 6, 0.031_25),
            (11, 0, 0.000_976_562_5),
            (12, 3, 0.035_156_25),
            (10, 10, 1.0),
            (1000, 1100, 0.030_720_707_864_242_49),
        ] {
            assert!((exact(rescued, broken) - p).abs() < 1e-12, "{rescued} {broken}: {}", exact(rescued, broken));
        }
        assert!((mid_p(6, 16) - 0.034_689_664_840_698_24).abs() < 1e-14);
        assert!((one_sided(6, 16) - 0.991_549_730_300_903_3).abs() < 1e-14);
    }

    #[test]
    fn six_tasks_can_reach_five_percent_and_five_cannot() {
        assert_eq!((smallest_p(0), smallest_p(1), smallest_p(5), smallest_p(6)), (1.0, 1.0, 0.0625, 0.031_25));
        assert_eq!(smallest_p(u32::MAX), 0.0);
    }

    #[test]
    fn huge_counts_stay_numbers() {
        assert!((exact(1_000_000, 1_000_000) - 1.0).abs() < 1e-12);
        let p = exact(500_000, 501_000);
        assert!(0.31 < p && p < 0.32, "{p}");
        assert_eq!(exact(u32::MAX, 0), 0.0);
        assert!(mid_p(u32::MAX, u32::MAX) <= 1.0);
    }
}
