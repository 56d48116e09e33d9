//! `r2`: coefficient of determination, the share of the variance of the labels that the predictions explain.
//!
//! **Definition** 1 − Σ w·(p − y)² / Σ w·(y − ȳ)², where ȳ is the weighted mean label and p the score, or the sigmoid of a
//! logit. The lower sum is Σ w·y² − (Σ w·y)² / Σ w, formed exactly, so that nothing cancels where labels vary little around
//! a large number. 1 is perfect, 0 as good as the mean label; there is no lower bound.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the squares; rows of weight 0 are not there.
//! **Undefined** when all labels are equal, of one row too. (TorchRec reports 1.)
//! **Options** `constant`: what equal labels give. `undefined` (default); `one`; `zero_one` is scikit-learn's rule, 1 where
//! all errors are 0 and else 0 (of a single row scikit-learn gives NaN).
//! **State** `sums`: Σ w·(p − y)², Σ w·y², Σ w·y, Σ w, with the squares as high and low parts.
//! **Oracle** scikit-learn `r2_score`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed, Tally,
    View,
};

use crate::blocks::{BLOCK, each_block};
use crate::moments::Moments;
use crate::over_rows::{OverRows, RowMetric, all_rows};
use crate::segments::options::name;

const CONSTANT: &[(&str, Constant)] =
    &[("undefined", Constant::Undefined), ("one", Constant::One), ("zero_one", Constant::ZeroOne)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "r2",
    summary: "share of the variance of the labels that the predictions explain",
    file: include_str!("r2.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "constant", values: &["undefined", "one", "zero_one"], default: "undefined" }],
    presets: &[("sklearn", "constant", "zero_one")],
    build: |settings| Ok(Box::new(OverRows(R2 { constant: settings.choice("constant", CONSTANT)? }))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Higher, (f64::NEG_INFINITY, 1.0), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// What equal labels give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constant {
    /// No value.
    Undefined,
    /// 1.
    One,
    /// 1 where nothing is wrong, else 0.
    ZeroOne,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct R2 {
    constant: Constant,
}

impl RowMetric<3> for R2 {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("constant", name(CONSTANT, self.constant), "undefined")
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn sums_name(&self) -> String {
        ENTRY.name.to_string()
    }

    fn add(&self, [errors, squares, labels]: &mut [ExactSum; 3], view: &View<'_>) -> Tally {
        let mut scratch = [0.0; BLOCK];
        each_block(view, |block| {
            block.add_squares(errors, block.map(&mut scratch, |label, prediction| prediction - label));
            block.add_squared_labels(squares);
            block.add_labels(labels);
        });
        all_rows(view)
    }

    fn outcome(&self, [errors, squares, labels]: &[ExactSum; 3], weights: &ExactSum) -> Outcome {
        let moments = Moments::new(weights, labels, squares);
        if moments.spread() != 0.0 {
            return Outcome::Number(moments.explained(errors));
        }
        match self.constant {
            Constant::Undefined => Outcome::Undefined("labels are constant".into()),
            Constant::One => Outcome::Number(1.0),
            Constant::ZeroOne => Outcome::Number(f64::from(u8::from(errors.value() == 0.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::{Outcome, View};

    #[test]
    fn constant_labels_have_nothing_to_explain() {
        // Case 013 of the hard cases.
        let view = rows(&[5.0; 4], &[1.0, 2.0, 3.0, 4.0]);
        let rmse = 2.738_612_787_525_830_6;
        has_values(&view, &[("r2", Err("labels are constant")), ("rmse", Ok(rmse)), ("mae", Ok(2.5))]);
        has_values(&view, &[("r2[constant=one]", Ok(1.0)), ("r2[constant=zero_one]", Ok(0.0))]);
        has_values(
            &rows(&[0.3; 3], &[0.3; 3]),
            &[("r2[constant=zero_one]", Ok(1.0)), ("r2", Err("labels are constant"))],
        );
        assert_eq!(value("r2", Some("sklearn"), &view).outcome, Outcome::Number(0.0));
    }

    #[test]
    fn labels_that_hardly_vary_do_not_cancel() {
        // Case 014 of the hard cases.
        let labels = [1_000_000.0, 1_000_000.25, 1_000_000.0, 999_999.75, 1_000_000.0, 1_000_000.5];
        let scores = [1_000_000.125, 1_000_000.25, 999_999.875, 999_999.75, 1_000_000.0, 1_000_000.25];
        has_values(&rows(&labels, &scores), &[("r2", Ok(0.71875)), ("rmse", Ok(0.125))]);
        // The same 2^30 times closer together.
        let near = |values: [f64; 6]| values.map(|value| 1.0 + (value - 1e6) * f64::EPSILON * 8.0);
        let (labels, scores) = (near(labels), near(scores));
        has_values(&rows(&labels, &scores), &[("r2", Ok(0.71875))]);
    }

    #[test]
    fn a_weight_counts_as_that_many_rows() {
        let weighted = View { weights: Some(&[3.0, 1.0, 2.0]), ..rows(&[0.1, 0.7, -0.4], &[0.2, 0.5, -0.1]) };
        let repeated = rows(&[0.1, 0.1, 0.1, 0.7, -0.4, -0.4], &[0.2, 0.2, 0.2, 0.5, -0.1, -0.1]);
        for name in ["r2", "pearson", "mse", "mae", "wmape"] {
            assert_eq!(value(name, None, &weighted).outcome, value(name, None, &repeated).outcome, "{name}");
        }
        // As scikit-learn 1.9.1 has it.
        has_values(&weighted, &[("r2", Ok(0.7))]);
    }
}
