//! Adding many values at once: exact, and in loops that the compiler turns into vector instructions.
//!
//! A block of values is added in whole numbers. Adding sigma to a value rounds the value to a multiple of sigma's last place;
//! how many places it is, the bits of that sum say. Taking sigma away again leaves the rounded value, and the value less that
//! a rest, which is exact (Rump, Ogita, Oishi: Accurate Floating-Point Summation, 2008). The rests are added likewise with a
//! second sigma, and what is then left, if anything, value by value. Since nothing is lost, neither is anything by the order
//! of the lanes.
//!
//! ```text
//!   sigma    1.5 · 2^k for values of at most 2^(k − 1): with one of them it is at least 2^k and at most 2^(k + 1)
//!   place    2^(k − 52), the distance of all floats there, so that the difference of their bits is one of places
//!   places   at most 2^51 for a value, 2^59 for a block
//!   rest     at most half a place, 2^(k − 53): the second sigma is 2^52 times smaller, and its place 2^(k − 104)
//! ```

use super::ExactSum;
use crate::simd::{Machine, wide};

const BLOCK: usize = 256;
/// Fewer values are added one by one, which is faster then.
const FEW: usize = 12;
/// Blocks with a magnitude from here on, or a NaN, are added value by value: for them sigma could not be a float.
const MOST: u64 = power_of_two(900).to_bits();
/// From this magnitude on no part of a product falls below the smallest float.
const LEAST: f64 = power_of_two(-900);
const MAGNITUDE: u64 = u64::MAX >> 1;
const FRACTION_BITS: u64 = 52;

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << FRACTION_BITS)
}

impl ExactSum {
    /// Adds all values: the same sum as [`ExactSum::add`] makes of them one by one, only faster.
    pub fn add_all(&mut self, values: &[f64]) {
        for block in values.chunks(BLOCK) {
            let values = block.iter().copied();
            let parts = if block.len() < FEW {
                None
            } else {
                wide(
                    #[inline(always)]
                    |_| Parts::of(values.clone()),
                )
            };
            match parts {
                Some(parts) => self.add_parts(parts, values),
                None => values.for_each(|value| self.add(value)),
            }
        }
    }

    /// Adds `weight · value` of each place: the same sum as [`ExactSum::add_product`] makes of them one by one, only faster.
    /// The shorter slice decides how many there are.
    pub fn add_products(&mut self, weights: &[f64], values: &[f64]) {
        for (weights, values) in weights.chunks(BLOCK).zip(values.chunks(BLOCK)) {
            self.add_products_of(weights.iter().zip(values).map(|(weight, value)| (*weight, *value)));
        }
    }

    /// Adds the square of each value without rounding it, as `add_product(value, value)` does.
    pub fn add_squares(&mut self, values: &[f64]) {
        for block in values.chunks(BLOCK) {
            self.add_products_of(block.iter().map(|value| (*value, *value)));
        }
    }

    /// Adds `weight · value²` of each place, with the square as high and low part: the products of the weight with the
    /// rounded square and with what rounding took from it, each as [`ExactSum::add_product`] adds it. The shorter slice
    /// decides how many there are.
    pub fn add_weighted_squares(&mut self, weights: &[f64], values: &[f64]) {
        let (mut high, mut low) = ([0.0; BLOCK], [0.0; BLOCK]);
        for (weights, values) in weights.chunks(BLOCK).zip(values.chunks(BLOCK)) {
            let high = high.get_mut(..values.len()).unwrap_or_default();
            let low = low.get_mut(..values.len()).unwrap_or_default();
            let any_low = if values.len() < FEW {
                None
            } else {
                wide(
                    #[inline(always)]
                    |machine| squares(machine, values, high, low),
                )
            };
            match any_low {
                Some(any_low) => {
                    self.add_products(weights, high);
                    if any_low {
                        self.add_products(weights, low);
                    }
                }
                None => {
                    weights.iter().zip(values).for_each(|(weight, value)| self.add_weighted_square(*weight, *value))
                }
            }
        }
    }

    fn add_weighted_square(&mut self, weight: f64, value: f64) {
        let square = value * value;
        self.add_product(weight, square);
        if square.is_finite() {
            self.add_product(weight, value.mul_add(value, -square));
        }
    }

    /// Adds the products of at most `BLOCK` pairs.
    #[inline(always)]
    fn add_products_of(&mut self, pairs: impl ExactSizeIterator<Item = (f64, f64)> + Clone) {
        let parts = if pairs.len() < FEW {
            None
        } else {
            wide(
                #[inline(always)]
                |machine| Parts::of_products(machine, pairs.clone()),
            )
        };
        match parts {
            Some([high, low]) => {
                self.add_parts(high, pairs.clone().map(|(a, b)| a * b));
                self.add_parts(low, pairs.map(|(a, b)| a.mul_add(b, -(a * b))));
            }
            None => pairs.for_each(|(a, b)| self.add_product(a, b)),
        }
    }

    /// Adds what values come to.
    fn add_parts(&mut self, parts: Parts, values: impl Iterator<Item = f64>) {
        let ([first, second], [places, places_of_rests]) = (parts.sigmas, parts.places);
        for float in floats(places, first).into_iter().chain(floats(places_of_rests, second)) {
            self.add(float);
        }
        if parts.any_left {
            for value in values {
                let (_, rest) = rounded(value, first);
                let (_, left) = rounded(rest, second);
                self.add(left);
            }
        }
    }
}

