//! Adding many values at once: exact, and in loops that the compiler turns into vector instructions.
//!
//! A block of values is added in two floats. Adding sigma to a value and taking it away again rounds the value to a multiple of
//! sigma's last place; sigma is so large that the sum of the rounded parts of a block fits into 53 such places, and so is exact
//! (Rump, Ogita, Oishi: Accurate Floating-Point Summation, 2008). The rests are added likewise with a second sigma, and what
//! is then left, if anything, value by value. Since nothing is lost, neither is anything by the order of the lanes.

use super::ExactSum;

const BLOCK: usize = 256;
const BLOCK_BITS: u64 = 8;
const LANES: usize = 4;
/// Fewer values are added one by one, which is faster then.
const FEW: usize = 20;
/// Blocks whose largest magnitude lies outside, 2^-900 to 2^900, are added value by value: with them sigma could leave the
/// range of normal floats.
const LEAST: f64 = power_of_two(-900);
const MOST: f64 = power_of_two(900);
/// The second sigma by the first: the rests are at most half a last place of sigma, 2^-53, and a block of them 2^-45.
const SECOND: f64 = power_of_two(BLOCK_BITS as i64 - 53);

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl ExactSum {
    /// Adds all values: the same sum as [`ExactSum::add`] makes of them one by one, only faster.
    pub fn add_all(&mut self, values: &[f64]) {
        if values.len() < FEW {
            return values.iter().for_each(|value| self.add(*value));
        }
        values.chunks(BLOCK).for_each(|block| self.add_block(block));
    }

    /// Adds `weight · value` of each place: the same sum as [`ExactSum::add_product`] makes of them one by one, only faster.
    /// The shorter slice decides how many there are.
    pub fn add_products(&mut self, weights: &[f64], values: &[f64]) {
        if values.len() < FEW {
            return weights.iter().zip(values).for_each(|(weight, value)| self.add_product(*weight, *value));
        }
        let mut parts = Parts::default();
        for (weights, values) in weights.chunks(BLOCK).zip(values.chunks(BLOCK)) {
            let pairs = weights.iter().zip(values).map(|(weight, value)| (*weight, *value));
            if parts.fill(pairs.clone()) {
                self.add_parts(&parts);
            } else {
                pairs.for_each(|(weight, value)| self.add_product(weight, value));
            }
        }
    }

    /// Adds the square of each value without rounding it, as `add_product(value, value)` does.
    pub fn add_squares(&mut self, values: &[f64]) {
        if values.len() < FEW {
            return values.iter().for_each(|value| self.add_product(*value, *value));
        }
        let mut parts = Parts::default();
        for block in values.chunks(BLOCK) {
            if parts.fill(block.iter().map(|value| (*value, *value))) {
                self.add_parts(&parts);
            } else {
                block.iter().for_each(|value| self.add_product(*value, *value));
            }
        }
    }

    /// Adds `weight · value²` of each place, with the square as high and low part: the products of the weight with the
    /// rounded square and with what rounding took from it, each as [`ExactSum::add_product`] adds it. The shorter slice
    /// decides how many there are.
    pub fn add_weighted_squares(&mut self, weights: &[f64], values: &[f64]) {
        if values.len() < FEW {
            return weights.iter().zip(values).for_each(|(weight, value)| self.add_weighted_square(*weight, *value));
        }
        let mut squares = Parts::default();
        for (weights, values) in weights.chunks(BLOCK).zip(values.chunks(BLOCK)) {
            if squares.fill(values.iter().map(|value| (*value, *value))) {
                self.add_products(weights, squares.high());
                if squares.any_low {
                    self.add_products(weights, squares.low());
                }
            } else {
                weights.iter().zip(values).for_each(|(weight, value)| self.add_weighted_square(*weight, *value));
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

    fn add_parts(&mut self, parts: &Parts) {
        self.add_block(parts.high());
        if parts.any_low {
            self.add_block(parts.low());
        }
    }

    /// Adds at most `BLOCK` values.
    fn add_block(&mut self, block: &[f64]) {
        let largest = largest(block);
        if !(LEAST..=MOST).contains(&largest) {
            return block.iter().for_each(|value| self.add(*value));
        }
        // The power of two above `largest`, times the values of a block.
        let exponent = (largest.to_bits() >> 52) + 1 + BLOCK_BITS;
        let sigmas = [f64::from_bits(exponent << 52), f64::from_bits(exponent << 52) * SECOND];
        let mut lanes = [Lane::default(); LANES];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for chunk in chunks {
            lanes.iter_mut().zip(chunk).for_each(|(lane, value)| lane.add(*value, sigmas));
        }
        lanes.iter_mut().zip(rest).for_each(|(lane, value)| lane.add(*value, sigmas));
        let sum = lanes.into_iter().fold(Lane::default(), |a, b| Lane {
            first: a.first + b.first,
            second: a.second + b.second,
            left: a.left | b.left,
        });
        // The largest magnitude does not show a NaN; the sum does.
        if sum.first.is_nan() {
            return block.iter().for_each(|value| self.add(*value));
        }
        self.add(sum.first);
        self.add(sum.second);
        if sum.left << 1 != 0 {
            for value in block {
                let [_, _, left] = split(*value, sigmas);
                if left != 0.0 {
                    self.add(left);
                }
            }
        }
    }
}

/// Sums of the parts of every `LANES`th value.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    first: f64,
    second: f64,
    /// All bits that are set in any rest.
    left: u64,
}

impl Lane {
    #[inline(always)]
    fn add(&mut self, value: f64, sigmas: [f64; 2]) {
        let [first, second, left] = split(value, sigmas);
        self.first += first;
        self.second += second;
        self.left |= left.to_bits();
    }
}

/// The value as a sum of multiples of the last places of both sigmas, and the rest.
#[inline(always)]
fn split(value: f64, [first, second]: [f64; 2]) -> [f64; 3] {
    let high = (first + value) - first;
    let rest = value - high;
    let middle = (second + rest) - second;
    [high, middle, rest - middle]
}

fn largest(block: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 2 * LANES];
    let larger = |lane: &mut f64, value: f64| *lane = if value.abs() > *lane { value.abs() } else { *lane };
    let (chunks, rest) = block.as_chunks::<{ 2 * LANES }>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| larger(lane, *value));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, value)| larger(lane, *value));
    lanes.into_iter().fold(0.0, |a, b| if b > a { b } else { a })
}

