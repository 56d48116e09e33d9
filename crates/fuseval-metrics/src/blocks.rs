//! Rows in blocks that stay near the core: the loops over a block are plain enough for the compiler to vectorise them.

use fuseval_core::math::exp_all;
use fuseval_core::simd::wide;
use fuseval_core::{ExactSum, ScoreKind, View};

/// Rows in a block.
pub(crate) const BLOCK: usize = 256;

/// Some rows of a view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// Labels.
    pub(crate) labels: &'a [f64],
    /// Scores as they are, or the probabilities that logits stand for.
    pub(crate) predictions: &'a [f64],
    /// Weights; none where every row weighs 1.
    pub(crate) weights: Option<&'a [f64]>,
}

impl Block<'_> {
    /// The values of a function of label and prediction, in `out`.
    pub(crate) fn map<'b>(&self, out: &'b mut [f64; BLOCK], f: impl Fn(f64, f64) -> f64) -> &'b [f64] {
        map(self.labels, self.predictions, out, f)
    }

    /// Adds values, each times the weight of its row.
    pub(crate) fn add(&self, sum: &mut ExactSum, values: &[f64]) {
        match self.weights {
            None => sum.add_all(values),
            Some(weights) => sum.add_products(weights, values),
        }
    }

    /// Adds the squares of values, each times the weight of its row.
    pub(crate) fn add_squares(&self, sum: &mut ExactSum, values: &[f64]) {
        match self.weights {
            None => sum.add_squares(values),
            Some(weights) => sum.add_weighted_squares(weights, values),
        }
    }

    /// Adds values that mostly are 0 or 1, each times the weight of its row: where all are, without multiplying.
    pub(crate) fn add_indicators(&self, sum: &mut ExactSum, values: &[f64]) {
        let Some(ones) = ones(values) else { return self.add(sum, values) };
        match self.weights {
            None => sum.add(ones as f64),
            Some(weights) => {
                let mut scratch = [0.0; BLOCK];
                sum.add_all(map(values, weights, &mut scratch, |value, weight| value * weight));
            }
        }
    }

    /// Adds the labels, each times the weight of its row.
    pub(crate) fn add_labels(&self, sum: &mut ExactSum) {
        self.add_indicators(sum, self.labels);
    }

    /// Adds the squares of the labels, each times the weight of its row.
    pub(crate) fn add_squared_labels(&self, sum: &mut ExactSum) {
        if ones(self.labels).is_some() {
            return self.add_labels(sum);
        }
        self.add_squares(sum, self.labels);
    }

    /// Adds label times prediction, each times the weight of its row, without rounding the product.
    pub(crate) fn add_label_products(&self, sum: &mut ExactSum) {
        let are_exact = ones(self.labels).is_some();
        if self.weights.is_none() && !are_exact {
            return sum.add_products(self.labels, self.predictions);
        }
        let mut scratch = [0.0; BLOCK];
        self.add(sum, self.map(&mut scratch, |label, prediction| label * prediction));
        if !are_exact {
            let low = |label: f64, prediction: f64| {
                let product = label * prediction;
                if product.is_finite() { label.mul_add(prediction, -product) } else { 0.0 }
            };
            self.add(sum, self.map(&mut scratch, low));
        }
    }
}

/// How many values are 1, if all others are 0.
pub(crate) fn ones(values: &[f64]) -> Option<u64> {
    wide(
        #[inline(always)]
        |_| {
            let (mut ones, mut others) = (0, 0);
            for value in values {
                let is_one = u64::from(*value == 1.0);
                ones += is_one;
                others |= u64::from(*value != 0.0) ^ is_one;
            }
            (others == 0).then_some(ones)
        },
    )
}

/// The values of a function of two columns, in `out`.
pub(crate) fn map<'b>(a: &[f64], b: &[f64], out: &'b mut [f64; BLOCK], f: impl Fn(f64, f64) -> f64) -> &'b [f64] {
    let len = a.len().min(b.len());
    let out = out.get_mut(..len).unwrap_or_default();
    wide(
        #[inline(always)]
        |_| {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = f(*a, *b);
            }
        },
    );
    out
}

