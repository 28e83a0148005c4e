//! Student's t interval and test of task differences (F8, first half). Source: Student 1908; for evaluations, Miller 2024 (arXiv 2411.00640).

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::interval::Interval;
use super::student;

/// What the t test says about the mean of n differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedT {
    /// Mean difference.
    pub mean: f64,
    /// Its standard error, above 0.
    pub se: f64,
    /// mean / se, with n − 1 degrees of freedom.
    pub t: f64,
    /// Two-sided.
    pub p: f64,
    /// Of confidence 1 − α.
    pub ci: Interval,
}

/// The test of differences, one for each task; `None` with fewer than two, without spread, or where a value is not finite.
#[must_use]
pub fn paired_t(differences: &[f64], alpha: Alpha) -> Option<PairedT> {
    let degrees_of_freedom = u32::try_from(differences.len().checked_sub(1)?).ok()?;
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
    let se = (squares / f64::from(degrees_of_freedom) / n).sqrt();
    // Rounding in the mean leaves some 1e-16 of spread where there is none.
    if !se.is_finite() || se <= 1e-14 * mean.abs() || se <= 0.0 {
        return None;
    }
    let t = mean / se;
    let half = alpha.t(degrees_of_freedom)? * se;
    let ci = Interval::new(mean - half, mean + half)?;
    Some(PairedT { mean, se, t, p: student::two_sided(t, degrees_of_freedom)?, ci })
}

#[cfg(test)]
mod tests {
    use super::{Alpha, paired_t};

    #[test]
    fn agrees_with_a_reference_implementation() {
        let third = 1.0 / 3.0;
        let found =
            paired_t(&[0.0, third, 0.0, third, 0.0, third, third, 0.0, -third, third], Alpha::FIVE_PERCENT).unwrap();
        assert!((found.se - 0.073_702_773_119_008_89).abs() < 1e-14);
        assert!((found.p - 0.103_888_131_062_101_67).abs() < 1e-12);
        assert!((found.ci.low + 0.033_393_922_795_923_57).abs() < 1e-12);
        assert!((found.ci.high - 0.300_060_589_462_590_3).abs() < 1e-12);
    }

    #[test]
    fn is_silent_without_spread() {
        for differences in [vec![], vec![0.5], vec![0.1, 0.1, 0.1], vec![0.0, f64::NAN], vec![f64::MAX, f64::MIN]] {
            assert_eq!(paired_t(&differences, Alpha::FIVE_PERCENT), None, "{differences:?}");
        }
    }
}
