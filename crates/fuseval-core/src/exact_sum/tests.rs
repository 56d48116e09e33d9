use super::*;
use crate::random::KeyedRng;

/// Kinds of values that sums are made of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Probabilities.
    Unit,
    /// Their logarithms.
    Logarithm,
    /// Floats of 32 bits, of both signs.
    Single,
    /// Whole numbers, many of them 0.
    Count,
    /// Both signs, 2^-60 to 2^60.
    Wide,
    /// Both signs, 2^-500 to 2^500.
    VeryWide,
    /// From the lowest to the highest bit of the usual window, and somewhat beyond.
    Window,
    /// Below the smallest normal float, and somewhat above.
    Subnormal,
    /// Each finite bit pattern.
    Finite,
    /// Each bit pattern, with infinities and NaN.
    Any,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Unit,
        Self::Logarithm,
        Self::Single,
        Self::Count,
        Self::Wide,
        Self::VeryWide,
        Self::Window,
        Self::Subnormal,
        Self::Finite,
        Self::Any,
    ];

    pub(super) fn values(self, rng: &mut KeyedRng, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.value(rng)).collect()
    }

    fn value(self, rng: &mut KeyedRng) -> f64 {
        // Any sign and fraction, and an exponent from `least` on.
        let scaled = |rng: &mut KeyedRng, least: i64, extent: u64| {
            let exponent = (1023 + least) as u64 + rng.below(extent);
            f64::from_bits(rng.next_u64() & !(0x7ff << 52) | exponent << 52)
        };
        match self {
            Self::Unit => (rng.next_u64() >> 11) as f64 * libm::exp2(-53.0),
            Self::Logarithm => -libm::log(1e-9 + Self::Unit.value(rng)),
            Self::Single => f64::from((Self::Unit.value(rng) * 16.0 - 8.0) as f32),
            Self::Count => rng.below(7).saturating_sub(3) as f64,
            Self::Wide => scaled(rng, -60, 121),
            Self::VeryWide => scaled(rng, -500, 1001),
            Self::Window => scaled(rng, -150, 200),
            Self::Subnormal => scaled(rng, -1023, 3),
            Self::Finite => scaled(rng, -1023, 2047),
            Self::Any => f64::from_bits(rng.next_u64() | if rng.below(100) == 0 { 0x7ff << 52 } else { 0 }),
        }
    }
}

/// The bytes of the sum of values that were added one by one in the wide form: what all other ways are compared to.
pub(super) fn bytes_of_parts(values: impl Iterator<Item = f64>) -> Vec<u8> {
    let mut wide = Wide::default();
    values.for_each(|value| wide.add(value));
    encoded(&ExactSum { form: Form::Wide(Box::new(wide)) })
}

fn is_narrow(sum: &ExactSum) -> bool {
    matches!(sum.form, Form::Narrow(_))
}

fn sum(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    values.iter().for_each(|value| sum.add(*value));
    sum
}

pub(super) fn encoded(sum: &ExactSum) -> Vec<u8> {
    let mut out = Writer::new();
    sum.encode(&mut out);
    out.into_bytes()
}

#[test]
fn one_value_comes_back_unchanged() {
    let tiny = f64::from_bits(1);
    let values =
        [0.0, 1.0, -1.5, 0.1, 1e308, -f64::MAX, f64::MIN_POSITIVE, tiny, -tiny, f64::MIN_POSITIVE - tiny, 3e-310];
    for value in values {
        assert_eq!(sum(&[value]).value(), value);
    }
}

#[test]
fn cancellation_leaves_the_small_part() {
    assert_eq!(sum(&[1e308, 1.0, -1e308]).value(), 1.0);
    assert_eq!(sum(&[1e16, 1.0, 1.0, -1e16]).value(), 2.0);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 1e-300]).value(), 1e-300);
}

#[test]
fn rounds_half_to_even() {
    let two53 = 9_007_199_254_740_992.0;
    assert_eq!(sum(&[two53, 1.0]).value(), two53);
    assert_eq!(sum(&[two53 + 2.0, 1.0]).value(), two53 + 4.0);
    assert_eq!(sum(&[two53, 1.0, 1e-300]).value(), two53 + 2.0);
    assert_eq!(sum(&[-two53, -1.0, -1e-300]).value(), -two53 - 2.0);
}

