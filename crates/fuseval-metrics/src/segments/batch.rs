//! Values and weights of segments on their way into the sums.

use fuseval_core::ExactSum;

/// Some values and weights: the sums take many at once faster than one by one.
pub(super) struct Batch {
    values: [f64; 32],
    weights: [f64; 32],
    len: usize,
    /// Whether each weight so far is 1.
    alike: bool,
    /// The sum of the weights of the values that were added.
    weight: ExactSum,
}

impl Default for Batch {
    fn default() -> Self {
        Self { values: [0.0; 32], weights: [0.0; 32], len: 0, alike: true, weight: ExactSum::new() }
    }
}

impl Batch {
    #[inline]
    pub(super) fn push(&mut self, value: f64, weight: f64, sum: &mut ExactSum) {
        if self.len == self.values.len() {
            self.flush(sum);
        }
        if let (Some(to), Some(weight_to)) = (self.values.get_mut(self.len), self.weights.get_mut(self.len)) {
            (*to, *weight_to) = (value, weight);
            self.len += 1;
            self.alike &= weight == 1.0;
        }
    }

    fn flush(&mut self, sum: &mut ExactSum) {
        let values = self.values.get(..self.len).unwrap_or_default();
        let weights = self.weights.get(..self.len).unwrap_or_default();
        if self.alike {
            sum.add_all(values);
            self.weight.add(self.len as f64);
        } else {
            sum.add_products(weights, values);
            self.weight.add_all(weights);
        }
        self.len = 0;
    }

    /// Adds what is left; the sum of all weights, if one is not 1.
    pub(super) fn finish(mut self, sum: &mut ExactSum) -> Option<ExactSum> {
        self.flush(sum);
        (!self.alike).then_some(self.weight)
    }
}
