//! `mse`: mean squared error.
//!
//! **Definition** Σ w·(p − y)² / Σ w, where p is the score, or the sigmoid of a logit.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the squared error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·(p − y)² with the square as high and low part, Σ w; shared with `rmse` and `brier`.
//! **Oracle** scikit-learn `mean_squared_error`. (TorchRec's NMSE divides it by the error of the constant prediction 1.)

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::blocks::{BLOCK, each_block};
use crate::over_rows::{OverRows, RowMetric, all_rows, mean};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mse",
    summary: "mean squared error of the prediction",
    file: include_str!("mse.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Mse))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// What the two sums are called: whoever asks for them shares them.
pub(crate) const SQUARED_ERRORS: &str = "squared_errors";

/// Adds the rows of a view to Σ w·(p − y)² and Σ w.
pub(crate) fn add_squared_errors([squares]: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
    let mut scratch = [0.0; BLOCK];
    each_block(view, |block| {
        let errors = block.map(&mut scratch, |label, prediction| prediction - label);
        block.add_squares(squares, errors);
    });
    all_rows(view)
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Mse;

impl RowMetric<1> for Mse {
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
        mean(sums, weight)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::View;

    #[test]
    fn the_root_is_taken_of_the_mean_over_all_rows() {
        let view = View { weights: Some(&[1.0, 3.0]), ..rows(&[0.0, 1.0], &[1.0, 0.5]) };
        has_values(&view, &[("mse", Ok(0.4375)), ("rmse", Ok(0.4375f64.sqrt())), ("mae", Ok(0.625))]);
    }
}
