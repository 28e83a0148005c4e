//! Many tests at once (F16): Holm's adjustment for badges, Benjamini and Hochberg's for browsing, Tarone's rule for who is in the family. Sources:
//! S. Holm 1979; Benjamini & Hochberg 1995; R. E. Tarone, Biometrics 46 (1990).

use super::alpha::Alpha;

/// Holm's step-down adjusted p, in the order given; `None` where a p is not in 0..=1. Rows without information stay in with p = 1.
#[must_use]
pub fn holm(p: &[f64]) -> Option<Vec<f64>> {
    let ranked = ranked(p)?;
    let mut largest = 0.0_f64;
    let adjusted = ranked.iter().enumerate().map(|(rank, (place, p))| {
        largest = largest.max((ranked.len() - rank) as f64 * p).min(1.0);
        (*place, largest)
    });
    Some(in_given_order(adjusted.collect()))
}

/// Benjamini and Hochberg's q, in the order given; `None` where a p is not in 0..=1.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Option<Vec<f64>> {
    let ranked = ranked(p)?;
    let mut smallest = 1.0_f64;
    let adjusted = ranked.iter().enumerate().rev().map(|(rank, (place, p))| {
        smallest = smallest.min(ranked.len() as f64 * p / (rank + 1) as f64);
        (*place, smallest)
    });
    Some(in_given_order(adjusted.collect()))
}

/// One row of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Its p.
    pub p: f64,
    /// The smallest p that any outcome could have given it (`mcnemar::smallest_p` of its tasks).
    pub smallest_p: f64,
}

/// A family after those left it who could not have reached α at any outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// How many rows stayed.
    pub size: u32,
    /// Holm's adjusted p of each row, in the order given; `None` for a row that left.
    pub adjusted: Vec<Option<f64>>,
}

/// Tarone's rule, then Holm's adjustment among those who stay. `None` where a p is not in 0..=1.
///
/// Who stays depends on numbers of tasks alone, never on outcomes.
#[must_use]
pub fn holm_of_testable(rows: &[Row], alpha: Alpha) -> Option<Family> {
    let possible = |p: f64| (0.0..=1.0).contains(&p);
    if !rows.iter().all(|row| possible(row.p) && possible(row.smallest_p)) {
        return None;
    }
    let reach = |size: usize| alpha.value() / size as f64;
    let testable = |size: usize| rows.iter().filter(|row| row.smallest_p <= reach(size)).count();
    let size = (1..=rows.len()).find(|size| testable(*size) <= *size).unwrap_or(1);
    let stays = |row: &Row| row.smallest_p <= reach(size);
    let kept: Vec<f64> = rows.iter().filter(|row| stays(row)).map(|row| row.p).collect();
    let family = u32::try_from(kept.len()).ok()?;
    let mut adjusted = holm(&kept)?.into_iter();
    Some(Family {
        size: family,
        adjusted: rows.iter().map(|row| if stays(row) { adjusted.next() } else { None }).collect(),
    })
}

/// With their places, smallest first.
fn ranked(p: &[f64]) -> Option<Vec<(usize, f64)>> {
    if !p.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let mut ranked: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some(ranked)
}

fn in_given_order(mut placed: Vec<(usize, f64)>) -> Vec<f64> {
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::{Alpha, Row, benjamini_hochberg, holm, holm_of_testable};

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn known_adjustments() {
        let p = [0.01, 0.04, 0.03, 0.005];
        assert!(close(&holm(&p).unwrap(), &[0.03, 0.06, 0.06, 0.02]));
        assert!(close(&benjamini_hochberg(&p).unwrap(), &[0.02, 0.04, 0.04, 0.02]));
        assert_eq!((holm(&[]), benjamini_hochberg(&[])), (Some(vec![]), Some(vec![])));
        assert_eq!((holm(&[0.5, f64::NAN]), benjamini_hochberg(&[1.5])), (None, None));
    }

    #[test]
    fn rows_that_cannot_reach_alpha_leave_the_family() {
        let row = |p, smallest_p| Row { p, smallest_p };
        let rows = [row(0.004, 0.001), row(0.5, 0.125), row(1.0, 0.002), row(0.0625, 0.0625)];
        let family = holm_of_testable(&rows, Alpha::FIVE_PERCENT).unwrap();
        assert_eq!((family.size, family.adjusted), (2, vec![Some(0.008), None, Some(1.0), None]));
        let none = holm_of_testable(&[row(1.0, 1.0)], Alpha::FIVE_PERCENT).unwrap();
        assert_eq!((none.size, none.adjusted), (0, vec![None]));
        assert_eq!(holm_of_testable(&[row(0.1, f64::NAN)], Alpha::FIVE_PERCENT), None);
    }
}
