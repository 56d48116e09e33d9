use super::*;

fn sum(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    values.iter().for_each(|value| sum.add(*value));
    sum
}

fn encoded(sum: &ExactSum) -> Vec<u8> {
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
