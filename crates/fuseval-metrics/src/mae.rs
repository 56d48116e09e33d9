//! `mae`: mean absolute error.
//!
//! **Definition** Σ w·|p − y| / Σ w, where p is the score, or the sigmoid of a logit.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·|p − y| with each product exact, Σ w.
//! **Oracle** scikit-learn `mean_absolute_error`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::blocks::{BLOCK, each_block};
use crate::over_rows::{OverRows, RowMetric, all_rows, mean};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mae",
    summary: "mean absolute error of the prediction",
    file: include_str!("mae.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Mae))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Mae;

impl RowMetric<1> for Mae {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, [errors]: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
        let mut scratch = [0.0; BLOCK];
        each_block(view, |block| {
            let absolute = block.map(&mut scratch, |label, prediction| (prediction - label).abs());
            block.add(errors, absolute);
        });
        all_rows(view)
    }

    fn outcome(&self, sums: &[ExactSum; 1], weight: &ExactSum) -> Outcome {
        mean(sums, weight)
    }
}
