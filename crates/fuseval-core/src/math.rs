//! Logarithms and exponentials of many values at once, with the bits that the `libm` crate gives for each.
//!
//! The functions follow the algorithm of `libm` (fdlibm's) operation by operation, but choose by selection where it branches,
//! and work on exponents as integers in a way that every vector unit has, so that the compiler turns the loops into vector
//! instructions. What lies outside the range that needs no case of its own is left to `libm`.

use crate::simd::wide;

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const ONE: u64 = 1023 << 52;
const FRACTION: u64 = (1 << 52) - 1;
/// The high half of √½ in its place: what is reduced lies between it and √2.
const ROOT: u64 = 0x3fe6_a09e << 32;
/// 2^52: an integer below it in the low bits of this float is added to it.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// Values that are worked on together.
const BLOCK: usize = 64;

/// Replaces each value by its natural logarithm, `libm::log` of it.
pub fn ln_all(values: &mut [f64]) {
    all(values, ln, |x| (f64::MIN_POSITIVE..=f64::MAX).contains(&x), libm::log);
}

/// Replaces each value x by ln(1 + x), `libm::log1p` of it.
pub fn ln_1p_all(values: &mut [f64]) {
    all(values, ln_1p, |x| (x > -1.0) & (x < TWO_52), libm::log1p);
}

/// Replaces each value x by e^x, `libm::exp` of it.
pub fn exp_all(values: &mut [f64]) {
    all(values, exp, |x| x.abs() <= 708.0, libm::exp);
}

/// Replaces each value by the function of it: by `vector` in blocks of values for all of which it holds, elsewhere by
/// `scalar`, which has the same bits.
#[inline(always)]
fn all(values: &mut [f64], vector: impl Fn(f64) -> f64, holds: impl Fn(f64) -> bool, scalar: impl Fn(f64) -> f64) {
    for block in values.chunks_mut(BLOCK) {
        let all_hold = wide(
            #[inline(always)]
            |_| {
                let mut all_hold = true;
                for x in &*block {
                    all_hold &= holds(*x);
                }
                if all_hold {
                    for x in &mut *block {
                        *x = vector(*x);
                    }
                }
                all_hold
            },
        );
        if !all_hold {
            for x in block {
                *x = scalar(*x);
            }
        }
    }
}

/// The logarithm of a normal positive float.
#[inline(always)]
fn ln(x: f64) -> f64 {
    let (reduced, exponent) = reduced(x);
    ln_near_one(reduced - 1.0, exponent, exponent * LN2_LOW)
}

/// ln(1 + x) of x from above −1 to 2^52.
#[inline(always)]
fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    let (reduced, exponent) = reduced(sum);
    // What rounding took from 1 + x.
    let lost = select(exponent >= 2.0, 1.0 - (sum - x), x - (sum - 1.0));
    // Between √½ − 1 and √2 − 1, with the high half of these for the border, x is not reduced.
    let near = (x > f64::from_bits(0xbfd2_bec5 << 32)) & (x < f64::from_bits(0x3fda_827a << 32));
    let f = select(near, x, reduced - 1.0);
    let exponent = select(near, 0.0, exponent);
    let correction = select(near, 0.0, lost / sum);
    let far = ln_near_one(f, exponent, exponent * LN2_LOW + correction);
    select(x.abs() < f64::EPSILON / 2.0, x, far)
}

/// One of two values, both at hand: by a mask, since the compiler makes branches of some conditions, and then no vectors.
#[inline(always)]
fn select(condition: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
}

/// x as a number from √½ to √2 times a power of two, and its exponent.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    let shifted = x.to_bits().wrapping_add(ONE - ROOT);
    let exponent = f64::from_bits(TWO_52.to_bits() | shifted >> 52) - (TWO_52 + 1023.0);
    (f64::from_bits((shifted & FRACTION) + ROOT), exponent)
}

/// ln((1 + f) · 2^exponent); `low` is the low part of exponent · ln 2.
#[inline(always)]
fn ln_near_one(f: f64, exponent: f64, low: f64) -> f64 {
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (3.999_999_999_940_942e-1 + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd = z
        * (6.666_666_666_666_735e-1
            + w * (2.857_142_874_366_239e-1 + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1)));
    s * (half_square + (odd + even)) + low - half_square + f + exponent * LN2_HIGH
}

