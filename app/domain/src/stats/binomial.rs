//! The binomial distribution at any count. Sources: C. Loader (2000) for single terms, the incomplete beta function
//! (NIST DLMF 8.17.5) for tails.

use std::f64::consts::PI;

use super::beta::incomplete_beta;
use super::stirling::{deviance, stirling_error};

/// P[Bin(n, p) = k]; `None` where p is not in 0..=1.
#[must_use]
pub fn pmf(k: u64, n: u64, p: f64) -> Option<f64> {
    (0.0..=1.0).contains(&p).then(|| term(k, n, p, 1.0 - p))
}

/// P[Bin(n, p) ≤ k]; `None` where p is not in 0..=1.
#[must_use]
pub fn cdf(k: u64, n: u64, p: f64) -> Option<f64> {
    (0.0..=1.0).contains(&p).then(|| tail(k, n, p, 1.0 - p))
}

/// P[Bin(n, ½) = k].
#[must_use]
pub fn half_pmf(k: u64, n: u64) -> f64 {
    term(k, n, 0.5, 0.5)
}

/// P[Bin(n, ½) ≤ k].
#[must_use]
pub fn half_cdf(k: u64, n: u64) -> f64 {
    tail(k, n, 0.5, 0.5)
}

/// P[Bin(n, p) = k] with q = 1 − p, both in 0..=1.
pub(super) fn term(k: u64, n: u64, p: f64, q: f64) -> f64 {
    let (hits, all) = (k as f64, n as f64);
    match (k, n.checked_sub(k)) {
        (_, None) => 0.0,
        (0, Some(_)) => power(q, p, all),
        (_, Some(0)) => power(p, q, all),
        (_, Some(_)) if p == 0.0 || q == 0.0 => 0.0,
        (_, Some(misses)) => {
            let misses = misses as f64;
            let exponent = stirling_error(all)
                - stirling_error(hits)
                - stirling_error(misses)
                - deviance(hits, all * p)
                - deviance(misses, all * q);
            (all / hits / misses / (2.0 * PI)).sqrt() * exponent.exp()
        }
    }
}

/// P[Bin(n, p) ≤ k] with q = 1 − p, both in 0..=1.
pub(super) fn tail(k: u64, n: u64, p: f64, q: f64) -> f64 {
    match n.checked_sub(k) {
        None | Some(0) => 1.0,
        Some(above) => incomplete_beta(above as f64, k as f64 + 1.0, q, p),
    }
}

/// base^n, where base = 1 − complement.
fn power(base: f64, complement: f64, n: f64) -> f64 {
    if n == 0.0 {
        1.0
    } else if complement < 0.5 {
        (n * (-complement).ln_1p()).exp()
    } else {
        base.powf(n)
    }
}

#[cfg(test)]
mod tests {
    use super::{cdf, half_cdf, half_pmf, pmf};

    #[test]
    fn terms_are_exact_for_small_counts() {
        assert!((half_pmf(2, 4) - 0.375).abs() < 1e-14);
        assert!((half_cdf(1, 4) - 0.3125).abs() < 1e-14);
        assert_eq!((half_pmf(0, 0), half_cdf(0, 0), half_pmf(3, 2)), (1.0, 1.0, 0.0));
        assert_eq!(
            (pmf(0, 5, 0.0), pmf(1, 5, 0.0), cdf(4, 5, 1.0), cdf(5, 5, 1.0)),
            (Some(1.0), Some(0.0), Some(0.0), Some(1.0))
        );
        assert_eq!((pmf(0, 5, f64::NAN), cdf(0, 5, 1.5)), (None, None));
    }

    #[test]
    fn tails_are_the_sums_of_terms() {
        for (n, p) in [(1, 0.2), (7, 0.5), (40, 0.97), (300, 0.03)] {
            let mut sum = 0.0;
            for k in 0..=n {
                sum += pmf(k, n, p).unwrap();
                assert!((cdf(k, n, p).unwrap() - sum).abs() < 1e-13, "{k} of {n} at {p}");
            }
        }
    }

    #[test]
    fn a_million_pairs_neither_overflow_nor_lose_digits() {
        // The middle term of Bin(2m, ½) is 1/√(πm) · (1 − 1/(8m) + 1/(128m²) + …).
        let m = 500_000.0_f64;
        let middle = (1.0 - 1.0 / (8.0 * m) + 1.0 / (128.0 * m * m)) / (std::f64::consts::PI * m).sqrt();
        assert!((half_pmf(500_000, 1_000_000) / middle - 1.0).abs() < 1e-13);
        assert!((half_cdf(500_000, 1_000_000) - (0.5 + middle / 2.0)).abs() < 1e-12);
        assert_eq!(half_cdf(0, 1_000_000), 0.0);
    }
}
