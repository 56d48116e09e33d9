//! `bias`: the mean error; above 0 the predictions are too high on average.
//!
//! **Definition** Σ w·(p − y) / Σ w, where p is the score, or the sigmoid of a logit. The difference of the two sums is
//! exact, so that errors that cancel leave no noise behind.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·p, Σ w·y, Σ w, shared with `mean_label`, `mean_prediction`, `sum_ratio` and `calibration`.
//! **Oracle** NumPy `average` of the errors.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::moments::difference;
use crate::over_rows::{OverRows, RowMetric};
use crate::totals::{TOTALS, add_totals};
use fuseval_core::value::NO_ROWS;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "bias",
    summary: "mean error of the prediction, with its sign",
    file: include_str!("bias.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Bias))),
};

const PROFILE: Profile = Profile::rows(
    Direction::Target(0.0),
    (f64::NEG_INFINITY, f64::INFINITY),
    Needs::new(ScoreNeed::Size, LabelRange::Any),
);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Bias;

impl RowMetric<2> for Bias {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn sums_name(&self) -> String {
        TOTALS.to_string()
    }

    fn add(&self, sums: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
        add_totals(sums, view)
    }

    fn outcome(&self, [predictions, labels]: &[ExactSum; 2], weights: &ExactSum) -> Outcome {
        Outcome::ratio(difference(predictions, labels).value(), weights.value(), NO_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    #[test]
    fn errors_that_cancel_leave_no_noise() {
        let view = rows(&[0.1, 0.2, 0.3, 1e9], &[0.3, 0.1, 0.2, 1e9]);
        has_values(&view, &[("bias", Ok(0.0))]);
    }
}
