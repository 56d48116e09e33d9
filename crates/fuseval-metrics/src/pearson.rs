//! `pearson`: the linear correlation of prediction and label.
//!
//! **Definition** the covariance of p and y over the root of the product of their variances, all weighted; p is the score,
//! or the sigmoid of a logit. Each is a difference of products of sums, formed exactly, so that nothing cancels.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply each term; rows of weight 0 are not there.
//! **Undefined** when all labels are equal, or all predictions. (TFMA reports the square of the correlation.)
//! **State** `sums`: Σ w·p·y, Σ w·p², Σ w·y², Σ w·p, Σ w·y, Σ w, with the products as high and low parts.
//! **Oracle** SciPy `pearsonr`, and NumPy `cov` with `aweights` where there are weights.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::blocks::each_block;
use crate::moments::Moments;
use crate::over_rows::{OverRows, RowMetric, all_rows};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "pearson",
    summary: "linear correlation of prediction and label",
    file: include_str!("pearson.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Pearson))),
};

const PROFILE: Profile = Profile::rows(Direction::Higher, (-1.0, 1.0), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Pearson;

impl RowMetric<5> for Pearson {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, sums: &mut [ExactSum; 5], view: &View<'_>) -> Tally {
        let [products, squares, squared_labels, predictions, labels] = sums;
        each_block(view, |block| {
            block.add_label_products(products);
            block.add_squares(squares, block.predictions);
            block.add_squared_labels(squared_labels);
            block.add(predictions, block.predictions);
            block.add_labels(labels);
        });
        all_rows(view)
    }

    fn outcome(&self, sums: &[ExactSum; 5], weight: &ExactSum) -> Outcome {
        let [products, squares, squared_labels, predictions, labels] = sums;
        let labels = Moments::new(weight, labels, squared_labels);
        if labels.spread() == 0.0 {
            return Outcome::Undefined("labels are constant".into());
        }
        let predictions = Moments::new(weight, predictions, squares);
        if predictions.spread() == 0.0 {
            return Outcome::Undefined("predictions are constant".into());
        }
        Outcome::Number(predictions.correlation(&labels, products))
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    #[test]
    fn a_constant_side_has_no_correlation() {
        has_values(&rows(&[0.1; 3], &[0.1, 0.2, 0.4]), &[("pearson", Err("labels are constant"))]);
        has_values(&rows(&[0.1, 0.2, 0.4], &[0.7; 3]), &[("pearson", Err("predictions are constant"))]);
    }

    #[test]
    fn a_line_correlates_fully_however_little_it_rises() {
        let labels = [0.1, 0.3, 0.25, 1e6, -3.0];
        has_values(&rows(&labels, &labels), &[("pearson", Ok(1.0))]);
        has_values(&rows(&labels, &labels.map(|label| -4.0 * label)), &[("pearson", Ok(-1.0))]);
        let near = [0.0, 1.0, 2.0, 5.0].map(|step| 1.0 + step * f64::EPSILON);
        has_values(&rows(&[0.0, 1.0, 2.0, 5.0], &near), &[("pearson", Ok(1.0))]);
        has_values(&rows(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), &[("pearson", Ok(0.8))]);
    }
}
