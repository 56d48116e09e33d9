//! `sum_ratio`: sum of the predictions over sum of the labels, of any scores and labels.
//!
//! **Definition** Σ w·p / Σ w·y, where p is the score, or the sigmoid of a logit. For probabilities ask for `calibration`,
//! which is the same number and checks that they are some.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply both sums; rows of weight 0 are not there.
//! **Undefined** when the labels sum to 0.
//! **State** `sums`: Σ w·p, Σ w·y, Σ w, shared with `mean_label`, `mean_prediction`, `bias` and `calibration`.
//! **Oracle** mean score / mean label with NumPy.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::over_rows::{OverRows, RowMetric};
use crate::totals::{TOTALS, add_totals};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "sum_ratio",
    summary: "sum of the predictions over sum of the labels, any scores",
    file: include_str!("sum_ratio.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(SumRatio))),
};

const PROFILE: Profile = Profile::rows(
    Direction::Target(1.0),
    (f64::NEG_INFINITY, f64::INFINITY),
    Needs::new(ScoreNeed::Size, LabelRange::Any),
);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct SumRatio;

impl RowMetric<2> for SumRatio {
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

    fn outcome(&self, [predictions, labels]: &[ExactSum; 2], _weight: &ExactSum) -> Outcome {
        Outcome::ratio(predictions.value(), labels.value(), "the labels sum to 0")
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    #[test]
    fn labels_that_cancel_leave_no_ratio() {
        has_values(&rows(&[2.0, -2.0], &[0.5, 0.25]), &[("sum_ratio", Err("the labels sum to 0"))]);
        has_values(&rows(&[2.0, -1.0], &[0.5, 0.25]), &[("sum_ratio", Ok(0.75))]);
    }
}
