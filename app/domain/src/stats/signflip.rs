//! The sign-flip (paired permutation) test of task differences (F4): under "the skill does nothing" each task's difference is as likely as its
//! negative. Source: R. A. Fisher, The Design of Experiments (1935) §21. With differences in −1, 0, 1 it is McNemar's exact test.

use serde::{Deserialize, Serialize};

use super::normal;
use super::rng::SplitMix64;
use super::task_means::gcd;

/// Two sums closer than this (as a share of the largest difference) are equal.
const TOLERANCE: f64 = 1e-12;
/// Sign vectors drawn where they cannot be counted.
const DRAWS: u32 = 100_000;
/// Fixed, so that the same data always give the same p.
const SEED: u64 = 20_260_101;

/// A two-sided p and how it was had.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignFlip {
    /// In 0..=1.
    pub p: f64,
    /// How.
    pub method: SignFlipMethod,
}

/// How the distribution of the sign-flipped sum was had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignFlipMethod {
    /// All sign vectors counted.
    Exact,
    /// 100,000 vectors drawn with a fixed seed, p = (hits + 1)/(draws + 1).
    Drawn,
    /// Normal approximation, for thousands of tasks.
    Normal,
}

/// The test of differences (with − without), one for each task; `None` where there is none or one is not finite.
#[must_use]
pub fn sign_flip(differences: &[f64]) -> Option<SignFlip> {
    if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    Some(match as_lattice(differences) {
        Some(numerators) => of_numerators(&numerators),
        None => of_reals(differences),
    })
}

/// The test of differences that are whole multiples of one unit.
#[must_use]
pub fn of_numerators(numerators: &[i64]) -> SignFlip {
    match counted(numerators) {
        Some(p) => SignFlip { p, method: SignFlipMethod::Exact },
        None => of_reals(&numerators.iter().map(|numerator| *numerator as f64).collect::<Vec<f64>>()),
    }
}

/// Finds a unit 1/L, L ≤ 1000, of which all differences are whole multiples: shares of repeats, rewards with up to three decimals.
fn as_lattice(differences: &[f64]) -> Option<Vec<i64>> {
    const FINEST: u32 = 1000;
    const LARGEST: f64 = 1e9;
    let fits = |unit: f64| {
        differences.iter().all(|difference| {
            let multiple = difference * unit;
            multiple.abs() < LARGEST && (multiple - multiple.round()).abs() < 1e-9
        })
    };
    let unit = (1..=FINEST).map(f64::from).find(|unit| fits(*unit))?;
    Some(differences.iter().map(|difference| (difference * unit).round() as i64).collect())
}

/// Exact p by convolution on the lattice; `None` where that would take too long.
///
/// With T the sum of the magnitudes that get a plus and M the sum of all, the flipped sum is 2T − M, so by symmetry
/// p = 2 P[T ≤ (M − |S|)/2] for an observed S ≠ 0.
fn counted(numerators: &[i64]) -> Option<f64> {
    const MOST_STEPS: u128 = 50_000_000;
    let unit = numerators.iter().fold(0, |unit, numerator| gcd(unit, numerator.unsigned_abs()));
    let observed: i128 = numerators.iter().map(|numerator| i128::from(*numerator)).sum();
    if unit == 0 || observed == 0 {
        return Some(1.0);
    }
    let mut magnitudes: Vec<u64> = numerators
        .iter()
        .filter(|numerator| **numerator != 0)
        .map(|numerator| numerator.unsigned_abs() / unit)
        .collect();
    magnitudes.sort_unstable();
    let all: u128 = magnitudes.iter().map(|magnitude| u128::from(*magnitude)).sum();
    let cells = all.saturating_sub(observed.unsigned_abs() / u128::from(unit)) / 2 + 1;
    if cells.saturating_mul(magnitudes.len() as u128) > MOST_STEPS {
        return None;
    }
    Some((2.0 * lower_tail(&magnitudes, usize::try_from(cells).ok()?)).min(1.0))
}

/// P[T < cells].
fn lower_tail(magnitudes: &[u64], cells: usize) -> f64 {
    let mut mass = vec![1.0];
    for magnitude in magnitudes {
        let shift = usize::try_from(*magnitude).unwrap_or(usize::MAX).min(cells);
        let kept = mass.iter().copied().chain(std::iter::repeat_n(0.0, shift));
        let moved = std::iter::repeat_n(0.0, shift).chain(mass.iter().copied());
        mass = kept.zip(moved).take(cells).map(|(kept, moved)| (kept + moved) / 2.0).collect();
    }
    mass.iter().sum()
}

