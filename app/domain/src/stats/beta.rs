//! The regularised incomplete beta function. Source: the continued fraction NIST DLMF 8.17.22, evaluated by Lentz's method; the
//! factor in front by Loader's parts (see `stirling`), which keeps its relative accuracy at counts of millions.

use std::f64::consts::PI;

use super::stirling::{deviance, stirling_error};

/// I_x(a, b) for a, b > 0, with y = 1 − x given apart, so that neither loses digits near 0. In 0..=1.
pub(super) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let value = if x * (a + b + 2.0) < a + 1.0 {
        front(a, b, x, y) * continued_fraction(a, b, x) / a
    } else {
        1.0 - front(b, a, y, x) * continued_fraction(b, a, y) / b
    };
    value.clamp(0.0, 1.0)
}

/// x^a y^b / B(a, b).
fn front(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let sum = a + b;
    let exponent =
        stirling_error(sum) - stirling_error(a) - stirling_error(b) - deviance(a, sum * x) - deviance(b, sum * y);
    (a / sum * b / (2.0 * PI)).sqrt() * exponent.exp()
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    /// Reached only beyond all counts that fit in memory; the fraction needs some √(a + b) steps.
    const MOST_STEPS: u32 = 1_000_000;
    let away_from_zero =
        |value: f64| if value.abs() < f64::MIN_POSITIVE * 1e8 { f64::MIN_POSITIVE * 1e8 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::incomplete_beta;

    #[test]
    fn agrees_with_closed_forms() {
        for x in [1e-9, 0.01, 0.3, 0.5, 0.77, 0.999_999] {
            for n in [1.0, 2.5, 40.0, 1e6] {
                let y = 1.0 - x;
                let power = f64::powf(x, n);
                assert!((incomplete_beta(n, 1.0, x, y) - power).abs() <= 1e-12 * power.max(1e-300), "x^{n} at {x}");
                let other = incomplete_beta(1.0, n, x, y);
                assert!((other + (n * (-x).ln_1p()).exp() - 1.0).abs() <= 1e-12, "1-(1-x)^{n} at {x}");
            }
        }
    }

    #[test]
    fn is_one_half_at_the_middle_of_a_symmetric_distribution() {
        for (a, tolerance) in [(0.5, 1e-14), (3.0, 1e-14), (1e3, 1e-13), (1e6, 1e-12), (1e9, 1e-10)] {
            assert!((incomplete_beta(a, a, 0.5, 0.5) - 0.5).abs() < tolerance, "{a}");
        }
    }
}