#[test]
fn overflow_is_infinite_and_specials_follow_ieee() {
    assert_eq!(sum(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
    assert_eq!(sum(&[f64::NEG_INFINITY, 1.0]).value(), f64::NEG_INFINITY);
    assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).value().is_nan());
    assert!(sum(&[f64::NAN]).value().is_nan());
}

#[test]
fn a_product_enters_unrounded() {
    let mut exact = ExactSum::new();
    exact.add_product(0.1, 0.1);
    exact.add(-(0.1 * 0.1));
    assert_eq!(exact.value(), 0.1f64.mul_add(0.1, -(0.1 * 0.1)));
    assert_ne!(exact.value(), 0.0);
}

#[test]
fn order_and_grouping_change_no_byte() {
    let values: Vec<f64> =
        (0..500).map(|i: i32| f64::from(i * 7919 % 613 - 300) * libm::pow(10.0, f64::from(i % 41 - 20))).collect();
    let forward = sum(&values);
    let mut reversed = values.clone();
    reversed.reverse();
    let mut grouped = ExactSum::new();
    for chunk in values.chunks(7) {
        grouped.merge(&sum(chunk));
    }
    assert_eq!(encoded(&forward), encoded(&sum(&reversed)));
    assert_eq!(encoded(&forward), encoded(&grouped));
}

#[test]
fn carries_survive_their_limit() {
    let mut total = sum(&[0.1]);
    for _ in 0..40 {
        let copy = total.clone();
        total.merge(&copy);
    }
    assert_eq!(total.value(), 0.1 * libm::exp2(40.0));
    let mut negative = sum(&[-3.7e200, 1e-3]);
    for _ in 0..40 {
        let copy = negative.clone();
        negative.merge(&copy);
    }
    negative.add(3.7e200 * libm::exp2(40.0));
    assert_eq!(negative.value(), 1e-3 * libm::exp2(40.0));
}