fn of_reals(differences: &[f64]) -> SignFlip {
    const MOST_ENUMERATED: usize = 22;
    const MOST_DRAWN: usize = 2000;
    let largest = differences.iter().fold(0.0_f64, |largest, difference| largest.max(difference.abs()));
    let scaled: Vec<f64> =
        differences.iter().filter(|difference| **difference != 0.0).map(|difference| difference / largest).collect();
    let observed = scaled.iter().sum::<f64>().abs();
    if observed <= TOLERANCE {
        return SignFlip { p: 1.0, method: SignFlipMethod::Exact };
    }
    if scaled.len() <= MOST_ENUMERATED {
        SignFlip { p: enumerated(&scaled, observed), method: SignFlipMethod::Exact }
    } else if scaled.len() <= MOST_DRAWN {
        SignFlip { p: drawn(&scaled, observed), method: SignFlipMethod::Drawn }
    } else {
        SignFlip { p: approximated(&scaled, observed), method: SignFlipMethod::Normal }
    }
}

/// All sign vectors, as sums of one half's and the other half's.
fn enumerated(differences: &[f64], observed: f64) -> f64 {
    let (left, right) = differences.split_at(differences.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    let extreme = |sum: f64| sum.abs() >= observed - TOLERANCE;
    let hits: usize = left.iter().map(|a| right.iter().filter(|b| extreme(a + **b)).count()).sum();
    hits as f64 / (left.len() * right.len()) as f64
}

fn signed_sums(differences: &[f64]) -> Vec<f64> {
    differences
        .iter()
        .fold(vec![0.0], |sums, difference| sums.iter().flat_map(|sum| [sum + difference, sum - difference]).collect())
}

fn drawn(differences: &[f64], observed: f64) -> f64 {
    let mut generator = SplitMix64::new(SEED);
    let mut hits = 0_u32;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for block in differences.chunks(64) {
            let mut bits = generator.next_u64();
            for difference in block {
                sum += if bits & 1 == 0 { *difference } else { -difference };
                bits >>= 1;
            }
        }
        hits += u32::from(f64::abs(sum) >= observed - TOLERANCE);
    }
    (f64::from(hits) + 1.0) / (f64::from(DRAWS) + 1.0)
}

fn approximated(differences: &[f64], observed: f64) -> f64 {
    let variance: f64 = differences.iter().map(|difference| difference * difference).sum();
    normal::upper_tail(observed / variance.sqrt()).map_or(1.0, |tail| (2.0 * tail).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::mcnemar;
    use super::{SignFlipMethod, approximated, drawn, enumerated, of_numerators, sign_flip};

    #[test]
    fn known_p_values() {
        for (differences, p) in [
            (vec![0.3, 0.1, 0.0, 0.2], 0.25),
            (vec![1.0, 1.0, 1.0, 0.0, -1.0], 0.625),
            (vec![0.0, 0.0, 0.0], 1.0),
            (vec![1.0; 6], 0.031_25),
            (vec![0.25, -0.25, 0.5, 0.75, 0.0, 0.5, -0.25, 1.0], 0.140_625),
            (vec![std::f64::consts::FRAC_1_PI, 0.1, 0.2], 0.25),
        ] {
            let found = sign_flip(&differences).unwrap();
            assert!((found.p - p).abs() < 1e-12 && found.method == SignFlipMethod::Exact, "{differences:?}: {found:?}");
        }
        assert_eq!((sign_flip(&[]), sign_flip(&[0.5, f64::NAN])), (None, None));
    }

    #[test]
    fn is_mcnemars_test_on_single_pairs() {
        for (rescued, broken) in [(0, 1), (3, 3), (12, 3), (40, 25), (100, 130)] {
            let numerators: Vec<i64> =
                std::iter::repeat_n(1, rescued as usize).chain(std::iter::repeat_n(-1, broken as usize)).collect();
            let (flip, exact) = (of_numerators(&numerators).p, mcnemar::exact(rescued, broken));
            assert!((flip - exact).abs() < 1e-12, "{rescued} {broken}: {flip} {exact}");
        }
    }

    #[test]
    fn all_ways_of_counting_agree() {
        let numerators: Vec<i64> = (0..20).map(|i| (i * 7) % 11 - 4).collect();
        let exact = of_numerators(&numerators).p;
        let scaled: Vec<f64> = numerators.iter().map(|numerator| *numerator as f64 / 6.0).collect();
        let observed = scaled.iter().sum::<f64>().abs();
        assert!((enumerated(&scaled, observed) - exact).abs() < 1e-12);
        assert!((drawn(&scaled, observed) - exact).abs() < 4.0 * (exact / 1e5).sqrt());
        assert!((approximated(&scaled, observed) - exact).abs() < 0.05);
    }

    #[test]
    fn thousands_of_tasks_are_answered_by_approximation() {
        let numerators: Vec<i64> = (0..100_000).map(|i| i64::from(i % 3 == 0) * 5 - 2).collect();
        let found = of_numerators(&numerators);
        assert_eq!(found.method, SignFlipMethod::Normal);
        assert!(found.p < 1e-12, "{found:?}");
    }
}
