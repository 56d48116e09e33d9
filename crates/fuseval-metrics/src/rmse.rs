//! `rmse`: root mean squared error.
//!
//! **Definition** √(Σ w·(p − y)² / Σ w): the root of the global mean, never a mean of roots; p is the score, or the sigmoid
//! of a logit.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the squared error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·(p − y)² with the square as high and low part, Σ w; shared with `mse` and `brier`.
//! **Oracle** scikit-learn `root_mean_squared_error`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::mse::{SQUARED_ERRORS, add_squared_errors};
use crate::over_rows::{OverRows, RowMetric, mean};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "rmse",
    summary: "root mean squared error of the prediction",
    file: include_str!("rmse.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Rmse))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Rmse;

impl RowMetric<1> for Rmse {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn sums_name(&self) -> String {
        SQUARED_ERRORS.to_string()
    }

    fn add(&self, sums: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
        add_squared_errors(sums, view)
    }

    fn outcome(&self, sums: &[ExactSum; 1], weight: &ExactSum) -> Outcome {
        mean(sums, weight).map(f64::sqrt)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    #[test]
    fn decimal_labels() {
        // Case 031 of the hard cases.
        let view = rows(&[2.0, 0.35, 4.0, 0.0], &[2.5, 0.1, 3.99, -1.25]);
        has_values(&view, &[("mae", Ok(0.5025)), ("rmse", Ok(0.684_671_454_056_615_3))]);
    }
}
