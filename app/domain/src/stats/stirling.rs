//! What is left of log-gamma after Stirling's formula, and the deviance: the two parts from which binomial and beta terms can be
//! made without cancellation at any size. Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000);
//! the series is NIST DLMF 5.11.1.

use std::f64::consts::PI;

/// From here on seven terms of the series are exact to the last bit.
const SERIES_FROM: f64 = 16.0;

/// ln Γ(z) − ((z − ½) ln z − z + ½ ln 2π), for z > 0.
pub(super) fn stirling_error(z: f64) -> f64 {
    if z >= SERIES_FROM { series(z) } else { ln_gamma(z) - leading(z) }
}

/// ln Γ(z), for z > 0.
pub(super) fn ln_gamma(z: f64) -> f64 {
    let mut product = 1.0;
    let mut shifted = z;
    while shifted < SERIES_FROM {
        product *= shifted;
        shifted += 1.0;
    }
    leading(shifted) + series(shifted) - f64::ln(product)
}

/// x ln(x/m) + m − x, for x ≥ 0 and m > 0: 0 where x = m, and never negative.
pub(super) fn deviance(x: f64, m: f64) -> f64 {
    if x == 0.0 {
        return m;
    }
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for j in 1..1000_u32 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

fn leading(z: f64) -> f64 {
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * PI).ln()
}

fn series(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 7] =
        [1.0 / 156.0, -691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    let inverse_square = 1.0 / (z * z);
    COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * inverse_square + coefficient) / z
}

#[cfg(test)]
mod tests {
    use super::{PI, deviance, ln_gamma, stirling_error};

    #[test]
    fn log_gamma_is_exact_at_known_points() {
        for (z, expected) in [
            (0.5, PI.sqrt().ln()),
            (1.0, 0.0),
            (2.0, 0.0),
            (5.0, 24.0_f64.ln()),
            (10.5, 13.940_625_219_403_763),
            (100.0, 359.134_205_369_575_4),
            (1e6, 12_815_504.569_147_77),
        ] {
            assert!((ln_gamma(z) - expected).abs() <= 1e-14 * (1.0 + expected.abs()) * 4.0, "{z}: {}", ln_gamma(z));
        }
    }

    #[test]
    fn stirling_error_is_continuous_where_the_series_begins() {
        let (below, above) = (stirling_error(16.0 - 1e-12), stirling_error(16.0));
        assert!((below - above).abs() < 1e-13, "{below} {above}");
    }

    #[test]
    fn deviance_is_continuous_where_its_series_ends() {
        let m = 100.0;
        for x in [m * 1.1 / 0.9, m * 0.9 / 1.1] {
            let (inside, outside) = (deviance(x * (1.0 - 1e-13), m), deviance(x * (1.0 + 1e-13), m));
            assert!((inside - outside).abs() < 1e-10, "{x}: {inside} {outside}");
        }
        assert_eq!((deviance(7.0, 7.0), deviance(0.0, 3.0)), (0.0, 3.0));
    }
}
