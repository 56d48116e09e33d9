//! Student's t distribution for whole degrees of freedom, from square roots and the four operations alone, so that no platform
//! library decides a last bit.
//!
//! The probability outside ±t is the regularised incomplete beta function I_x(n/2, 1/2) at x = n / (n + t²) (Abramowitz and
//! Stegun 26.7.1 and 26.5.27); I is a continued fraction (DLMF 8.17.22) evaluated by the method of Lentz as modified by Thompson
//! and Barnett 1986.

use std::f64::consts::PI;

/// P(T ≤ t) for `df` degrees of freedom; NaN for 0 degrees or t = NaN.
pub fn t_cdf(t: f64, df: u32) -> f64 {
    let (outside, inside) = two_sided(t, df);
    match t {
        t if t < 0.0 => outside / 2.0,
        _ if inside < 0.5 => 0.5 + inside / 2.0,
        _ => 1.0 - outside / 2.0,
    }
}

/// P(|T| ≥ |t|) for `df` degrees of freedom, accurate in relative terms however small; NaN for 0 degrees or t = NaN.
pub fn t_two_sided_p(t: f64, df: u32) -> f64 {
    two_sided(t, df).0
}

/// The t with P(T ≤ t) = p for `df` degrees of freedom: −∞ for 0, +∞ for 1; NaN for 0 degrees or p outside [0, 1].
pub fn t_quantile(p: f64, df: u32) -> f64 {
    if df == 0 || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let sign = if p < 0.5 { -1.0 } else { 1.0 };
    let outside = 2.0 * p.min(1.0 - p);
    // Exact near the middle: p and 1/2 are within a factor of two.
    let inside = 2.0 * (p - 0.5).abs();
    if inside == 0.0 {
        return 0.0;
    }
    if outside == 0.0 {
        return sign * f64::INFINITY;
    }
    // Compared on the side that is small, which is the accurate one.
    let below = |t: f64| {
        let (at_outside, at_inside) = two_sided(t, df);
        if inside < 0.5 { at_inside < inside } else { at_outside > outside }
    };
    let (mut low, mut high) = (0.0, 1.0);
    while below(high) && high < f64::MAX / 2.0 {
        (low, high) = (high, high * 2.0);
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return sign * high;
        }
        if below(middle) { low = middle } else { high = middle }
    }
}

/// The probabilities outside and inside ±t; the smaller of the two is accurate in relative terms.
fn two_sided(t: f64, df: u32) -> (f64, f64) {
    if t.is_nan() || df == 0 {
        return (f64::NAN, f64::NAN);
    }
    let n = f64::from(df);
    let square = t * t;
    // x and 1 − x, each without cancellation.
    let outer = n / (n + square);
    let inner = 1.0 / (1.0 + n / square);
    if outer == 0.0 || inner == 0.0 {
        return if inner == 0.0 { (1.0, 0.0) } else { (0.0, 1.0) };
    }
    let front = half_power(outer, df) * inner.sqrt() / beta_half(df);
    let (a, b) = (n / 2.0, 0.5);
    // The continued fraction converges fast below the mean of the beta distribution.
    if outer < (a + 1.0) / (a + b + 2.0) {
        let outside = (front * continued_fraction(a, b, outer) / a).min(1.0);
        (outside, 1.0 - outside)
    } else {
        let inside = (front * continued_fraction(b, a, inner) / b).min(1.0);
        (1.0 - inside, inside)
    }
}

/// x^(n/2).
fn half_power(x: f64, n: u32) -> f64 {
    let mut power = if n % 2 == 1 { x.sqrt() } else { 1.0 };
    let (mut square, mut left) = (x, n / 2);
    while left > 0 {
        if left % 2 == 1 {
            power *= square;
        }
        square *= square;
        left /= 2;
    }
    power
}

/// B(n/2, 1/2), from B(1/2, 1/2) = π, B(1, 1/2) = 2 and B(a + 1, 1/2) = B(a, 1/2) · a / (a + 1/2).
fn beta_half(n: u32) -> f64 {
    let (first, mut beta) = if n % 2 == 1 { (1, PI) } else { (2, 2.0) };
    for twice_a in (first..n).step_by(2) {
        let a = f64::from(twice_a) / 2.0;
        beta *= a / (a + 0.5);
    }
    beta
}

