//! A float with twice the digits, for sums in a fixed order when a state is finished.

/// An unevaluated sum of two floats (Dekker 1971), with about 32 significant digits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    /// A float.
    pub(crate) fn of(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// Adds a float.
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let back = sum - self.high;
        let error = (self.high - (sum - back)) + (value - back);
        let low = self.low + error;
        self.high = sum + low;
        self.low = low - (self.high - sum);
    }

    /// Adds a product.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.add(a.mul_add(b, -product));
    }

    /// Adds `factor` times another twofold.
    pub(crate) fn add_scaled(&mut self, factor: f64, other: Self) {
        self.add_product(factor, other.high);
        self.add(factor * other.low);
    }

    /// The nearest float.
    pub(crate) fn value(self) -> f64 {
        self.high
    }
}