/// e^x of x from −708 to 708.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let magnitude = x.abs();
    // The nearest integer to x / ln 2, by truncation; `libm` has the border of 0 a little above ½ ln 2.
    let quotient = magnitude * std::f64::consts::LOG2_E + 0.5;
    let nearest = (quotient + TWO_52) - TWO_52;
    let truncated = nearest - select(nearest > quotient, 1.0, 0.0);
    let multiple = select(magnitude < f64::from_bits(0x3fd6_2e43 << 32), 0.0, truncated).copysign(x);
    let high = x - multiple * LN2_HIGH;
    let low = multiple * LN2_LOW;
    let rest = high - low;
    let square = rest * rest;
    let c = rest
        - square
            * (1.666_666_666_666_660_2e-1
                + square
                    * (-2.777_777_777_701_559_3e-3
                        + square
                            * (6.613_756_321_437_934e-5
                                + square * (-1.653_390_220_546_525_2e-6 + square * 4.138_136_797_057_238_5e-8))));
    let near = 1.0 + (rest * c / (2.0 - c) - low + high);
    // The exponent field of 2^multiple is what the integer has in its low bits.
    let power = f64::from_bits((multiple + (TWO_52 + 1023.0)).to_bits() << 52);
    let tiny = magnitude < f64::from_bits(0x3e30_0001 << 32);
    select(tiny, 1.0 + x, near * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::KeyedRng;
    use crate::simd::tests::in_each_form;

    /// A name, the function of many values, and that of one.
    type Case = (&'static str, fn(&mut [f64]), fn(f64) -> f64);
    const CASES: [Case; 3] =
        [("ln", ln_all, libm::log), ("ln_1p", ln_1p_all, libm::log1p), ("exp", exp_all, libm::exp)];

    fn same_bits(values: &[f64]) {
        for (name, many, one) in CASES {
            let in_each_form = in_each_form(|| {
                let mut results = values.to_vec();
                many(&mut results);
                results
            });
            for (x, result) in in_each_form.iter().flat_map(|results| values.iter().zip(results)) {
                assert!(
                    result.to_bits() == one(*x).to_bits() || result.is_nan() && one(*x).is_nan(),
                    "{name} of {x:e}"
                );
            }
        }
    }

    #[test]
    fn values_of_all_magnitudes_have_the_bits_of_libm() {
        let mut rng = KeyedRng::new(1, &["magnitudes"]);
        let any: Vec<f64> = (0..1 << 20).map(|_| f64::from_bits(rng.next_u64())).collect();
        same_bits(&any);
        // All signs and fractions, exponents 2^-40 to 2^12.
        let mut ordinary = || f64::from_bits(rng.next_u64() & (1 << 63 | FRACTION) | (983 + rng.below(52)) << 52);
        same_bits(&(0..1 << 21).map(|_| ordinary()).collect::<Vec<_>>());
        let unit: Vec<f64> = (0..1 << 20).map(|_| (rng.next_u64() >> 11) as f64 * libm::exp2(-53.0)).collect();
        same_bits(&unit);
        same_bits(&unit.iter().map(|x| -x).collect::<Vec<_>>());
    }

    #[test]
    fn values_next_to_the_borders_have_the_bits_of_libm() {
        let ln2 = std::f64::consts::LN_2;
        let root = std::f64::consts::SQRT_2;
        let mut centres = vec![0.0, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, 708.0, 708.396_418_532_264_1];
        centres.extend([
            709.782_712_893_384,
            745.133_219_101_941_1,
            1.0,
            root,
            root / 2.0,
            root - 1.0,
            1.0 - root / 2.0,
        ]);
        centres.extend((-1074..1024).map(|exponent| libm::exp2(f64::from(exponent))));
        centres.extend((0..2048).map(|half| f64::from(half) * ln2 / 2.0));
        let highs =
            [0x3fe6_a09e, 0x3ff6_a09e, 0x3fd2_bec4, 0x3fda_827a, 0x3fd6_2e42, 0x3ff0_a2b2, 0x3e30_0000, 0x3ca0_0000];
        centres.extend(highs.iter().flat_map(|high: &u64| [high << 32, (high << 32) + (1 << 32)]).map(f64::from_bits));
        let near = |centre: &f64| {
            let bits = centre.to_bits();
            (0..200).flat_map(move |step| [bits.wrapping_add(step), bits.wrapping_sub(step)])
        };
        let values: Vec<f64> = centres.iter().flat_map(near).map(f64::from_bits).collect();
        same_bits(&values);
        same_bits(&values.iter().map(|x| -x).collect::<Vec<_>>());
    }

    #[test]
    fn a_value_outside_the_range_leaves_its_neighbours_alone() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut values: Vec<f64> = (0..len).map(|i| f64::from(i) / 50.0 + 0.01).collect();
            values
                .iter_mut()
                .step_by(7)
                .zip([0.0, -0.0, f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY, 5e-324])
                .for_each(|(value, odd)| *value = odd);
            same_bits(&values);
        }
    }
}
