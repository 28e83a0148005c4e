//! Student's t distribution. Source: the tail is an incomplete beta function (NIST DLMF 8.17, Abramowitz & Stegun 26.7.1); the quantile
//! is found from it by Newton's method between brackets.

use std::f64::consts::PI;

use super::beta::incomplete_beta;
use super::normal;
use super::stirling::ln_gamma;

/// P(|T| > |t|) with the given degrees of freedom; `None` for NaN or 0 degrees of freedom.
#[must_use]
pub fn two_sided(t: f64, degrees_of_freedom: u32) -> Option<f64> {
    if t.is_nan() || degrees_of_freedom == 0 {
        return None;
    }
    Some(2.0 * upper_tail(t.abs(), f64::from(degrees_of_freedom)))
}

/// t with P(T ≤ t) = p; `None` where p is not strictly between 0 and 1, or with 0 degrees of freedom.
#[must_use]
pub fn quantile(p: f64, degrees_of_freedom: u32) -> Option<f64> {
    if !(0.0 < p && p < 1.0) {
        return None;
    }
    if p < 0.5 {
        upper_quantile(p, degrees_of_freedom).map(|t| -t)
    } else {
        upper_quantile(1.0 - p, degrees_of_freedom)
    }
}

/// t ≥ 0 with P(T > t) = tail, for a tail in 0..=½ (0 excluded).
pub(super) fn upper_quantile(tail: f64, degrees_of_freedom: u32) -> Option<f64> {
    let df = f64::from(degrees_of_freedom);
    let t = match degrees_of_freedom {
        0 => return None,
        // The median: the cotangent of a rounded π/2 is not 0.
        _ if tail >= 0.5 => 0.0,
        1 => 1.0 / (PI * tail).tan(),
        2 => (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt(),
        _ => newton(tail, df),
    };
    t.is_finite().then(|| t.max(0.0))
}

/// P(T > t) for t ≥ 0.
fn upper_tail(t: f64, df: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    0.5 * incomplete_beta(df / 2.0, 0.5, df / (df + square), square / (df + square))
}

fn density(t: f64, df: f64) -> f64 {
    let half = df / 2.0;
    (ln_gamma(half + 0.5) - ln_gamma(half) - (half + 0.5) * (t * t / df).ln_1p()).exp() / (PI * df).sqrt()
}

fn newton(tail: f64, df: f64) -> f64 {
    const ENOUGH: u32 = 200;
    let mut low = 0.0;
    let mut high = f64::INFINITY;
    let mut t = expansion(tail, df);
    for _ in 0..ENOUGH {
        let surplus = upper_tail(t, df) - tail;
        if surplus >= 0.0 {
            low = t;
        } else {
            high = t;
        }
        let step = t + surplus / density(t, df);
        let next = if low < step && step < high {
            step
        } else if high.is_finite() {
            low + (high - low) / 2.0
        } else {
            2.0 * low + 1.0
        };
        if (next - t).abs() <= 4.0 * f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

/// A first guess: the leading terms of the expansion around the normal quantile (Abramowitz & Stegun 26.7.5).
fn expansion(tail: f64, df: f64) -> f64 {
    let z = normal::upper_quantile(tail).max(0.0);
    let cube = z * z * z;
    z + (cube + z) / (4.0 * df) + (5.0 * cube * z * z + 16.0 * cube + 3.0 * z) / (96.0 * df * df)
}

#[cfg(test)]
mod tests {
    use super::{quantile, two_sided};

    #[test]
    fn quantiles_known_to_all_digits() {
        for (p, df, t) in [
            (0.975, 1, 12.706_204_736_174_694),
            (0.975, 2, 4.302_652_729_749_464),
            (0.975, 4, 2.776_445_105_197_793_4),
            (0.975, 9, 2.262_157_162_798_205),
            (0.975, 48, 2.010_634_757_624_232),
        ] {
            let found = quantile(p, df).unwrap();
            assert!((found - t).abs() < 1e-12 * t, "{p} {df}: {found}");
        }
        assert_eq!(
            (quantile(0.5, 7), quantile(0.3, 0), quantile(1.0, 3), two_sided(1.0, 0)),
            (Some(0.0), None, None, None)
        );
    }

    #[test]
    fn tail_and_quantile_are_inverse_to_each_other() {
        for df in [1, 2, 3, 10, 100, 10_000, 1_000_000, u32::MAX] {
            for p in [1e-12, 1e-4, 0.01, 0.2, 0.49] {
                let back = two_sided(quantile(p, df).unwrap(), df).unwrap() / 2.0;
                assert!((back / p - 1.0).abs() < 1e-11, "{df} {p}: {back}");
            }
        }
    }
}