/// Calls `f` with the rows of a view, block by block.
pub(crate) fn each_block(view: &View<'_>, mut f: impl FnMut(Block<'_>)) {
    let mut scratch = [0.0; BLOCK];
    for (place, (labels, scores)) in view.labels.chunks(BLOCK).zip(view.scores.chunks(BLOCK)).enumerate() {
        let predictions = predictions(view.kind, scores, &mut scratch);
        f(Block { labels, predictions, weights: weights(view, place, labels.len()) });
    }
}

/// Calls `f` with the rows of a view and the predictions of the baseline, block by block.
pub(crate) fn each_block_with_baseline(view: &View<'_>, mut f: impl FnMut(Block<'_>, &[f64])) {
    let mut scratch = [0.0; BLOCK];
    let mut baselines = view.baseline.unwrap_or_default().chunks(BLOCK);
    each_block(view, |block| {
        f(block, predictions(view.kind, baselines.next().unwrap_or_default(), &mut scratch));
    });
}

/// The weights of the block at a place.
pub(crate) fn weights<'a>(view: &View<'a>, place: usize, rows: usize) -> Option<&'a [f64]> {
    let from = place * BLOCK;
    view.weights.and_then(|weights| weights.get(from..from + rows))
}

/// Scores as they are, or the probabilities that logits stand for, which are written to `out`.
fn predictions<'a>(kind: ScoreKind, scores: &'a [f64], out: &'a mut [f64; BLOCK]) -> &'a [f64] {
    if kind != ScoreKind::Logit {
        return scores;
    }
    let out = out.get_mut(..scores.len()).unwrap_or_default();
    wide(
        #[inline(always)]
        |_| {
            for (out, score) in out.iter_mut().zip(scores) {
                *out = -score.abs();
            }
        },
    );
    exp_all(out);
    // The sigmoid of `view`, with the same bits.
    wide(
        #[inline(always)]
        |_| {
            for (e, score) in out.iter_mut().zip(scores) {
                *e = if *score >= 0.0 { 1.0 } else { *e } / (1.0 + *e);
            }
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::view::sigmoid;

    #[test]
    fn predictions_of_logits_have_the_bits_of_the_sigmoid() {
        let scores: Vec<f64> = (-700..700).map(|i| f64::from(i) * 1.03).chain([0.0, -0.0, 1e-300, 1e9, -1e9]).collect();
        let labels = vec![0.0; scores.len()];
        let view = View { labels: &labels, scores: &scores, kind: ScoreKind::Logit, ..View::default() };
        let mut rest = scores.iter();
        each_block(&view, |block| {
            for (prediction, score) in block.predictions.iter().zip(&mut rest) {
                assert_eq!(prediction.to_bits(), sigmoid(*score).to_bits(), "{score}");
            }
        });
        assert!(rest.next().is_none());
    }

    #[test]
    fn labels_are_summed_alike_whether_counted_or_not() {
        let labels: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 7 == 0))).collect();
        let weights: Vec<f64> = (0..100).map(|i| 0.1 + f64::from(i)).collect();
        for weights in [None, Some(weights.as_slice())] {
            for other in [0.0, 0.25, 2.0, -1.0] {
                let mut labels = labels.clone();
                labels[3] = other;
                let block = Block { labels: &labels, predictions: &[], weights };
                let (mut counted, mut summed) = (ExactSum::new(), ExactSum::new());
                block.add_labels(&mut counted);
                block.add(&mut summed, &labels);
                assert_eq!(counted.value().to_bits(), summed.value().to_bits());
                let (mut counted, mut summed) = (ExactSum::new(), ExactSum::new());
                block.add_squared_labels(&mut counted);
                block.add_squares(&mut summed, &labels);
                assert_eq!(counted.value().to_bits(), summed.value().to_bits());
            }
        }
    }
}
