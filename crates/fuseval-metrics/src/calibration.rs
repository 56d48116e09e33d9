//! `calibration`: sum of the predictions over sum of the labels; 1 is calibrated, above 1 predicts too much.
//!
//! **Definition** Σ w·p / Σ w·y, where p is the probability, or the sigmoid of a logit.
//! **Relevant** labels lie in [0, 1].
//! **Ties** play no part.
//! **Weights** multiply both sums; rows of weight 0 are not there.
//! **Undefined** when no label is above 0. (TorchRec reports 0, TFMA NaN.)
//! **State** `sums`: Σ w·p, Σ w·y, Σ w, shared with `mean_label`, `mean_prediction`, `bias` and `sum_ratio`.
//! **Oracle** mean score / mean label with NumPy.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::over_rows::{OverRows, RowMetric};
use crate::totals::{TOTALS, add_totals};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "calibration",
    summary: "sum of the predictions over sum of the labels",
    file: include_str!("calibration.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Calibration))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Target(1.0), (0.0, f64::INFINITY), Needs::new(ScoreNeed::Probability, LabelRange::Unit));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Calibration;

impl RowMetric<2> for Calibration {
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
        Outcome::ratio(predictions.value(), labels.value(), "no label above 0")
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    use fuseval_core::{ScoreKind, View};

    #[test]
    fn without_positives_there_is_none_but_the_means_are_there() {
        // Case 050 of the hard cases.
        let view = rows(&[0.0, 0.0, 0.0], &[0.1, 0.2, 0.3]);
        has_values(
            &view,
            &[
                ("calibration", Err("no label above 0")),
                ("mean_prediction", Ok(0.2)),
                ("mean_label", Ok(0.0)),
                ("bias", Ok(0.2)),
            ],
        );
    }

    #[test]
    fn weights_multiply_both_sums() {
        // Case 040 of the hard cases.
        let weights = [4.0, 0.5, 1.0, 0.25, 0.25];
        let view = View { weights: Some(&weights), ..rows(&[1.0, 0.0, 1.0, 0.0, 1.0], &[0.7, 0.7, 0.2, 0.2, 0.5]) };
        has_values(&view, &[("calibration", Ok(0.671_428_571_428_571_4)), ("mae", Ok(0.420_833_333_333_333_34))]);
    }

    #[test]
    fn logits_are_probabilities_first() {
        let view = View { kind: ScoreKind::Logit, ..rows(&[1.0, 0.0, 1.0, 0.0], &[0.0, 0.0, 1000.0, -1000.0]) };
        has_values(&view, &[("calibration", Ok(1.0)), ("mean_prediction", Ok(0.5))]);
    }
}
