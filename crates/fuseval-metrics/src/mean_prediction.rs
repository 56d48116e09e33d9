//! `mean_prediction`: the mean prediction.
//!
//! **Definition** Σ w·p / Σ w, where p is the score, or the sigmoid of a logit.
//! **Relevant** every row; labels are not used.
//! **Ties** play no part.
//! **Weights** multiply the prediction; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·p, Σ w·y, Σ w, shared with `mean_label`, `bias`, `sum_ratio` and `calibration`.
//! **Oracle** NumPy `average`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::over_rows::{OverRows, RowMetric, mean};
use crate::totals::{TOTALS, add_totals};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mean_prediction",
    summary: "mean of the prediction",
    file: include_str!("mean_prediction.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(MeanPrediction))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (f64::NEG_INFINITY, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct MeanPrediction;

impl RowMetric<2> for MeanPrediction {
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

    fn outcome(&self, sums: &[ExactSum; 2], weight: &ExactSum) -> Outcome {
        mean(sums, weight)
    }
}