/// The products of a block, rounded, and what rounding took from each.
#[derive(Debug)]
struct Parts {
    high: [f64; BLOCK],
    low: [f64; BLOCK],
    len: usize,
    any_low: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { high: [0.0; BLOCK], low: [0.0; BLOCK], len: 0, any_low: false }
    }
}

impl Parts {
    fn high(&self) -> &[f64] {
        self.high.get(..self.len).unwrap_or_default()
    }

    fn low(&self) -> &[f64] {
        self.low.get(..self.len).unwrap_or_default()
    }

    /// Multiplies, and says whether both parts of all products are exact: whether nothing overflowed, and no product is so
    /// small that its low part would lose bits.
    #[inline(always)]
    fn fill(&mut self, pairs: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> bool {
        self.len = pairs.len();
        let (mut small, mut low_bits) = (0, 0);
        for ((a, b), (high, low)) in pairs.clone().zip(self.high.iter_mut().zip(&mut self.low)) {
            (*high, *low) = two_product(a, b);
            small |= u64::from(high.abs() < LEAST);
            low_bits |= low.to_bits();
        }
        self.any_low = low_bits << 1 != 0;
        // An overflow anywhere makes the low part infinite or NaN, and those have the bit that floats from 2 on have.
        if small == 0 && low_bits & 2f64.to_bits() == 0 {
            return true;
        }
        let exact = |((a, b), (high, low)): ((f64, f64), (&f64, &f64))| {
            low.is_finite() & ((high.abs() >= LEAST) | (a == 0.0) | (b == 0.0))
        };
        pairs.zip(self.high.iter().zip(&self.low)).map(exact).fold(true, |all, each| all & each)
    }
}

/// The rounded product and its error, exact if no part of it overflows or falls below the smallest float (Dekker: A
/// Floating-Point Technique for Extending the Available Precision, 1971). Where there is no vector instruction for `mul_add`,
/// this is much faster.
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let halves = |x: f64| {
        let scaled = x * 134_217_729.0;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let product = a * b;
    let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
    (product, ((a * b - product) + a * b_low + a_low * b) + a_low * b_low)
}

#[cfg(test)]
mod tests;