/// The continued fraction of I_x(a, b).
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        fraction *= d * c;
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 2.0 * f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    // The numbers were computed by mpmath 1.4.1 with 50 digits and agree with scipy.stats.t of scipy 1.17.1, where that has an
    // answer, to 1e-13 (p = 0.499 and 0.50048828125: mpmath alone, scipy cancels there).

    #[rustfmt::skip]
    const CDF: [(f64, u32, f64); 12] = [
        (-12.5, 9, 2.717156590890326e-07), (-3.25, 9, 0.004998684542010783), (-1.0, 10, 0.17044656615102993),
        (-0.125, 11, 0.45138935905223476), (0.0, 12, 0.5), (0.5, 13, 0.6872843294593921),
        (2.0, 17, 0.9691306967349405), (4.5, 23, 0.9999190648298689), (-40.0, 31, 1.5090709622210272e-28),
        (-2.0, 31, 0.027163607683587852), (0.001, 31, 0.5003957384267518), (1.75, 1, 0.8347506594614321),
    ];

    #[rustfmt::skip]
    const TWO_SIDED: [(f64, u32, f64); 17] = [
        (1e-06, 9, 0.9999992239301823), (0.7, 9, 0.5016190392161451), (2.262, 9, 0.05001284550245463),
        (8.0, 9, 2.2134816809400155e-05), (50.0, 10, 2.47431032930268e-13), (1.3, 12, 0.2180171710835141),
        (3.0, 15, 0.008972737477223328), (-3.0, 15, 0.008972737477223328), (6.5, 20, 2.4554627877692713e-06),
        (2.1, 22, 0.04741769683174682), (25.0, 27, 3.325409818639882e-20), (1.0, 31, 0.32505273272353347),
        (2.04, 31, 0.049948660199164635), (10.0, 31, 3.204795491830886e-11), (1000.0, 31, 1.856356354612334e-71),
        (1e9, 31, 1.8572214923160092e-257), (2.5, 2, 0.1296117202215108),
    ];

    #[rustfmt::skip]
    const QUANTILE: [(f64, u32, f64); 20] = [
        (1e-300, 9, -5.1494410746007657e+33), (1e-20, 9, -398.69226035243577), (1e-06, 9, -10.7201604099095),
        (0.025, 9, -2.2621571627982053), (0.05, 10, -1.8124611228116765), (0.025, 10, -2.228138851986275),
        (0.005, 12, -3.054539589392902), (0.45, 14, -0.1279606847014247), (0.499, 16, -0.0025460790688340727),
        (0.50048828125, 18, 0.00124104884843705), (0.75, 20, 0.6869544964488035), (0.9, 22, 1.3212367416133617),
        (0.975, 25, 2.0595385527532972), (0.995, 27, 2.7706829571222116), (0.0005, 29, -3.659405019466333),
        (0.025, 31, -2.0395134463964086), (0.975, 31, 2.039513446396408), (1e-12, 31, -11.20020719288479),
        (0.25, 1, -1.0), (0.025, 30, -2.042272456301238),
    ];

    fn assert_close(found: f64, expected: f64, what: impl std::fmt::Debug) {
        assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{what:?}: {found} instead of {expected}");
    }

    #[test]
    fn probabilities_agree_with_an_independent_computation() {
        CDF.iter().for_each(|(t, df, p)| assert_close(t_cdf(*t, *df), *p, ("cdf", t, df)));
        TWO_SIDED.iter().for_each(|(t, df, p)| assert_close(t_two_sided_p(*t, *df), *p, ("two-sided", t, df)));
    }

    #[test]
    fn quantiles_agree_with_an_independent_computation() {
        QUANTILE.iter().for_each(|(p, df, t)| assert_close(t_quantile(*p, *df), *t, ("quantile", p, df)));
    }

    #[test]
    fn quantiles_invert_the_distribution() {
        for df in 1..=40 {
            for p in [1e-200, 1e-9, 0.001, 0.1, 0.25, 0.3, 0.4999, 0.5, 0.6, 0.75, 0.8, 0.99] {
                let t = t_quantile(p, df);
                if t.abs() < 1e150 {
                    assert_close(t_cdf(t, df), p, (p, df));
                }
                assert_eq!(t_quantile(1.0 - p, df), -t_quantile(1.0 - (1.0 - p), df));
            }
        }
    }

    #[test]
    fn ends_and_nonsense() {
        assert_eq!((t_quantile(0.0, 9), t_quantile(1.0, 9)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((t_cdf(f64::NEG_INFINITY, 9), t_cdf(f64::INFINITY, 9)), (0.0, 1.0));
        assert_eq!((t_two_sided_p(0.0, 9), t_two_sided_p(1e200, 9), t_two_sided_p(f64::INFINITY, 1)), (1.0, 0.0, 0.0));
        let nonsense = [t_quantile(-0.1, 9), t_quantile(1.1, 9), t_quantile(f64::NAN, 9), t_quantile(0.5, 0)];
        assert!(nonsense.iter().all(|t| t.is_nan()));
        assert!(t_cdf(f64::NAN, 9).is_nan() && t_cdf(1.0, 0).is_nan() && t_two_sided_p(1.0, 0).is_nan());
    }
}
