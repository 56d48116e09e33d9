use super::*;
use crate::exact_sum::tests::{Kind, bytes_of_parts, encoded};
use crate::random::KeyedRng;
use crate::simd::tests::in_each_form;

/// What a function of many values has added, and the floats that it is to add, from the same weights and values.
type Case = (&'static str, fn(&mut ExactSum, &[f64], &[f64]), fn(f64, f64) -> Vec<f64>);

const CASES: [Case; 4] = [
    ("all", |sum, _, values| sum.add_all(values), |_, value| vec![value]),
    ("products", |sum, weights, values| sum.add_products(weights, values), product),
    ("squares", |sum, _, values| sum.add_squares(values), |_, value| product(value, value)),
    ("weighted squares", |sum, weights, values| sum.add_weighted_squares(weights, values), weighted_square),
];

fn product(a: f64, b: f64) -> Vec<f64> {
    let high = a * b;
    if high.is_finite() { vec![high, a.mul_add(b, -high)] } else { vec![high] }
}

fn weighted_square(weight: f64, value: f64) -> Vec<f64> {
    let square = value * value;
    let mut parts = product(weight, square);
    if square.is_finite() {
        parts.extend(product(weight, value.mul_add(value, -square)));
    }
    parts
}

fn same_bytes(weights: &[f64], values: &[f64], what: &str) {
    for (name, many, parts) in CASES {
        let one_by_one = bytes_of_parts(weights.iter().zip(values).flat_map(|(weight, value)| parts(*weight, *value)));
        let in_each_form = in_each_form(|| {
            let mut sum = ExactSum::new();
            many(&mut sum, weights, values);
            encoded(&sum)
        });
        for bytes in in_each_form {
            assert_eq!(bytes, one_by_one, "{name} of {} {what}", values.len());
        }
    }
}

#[test]
fn many_at_once_are_the_same_bytes_as_one_by_one() {
    let lengths = [0, 1, FEW - 1, FEW, 17, 255, 256, 257, 1000];
    for kind in Kind::ALL {
        for (round, len) in lengths.into_iter().cycle().take(120).enumerate() {
            let mut rng = KeyedRng::new(round as u64, &["blocks"]);
            let values = kind.values(&mut rng, len);
            let weights = Kind::ALL[rng.below(Kind::ALL.len() as u64) as usize].values(&mut rng, len);
            same_bytes(&weights, &values, &format!("{kind:?}"));
            same_bytes(&Kind::Unit.values(&mut rng, len), &values, &format!("{kind:?}, weights below 1"));
            same_bytes(&vec![1.0; len], &values, &format!("{kind:?}, weights 1"));
        }
    }
}

#[test]
fn one_odd_value_in_a_block_is_not_lost() {
    let tiny = f64::from_bits(1);
    let odd =
        [0.0, -0.0, tiny, -tiny, 1e-310, 1e-200, 1e-150, 1e150, 1e300, f64::MAX, f64::INFINITY, f64::NEG_INFINITY];
    let mut rng = KeyedRng::new(1, &["odd"]);
    for odd in odd.into_iter().chain([f64::NAN, -f64::MAX, power_of_two(900), power_of_two(-900), power_of_two(-500)]) {
        for at in [0, 3, 100, 255, 256, 299] {
            let mut values = Kind::Unit.values(&mut rng, 300);
            let mut weights = Kind::Unit.values(&mut rng, 300);
            values[at] = odd;
            same_bytes(&weights, &values, &format!("values with {odd:e}"));
            same_bytes(&values, &weights, &format!("weights with {odd:e}"));
            weights[at] = 0.0;
            same_bytes(&weights, &values, &format!("values with {odd:e} of weight 0"));
            same_bytes(
                &vec![0.0; 300],
                &[vec![0.0; at], vec![odd], vec![0.0; 299 - at]].concat(),
                "zeros and one other",
            );
        }
    }
}

#[test]
fn a_block_of_the_largest_magnitude_is_exact() {
    // All values just below a power of two, where the bound on the sum of a block is met.
    for value in [f64::from_bits(2f64.to_bits() - 1), -f64::from_bits(2f64.to_bits() - 1), 1.0, power_of_two(899)] {
        let values = vec![value; 3 * BLOCK];
        same_bytes(&values, &values, "equal values");
        let with_rests: Vec<f64> = values.iter().enumerate().map(|(i, v)| v * power_of_two(-(i as i64 % 60))).collect();
        same_bytes(&values, &with_rests, "falling values");
    }
}

#[test]
fn rests_of_half_a_place_are_exact() {
    // A place of the first sigma is 2^-50: odd halves of it round to even, and leave the largest rest, of either sign.
    for halves in [1.0, 3.0, 5.0, 7.0] {
        for sign in [1.0, -1.0] {
            let value = sign * (1.0 + halves * power_of_two(-51));
            for tiny in [0.0, power_of_two(-103), power_of_two(-104), power_of_two(-200)] {
                let mut values = vec![value; BLOCK];
                values.extend((0..BLOCK).map(|i| if i % 2 == 0 { value } else { tiny }));
                same_bytes(&vec![1.0; 2 * BLOCK], &values, "halves");
            }
        }
    }
}

#[test]
fn a_million_values_cancel_to_nothing() {
    let mut rng = KeyedRng::new(1, &["cancel"]);
    let values = Kind::Wide.values(&mut rng, 1 << 20);
    let weights = Kind::Unit.values(&mut rng, 1 << 20);
    let negative: Vec<f64> = values.iter().rev().map(|value| -value).collect();
    let mut sum = ExactSum::new();
    sum.add_all(&values);
    sum.add_products(&weights, &values);
    assert_ne!(sum.value(), 0.0);
    sum.add_all(&negative);
    sum.add_products(&weights.iter().rev().copied().collect::<Vec<_>>(), &negative);
    assert_eq!(encoded(&sum), encoded(&ExactSum::new()));
}

#[test]
fn the_shorter_slice_decides() {
    let values = vec![0.3; 600];
    for (weights, values) in [(&values[..300], &values[..]), (&values[..], &values[..300]), (&values[..], &values[..0])]
    {
        let len = weights.len().min(values.len());
        for (name, many, _) in CASES.iter().filter(|(name, ..)| ["products", "weighted squares"].contains(name)) {
            let (mut uneven, mut even) = (ExactSum::new(), ExactSum::new());
            many(&mut uneven, weights, values);
            many(&mut even, &weights[..len], &values[..len]);
            assert_eq!(encoded(&uneven), encoded(&even), "{name}");
        }
    }
}
