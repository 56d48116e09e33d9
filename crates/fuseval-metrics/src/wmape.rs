//! `wmape`: weighted mean absolute percentage error: all absolute errors over all absolute labels, as a share.
//!
//! **Definition** Σ w·|p − y| / Σ w·|y|, where p is the score, or the sigmoid of a logit. Unlike `mape` it needs no rule
//! for labels of 0, and rows with small labels do not rule it.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply both sums; rows of weight 0 are not there.
//! **Undefined** when all labels are 0.
//! **State** `sums`: Σ w·|p − y|, Σ w·|y|, Σ w.
//! **Oracle** torchmetrics `WeightedMeanAbsolutePercentageError`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::blocks::{BLOCK, each_block};
use crate::over_rows::{OverRows, RowMetric, all_rows};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "wmape",
    summary: "sum of the absolute errors over sum of the absolute labels",
    file: include_str!("wmape.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Wmape))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Wmape;

impl RowMetric<2> for Wmape {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, [errors, labels]: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
        let mut scratch = [0.0; BLOCK];
        each_block(view, |block| {
            block.add(errors, block.map(&mut scratch, |label, prediction| (prediction - label).abs()));
            block.add(labels, block.map(&mut scratch, |label, _| label.abs()));
        });
        all_rows(view)
    }

    fn outcome(&self, [errors, labels]: &[ExactSum; 2], _weight: &ExactSum) -> Outcome {
        Outcome::ratio(errors.value(), labels.value(), "all labels are 0")
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;

    #[test]
    fn labels_of_either_sign_count_by_their_size() {
        has_values(&rows(&[2.0, -2.0, 0.0], &[1.0, -1.0, 1.0]), &[("wmape", Ok(0.75))]);
        has_values(&rows(&[0.0, 0.0], &[1.0, 0.0]), &[("wmape", Err("all labels are 0"))]);
    }
}
