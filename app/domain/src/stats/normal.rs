//! The standard normal distribution. Sources: the quantile is M. J. Wichura's algorithm AS 241 (PPND16, Applied Statistics 37, 1988);
//! the tail is the series NIST DLMF 7.6.2 near the middle and the continued fraction 7.9.2 beyond.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// P(Z > z); exact to some 1e-15 of itself. 0 beyond all numbers; `None` for NaN.
#[must_use]
pub fn upper_tail(z: f64) -> Option<f64> {
    if z.is_nan() {
        return None;
    }
    let half = half_erfc(z.abs() * FRAC_1_SQRT_2);
    Some(if z >= 0.0 { half } else { 1.0 - half })
}

/// z with P(Z ≤ z) = p; `None` where p is not strictly between 0 and 1.
#[must_use]
pub fn quantile(p: f64) -> Option<f64> {
    (0.0 < p && p < 1.0).then(|| lower_quantile(p))
}

/// z with P(Z > z) = tail, for a tail strictly between 0 and 1.
pub(super) fn upper_quantile(tail: f64) -> f64 {
    -lower_quantile(tail)
}

/// erfc(x) / 2 for x ≥ 0.
fn half_erfc(x: f64) -> f64 {
    if x < 2.0 {
        let mut term = x;
        let mut sum = x;
        for n in 1..200_u32 {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
            if term <= sum * f64::EPSILON / 4.0 {
                break;
            }
        }
        return 0.5 - sum * (-x * x).exp() / PI.sqrt();
    }
    let fraction = (1..=60_u32).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() / PI.sqrt() / fraction / 2.0
}

fn lower_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * rational(&CENTRE, 0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let z = if r <= 5.0 { rational(&TAIL, r - 1.6) } else { rational(&FAR_TAIL, r - 5.0) };
    if q < 0.0 { -z } else { z }
}

/// Numerator and denominator, highest power first.
type Rational = [[f64; 8]; 2];

fn rational([numerator, denominator]: &Rational, x: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient);
    polynomial(numerator) / polynomial(denominator)
}

const CENTRE: Rational = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];

const TAIL: Rational = [
    [
        7.745_450_142_783_414e-4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

const FAR_TAIL: Rational = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_887_9,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::{quantile, upper_tail};

    #[test]
    fn quantiles_known_to_all_digits() {
        for (p, z) in [
            (0.975, 1.959_963_984_540_054),
            (0.95, 1.644_853_626_951_472_2),
            (0.8, 0.841_621_233_572_914_3),
            (0.9, 1.281_551_565_544_600_4),
            (0.5, 0.0),
        ] {
            assert!((quantile(p).unwrap() - z).abs() < 1e-14, "{p}");
        }
        assert_eq!((quantile(0.0), quantile(1.0), quantile(f64::NAN)), (None, None, None));
    }

    #[test]
    fn tail_and_quantile_are_inverse_to_each_other() {
        for p in [1e-300, 1e-40, 1e-12, 1e-6, 0.01, 0.074, 0.076, 0.2, 0.49, 0.6, 0.93, 0.999] {
            let back = upper_tail(-quantile(p).unwrap()).unwrap();
            assert!((back / p - 1.0).abs() < 1e-12, "{p}: {back}");
        }
        assert_eq!(
            (upper_tail(f64::NAN), upper_tail(f64::INFINITY), upper_tail(f64::NEG_INFINITY)),
            (None, Some(0.0), Some(1.0))
        );
    }
}
