//! `mean_label`: the mean label; of binary labels the base rate.
//!
//! **Definition** Σ w·y / Σ w. Scores are not used.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the label; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·p, Σ w·y, Σ w, shared with `mean_prediction`, `bias`, `sum_ratio` and `calibration`.
//! **Oracle** NumPy `average`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::over_rows::{OverRows, RowMetric};
use crate::totals::{TOTALS, add_totals};
use fuseval_core::value::NO_ROWS;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mean_label",
    summary: "mean of the label; the base rate of binary labels",
    file: include_str!("mean_label.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(MeanLabel))),
};

const PROFILE: Profile = Profile::rows(
    Direction::Neither,
    (f64::NEG_INFINITY, f64::INFINITY),
    Needs::new(ScoreNeed::Order, LabelRange::Any),
);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct MeanLabel;

impl RowMetric<2> for MeanLabel {
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

    fn outcome(&self, [_, labels]: &[ExactSum; 2], weights: &ExactSum) -> Outcome {
        Outcome::ratio(labels.value(), weights.value(), NO_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    use fuseval_core::View;

    #[test]
    fn weights_beyond_the_integers_are_added_exactly() {
        // Case 041 of the hard cases.
        let huge = 4_611_686_018_427_387_904.0;
        let view =
            View { weights: Some(&[huge, huge, huge, 3.0]), ..rows(&[0.0, 1.0, 1.0, 1.0], &[0.25, 0.5, 0.75, 0.125]) };
        has_values(&view, &[("mean_label", Ok(0.666_666_666_666_666_6)), ("mae", Ok(0.333_333_333_333_333_3))]);
    }
}