/// What values come to.
#[derive(Debug, Clone, Copy)]
struct Parts {
    sigmas: [f64; 2],
    /// The sum of the values and that of their rests, in places of the sigmas.
    places: [i64; 2],
    /// Whether the rests of the rests are not all 0.
    any_left: bool,
}

impl Parts {
    /// What at most `BLOCK` values come to; none if one of them is too large.
    #[inline(always)]
    fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        // Bits and not floats, so that NaN is larger than all others, and the order of comparison free.
        let mut largest = 0;
        for value in values.clone() {
            largest = largest.max(value.to_bits() & MAGNITUDE);
        }
        if largest >= MOST {
            return None;
        }
        // All values are below twice the power of two that has the exponent of the largest: that is 2^(k − 1). No exponent
        // is too small: the place of the least normal sigma is the smallest float, and below it there are no rests.
        let exponent = (largest >> FRACTION_BITS) + 2;
        let sigmas = [sigma(exponent), sigma(exponent.saturating_sub(FRACTION_BITS).max(1))];
        if largest == 0 {
            return Some(Self { sigmas, places: [0; 2], any_left: false });
        }
        let [first, second] = sigmas;
        let count = values.len() as u64;
        let (mut sum, mut sum_of_rests, mut left_bits) = (0u64, 0u64, 0);
        for value in values {
            let (shifted, rest) = rounded(value, first);
            sum = sum.wrapping_add(shifted);
            let (shifted, left) = rounded(rest, second);
            sum_of_rests = sum_of_rests.wrapping_add(shifted);
            left_bits |= left.to_bits();
        }
        let places = |sum: u64, sigma: f64| sum.wrapping_sub(count.wrapping_mul(sigma.to_bits())) as i64;
        Some(Self { sigmas, places: [places(sum, first), places(sum_of_rests, second)], any_left: left_bits << 1 != 0 })
    }

    /// What the rounded products of at most `BLOCK` pairs come to, and what rounding took from them; none if one of them is
    /// too large or too small.
    #[inline(always)]
    fn of_products(machine: Machine, pairs: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> Option<[Self; 2]> {
        if !machine.fused {
            let mut any_small = false;
            for (a, b) in pairs.clone() {
                any_small |= ((a * b).abs() < LEAST) & (a != 0.0) & (b != 0.0);
            }
            if any_small {
                return None;
            }
        }
        let high = Self::of(pairs.clone().map(|(a, b)| a * b))?;
        let low = Self::of(pairs.map(|(a, b)| two_product(machine, a, b).1))?;
        Some([high, low])
    }
}

/// 1.5 times the power of two that has this exponent field.
#[inline(always)]
fn sigma(exponent: u64) -> f64 {
    f64::from_bits(exponent << FRACTION_BITS | 1 << (FRACTION_BITS - 1))
}

/// The bits of sigma and the value, which say how many places the value is, and the rest.
#[inline(always)]
fn rounded(value: f64, sigma: f64) -> (u64, f64) {
    let shifted = sigma + value;
    (shifted.to_bits(), value - (shifted - sigma))
}

/// So many places of sigma, as two floats: both are whole numbers of at most 32 bits but for zeros at the end.
fn floats(places: i64, sigma: f64) -> [f64; 2] {
    let exponent = sigma.to_bits() >> FRACTION_BITS;
    let place = match exponent.saturating_sub(FRACTION_BITS) {
        0 => f64::from_bits(1 << (exponent - 1)),
        exponent => f64::from_bits(exponent << FRACTION_BITS),
    };
    let low = places & 0xffff_ffff;
    [(places - low) as f64 * place, low as f64 * place]
}

/// The squares, rounded, and what rounding took from each, with the answer whether that is anything; none if one of the
/// squares is too large or too small.
#[inline(always)]
fn squares(machine: Machine, values: &[f64], high: &mut [f64], low: &mut [f64]) -> Option<bool> {
    let (mut any_small, mut largest, mut low_bits) = (false, 0, 0);
    for ((value, high), low) in values.iter().zip(high).zip(low) {
        (*high, *low) = two_product(machine, *value, *value);
        any_small |= (*high < LEAST) & (*value != 0.0);
        largest = largest.max(high.to_bits() & MAGNITUDE);
        low_bits |= low.to_bits();
    }
    (largest < MOST && (machine.fused || !any_small)).then_some(low_bits << 1 != 0)
}

/// The rounded product and its error, exact if no part of it overflows or falls below the smallest float: by `mul_add`, or
/// where there is no vector instruction for that, and it would be slow, by Dekker (A Floating-Point Technique for Extending
/// the Available Precision, 1971).
#[inline(always)]
fn two_product(machine: Machine, a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if machine.fused {
        return (product, a.mul_add(b, -product));
    }
    let halves = |x: f64| {
        let scaled = x * 134_217_729.0;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
    (product, ((a * b - product) + a * b_low + a_low * b) + a_low * b_low)
}

#[cfg(test)]
mod tests;