#[test]
fn bytes_round_trip_and_other_forms_are_refused() {
    for values in [&[][..], &[0.1, 1e300, -7.0], &[-1e-320], &[1.0, -1.0], &[f64::NAN, 2.0]] {
        let bytes = encoded(&sum(values));
        let back = ExactSum::decode(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(encoded(&back), bytes);
    }
    for bytes in [&[8, 0, 0, 0][..], &[0, 1, 0, 0], &[0, 0, 60, 9], &[0, 0, 0, 1, 0, 0, 0, 0], &[0, 0, 0, 1, 1]] {
        assert!(ExactSum::decode(&mut Reader::new(bytes)).is_err());
    }
}

#[test]
fn both_forms_have_the_same_bytes() {
    for kind in Kind::ALL {
        for round in 0..200 {
            let mut rng = KeyedRng::new(round, &["forms"]);
            let len = rng.below(60) as usize;
            let mut values = kind.values(&mut rng, len);
            if round % 4 == 0 {
                values.extend(values.clone().iter().rev().map(|value| -value));
            }
            assert_eq!(encoded(&sum(&values)), bytes_of_parts(values.iter().copied()), "{kind:?}, round {round}");
        }
    }
}

#[test]
fn sums_of_parts_have_the_same_bytes_however_they_are_merged() {
    for round in 0..2000 {
        let mut rng = KeyedRng::new(round, &["merge"]);
        let mut kind = || Kind::ALL[rng.below(Kind::ALL.len() as u64) as usize];
        let kinds = [kind(), kind()];
        let mut values = Vec::new();
        let mut sums = Vec::new();
        for _ in 0..8 {
            let kind = kinds[rng.below(2) as usize];
            let len = rng.below(20) as usize;
            let part = kind.values(&mut rng, len);
            sums.push(sum(&part));
            values.extend(part);
        }
        while sums.len() > 1 {
            let other = sums.swap_remove(rng.below(sums.len() as u64) as usize);
            let at = rng.below(sums.len() as u64) as usize;
            sums[at].merge(&other);
            if rng.below(2) == 0 {
                sums[at] = ExactSum::decode(&mut Reader::new(&encoded(&sums[at]))).unwrap();
            }
        }
        assert_eq!(encoded(&sums[0]), bytes_of_parts(values.into_iter()), "round {round}, {kinds:?}");
    }
}

#[test]
fn a_million_additions_have_the_same_bytes_in_both_forms() {
    for kind in [Kind::Logarithm, Kind::Wide, Kind::Window] {
        let values = kind.values(&mut KeyedRng::new(1, &["million"]), 1 << 20);
        assert_eq!(encoded(&sum(&values)), bytes_of_parts(values.into_iter()), "{kind:?}");
    }
    // Out of the top of the window, of either sign.
    for value in [libm::exp2(43.0), -libm::exp2(43.0), 1e30, libm::exp2(-100.0)] {
        let mut total = sum(&[value * libm::exp2(-60.0), value]);
        for _ in 0..200 {
            let copy = total.clone();
            total.merge(&copy);
        }
        let bytes = encoded(&total);
        let mut wide = Wide::default();
        wide.add(value * libm::exp2(140.0));
        wide.add(value * libm::exp2(200.0));
        assert_eq!(bytes, encoded(&ExactSum { form: Form::Wide(Box::new(wide)) }));
    }
}

#[test]
fn ordinary_data_stay_within_32_bytes() {
    assert_eq!(size_of::<ExactSum>(), 32);
    let mut rng = KeyedRng::new(1, &["ordinary"]);
    let mut total = ExactSum::new();
    let mut one_kind = Kind::ALL.map(|_| ExactSum::new());
    for (kind, alone) in [Kind::Unit, Kind::Logarithm, Kind::Single, Kind::Count].into_iter().zip(&mut one_kind) {
        let values = kind.values(&mut rng, 100_000);
        let weights: Vec<f64> = Kind::Unit.values(&mut rng, 100_000).iter().map(|weight| 1e-9 + weight).collect();
        for sum in [&mut total, alone] {
            values.iter().zip(&weights).for_each(|(value, weight)| sum.add_product(*weight, *value));
            sum.add_all(&values);
            sum.add_products(&weights, &values);
            sum.add(1e12);
            sum.add(1e-9);
        }
        assert!(is_narrow(alone), "{kind:?}");
        let back = ExactSum::decode(&mut Reader::new(&encoded(alone))).unwrap();
        assert!(is_narrow(&back), "{kind:?}");
        total.merge(&back);
    }
    assert!(is_narrow(&total));
    // Other magnitudes have their own window.
    for scale in [1e-300, 1e-30, 1e30, 1e290] {
        assert!(is_narrow(&sum(&[scale, -3.7 * scale, 0.0, 1e-12 * scale, 1e6 * scale])), "{scale:e}");
    }
    assert!(!is_narrow(&sum(&[1e30, 1e-30])));
}

#[test]
fn a_sum_is_rounded_to_the_nearest_float() {
    for kind in Kind::ALL {
        for round in 0..500 {
            let mut rng = KeyedRng::new(round, &["rounding"]);
            let len = 1 + rng.below(4) as usize;
            let sum = sum(&kind.values(&mut rng, len));
            let bytes = encoded(&sum);
            if bytes[0] == 0 {
                assert_eq!(sum.value().to_bits(), rounded_bit_by_bit(&bytes).to_bits(), "{kind:?}, round {round}");
            }
        }
    }
}

/// The value of canonical bytes, with each bit looked at alone.
fn rounded_bit_by_bit(bytes: &[u8]) -> f64 {
    let low = 32 * usize::from(bytes[2]);
    let bit = |index: usize| {
        let at = index.checked_sub(low).filter(|at| at / 8 + 4 < bytes.len());
        at.is_some_and(|at| bytes[4 + at / 8] >> (at % 8) & 1 == 1)
    };
    let Some(highest) = (0..low + 8 * bytes.len()).rev().find(|index| bit(*index)) else { return 0.0 };
    let shift = highest.saturating_sub(52);
    let mantissa = (shift..=highest).rev().fold(0u64, |acc, index| acc << 1 | u64::from(bit(index)));
    let mut bits = mantissa;
    if shift > 0 {
        bits += (shift as u64) << 52;
        let half = bit(shift - 1);
        let below = half && (low..shift - 1).any(bit);
        bits += u64::from(half && (below || mantissa & 1 == 1));
    }
    let magnitude = f64::from_bits(bits.min(f64::INFINITY.to_bits()));
    if bytes[1] == 1 { -magnitude } else { magnitude }
}
