//! pass@k and pass^k (F15): at least one, or all, of k trials pass. Sources: Chen et al. 2021 (arXiv 2107.03374); tau-bench (arXiv 2406.12045).

/// 1 − C(n−c, k)/C(n, k): the chance that at least one of k trials, drawn from n of which c passed, is a pass. `None` with k = 0, k > n or
/// c > n.
#[must_use]
pub fn pass_at_k(n: u32, passed: u32, k: u32) -> Option<f64> {
    Some(1.0 - share_of_draws(n, n.checked_sub(passed)?, k)?)
}

/// C(c, k)/C(n, k): the chance that all k trials are passes. `None` with k = 0, k > n or c > n.
#[must_use]
pub fn pass_hat_k(n: u32, passed: u32, k: u32) -> Option<f64> {
    n.checked_sub(passed)?;
    share_of_draws(n, passed, k)
}

/// C(m, k)/C(n, k), for m ≤ n: Π (m − j)/(n − j). It is also C(n−k, n−m)/C(n, n−m), so the shorter product is taken.
fn share_of_draws(n: u32, m: u32, k: u32) -> Option<f64> {
    if k == 0 || k > n {
        return None;
    }
    if m < k {
        return Some(0.0);
    }
    let (top, factors) = if n - m < k { (n - k, n - m) } else { (m, k) };
    let mut product = 1.0;
    for j in 0..factors {
        product *= f64::from(top - j) / f64::from(n - j);
        if product == 0.0 {
            break;
        }
    }
    Some(product)
}

#[cfg(test)]
mod tests {
    use super::{pass_at_k, pass_hat_k};

    #[test]
    fn three_of_five() {
        assert!((pass_at_k(5, 3, 2).unwrap() - 0.9).abs() < 1e-12);
        assert!((pass_hat_k(5, 3, 2).unwrap() - 0.3).abs() < 1e-12);
        assert_eq!((pass_at_k(5, 3, 3), pass_hat_k(5, 3, 4)), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn draws_that_cannot_be_made_are_undefined() {
        for (n, passed, k) in [(5, 3, 0), (5, 3, 6), (5, 6, 2), (0, 0, 1)] {
            assert_eq!((pass_at_k(n, passed, k), pass_hat_k(n, passed, k)), (None, None), "{n} {passed} {k}");
        }
        assert_eq!(pass_at_k(u32::MAX, u32::MAX, u32::MAX), Some(1.0));
    }
}
