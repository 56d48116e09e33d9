//! Variances and covariances of exact sums, without cancellation: the products of two sums are formed exactly, digit by
//! digit, their difference is exact too, and is rounded once.

use fuseval_core::ExactSum;

/// A sum as floats that do not overlap, largest first; none for zero. Infinities stand alone.
#[derive(Debug, Clone)]
pub(crate) struct Digits(Vec<f64>);

impl Digits {
    /// The digits of a sum.
    pub(crate) fn of(sum: &ExactSum) -> Self {
        let mut rest = sum.clone();
        let mut parts = Vec::new();
        loop {
            let part = rest.value();
            if part == 0.0 {
                return Self(parts);
            }
            parts.push(part);
            if !part.is_finite() {
                return Self(parts);
            }
            rest.add(-part);
        }
    }

    /// The exponent of the largest power of two up to the magnitude; 0 for zero.
    fn exponent(&self) -> i32 {
        self.0.first().filter(|first| first.is_finite()).map_or(0, |first| libm::ilogb(*first))
    }

    /// The number times a power of two.
    fn scaled(&self, exponent: i32) -> Self {
        Self(self.0.iter().map(|part| libm::ldexp(*part, exponent)).collect())
    }

    /// Adds `sign` times the product with another number, exactly.
    fn add_product(&self, sign: f64, other: &Self, sum: &mut ExactSum) {
        for a in &self.0 {
            other.0.iter().for_each(|b| sum.add_product(sign * a, *b));
        }
    }
}

/// The exact difference of two sums.
pub(crate) fn difference(a: &ExactSum, b: &ExactSum) -> ExactSum {
    let mut difference = a.clone();
    Digits::of(b).0.iter().for_each(|part| difference.add(-part));
    difference
}

/// Weighted sums of a variable and of its square, scaled by powers of two so that no product of two of them leaves the range
/// of floats. The scale falls out of every ratio.
///
/// ```text
///   weights · 2^-w    values · 2^-h    squares · 2^-(2h − w)        h: so that all are near 1
/// ```
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    weights: Digits,
    values: Digits,
    /// w.
    of_weights: i32,
    /// h.
    half: i32,
    spread: ExactSum,
}

impl Moments {
    /// The moments of Σ w, Σ w·x and Σ w·x².
    pub(crate) fn new(weights: &ExactSum, values: &ExactSum, squares: &ExactSum) -> Self {
        let (weights, values, squares) = (Digits::of(weights), Digits::of(values), Digits::of(squares));
        let of_weights = weights.exponent();
        let half = (of_weights + squares.exponent()).div_euclid(2);
        let (weights, values) = (weights.scaled(-of_weights), values.scaled(-half));
        let mut spread = ExactSum::new();
        weights.add_product(1.0, &squares.scaled(of_weights - 2 * half), &mut spread);
        values.add_product(-1.0, &values, &mut spread);
        Self { weights, values, of_weights, half, spread }
    }

    /// Σ w · Σ w·x² − (Σ w·x)², scaled: 0 exactly where x is constant.
    pub(crate) fn spread(&self) -> f64 {
        let spread = self.spread.value();
        // Below zero only where squares were too small for floats.
        if spread < 0.0 { 0.0 } else { spread }
    }

    /// 1 − Σ w · Σ e / spread, for a sum over rows of something that has the unit of the squares.
    pub(crate) fn explained(&self, errors: &ExactSum) -> f64 {
        let mut rest = self.spread.clone();
        let errors = Digits::of(errors).scaled(self.of_weights - 2 * self.half);
        self.weights.add_product(-1.0, &errors, &mut rest);
        rest.value() / self.spread()
    }

    /// The correlation with another variable, whose moments are of the same weights, by the sum of the products of both; NaN
    /// unless both vary, within the range of floats.
    pub(crate) fn correlation(&self, other: &Self, products: &ExactSum) -> f64 {
        let mut covariance = ExactSum::new();
        let products = Digits::of(products).scaled(self.of_weights - self.half - other.half);
        self.weights.add_product(1.0, &products, &mut covariance);
        self.values.add_product(-1.0, &other.values, &mut covariance);
        let (one, two) = (self.spread(), other.spread());
        if !(one > 0.0 && two > 0.0 && (one + two).is_finite()) {
            return f64::NAN;
        }
        // Brought near 1 once more, since rows that hardly vary have a small spread.
        let (i, j) = (libm::ilogb(one) / 2, libm::ilogb(two) / 2);
        let root = libm::sqrt(libm::ldexp(one, -2 * i) * libm::ldexp(two, -2 * j));
        let correlation = libm::ldexp(covariance.value(), -(i + j)) / root;
        // Rounded at four places; NaN stays.
        correlation.clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::new();
        sum.add_all(values);
        sum
    }

    fn moments(weights: &[f64], values: &[f64]) -> Moments {
        let (mut first, mut second) = (ExactSum::new(), ExactSum::new());
        first.add_products(weights, values);
        second.add_weighted_squares(weights, values);
        Moments::new(&sum(weights), &first, &second)
    }

    #[test]
    fn digits_add_up_to_the_sum() {
        let values = [1e30, 1.0, 1e-30, -3e-45, 0.1, -7.7];
        let mut rest = sum(&values);
        let digits = Digits::of(&rest);
        assert!(digits.0.len() > 2, "{digits:?}");
        digits.0.iter().for_each(|part| rest.add(-part));
        assert_eq!(rest.value(), 0.0);
        assert!(Digits::of(&ExactSum::new()).0.is_empty());
    }

    #[test]
    fn constants_have_no_spread_at_any_magnitude() {
        let weights = [0.1, 3.7e-9, 2.2e8, 1.0, 1e-30];
        for constant in [0.0, 0.1, -1.0 / 3.0, 1e100, 1e-100, 123_456_789.123_456_79] {
            assert_eq!(moments(&weights, &[constant; 5]).spread(), 0.0, "{constant}");
        }
        assert!(moments(&weights, &[0.1, 0.1, 0.1, 0.1, 0.1f64.next_up()]).spread() > 0.0);
    }

    #[test]
    fn neither_large_nor_small_numbers_leave_the_range() {
        for scale in [-230.0, 0.0, 230.0].map(libm::exp2) {
            for weight in [-330.0, 0.0, 330.0].map(libm::exp2) {
                let x = moments(&[weight; 3], &[scale, 2.0 * scale, 4.0 * scale]);
                let y = moments(&[weight; 3], &[3.0, 2.0, 0.0]);
                let mut products = ExactSum::new();
                products.add_products(&[weight; 3], &[3.0 * scale, 4.0 * scale, 0.0]);
                assert_eq!(x.correlation(&y, &products), -1.0, "{scale} {weight}");
            }
        }
    }
}
