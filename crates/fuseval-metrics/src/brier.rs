//! `brier`: Brier score, the mean squared error of a probability.
//!
//! **Definition** Σ w·(p − y)² / Σ w, where p is the probability, or the sigmoid of a logit (Brier 1950, the form with one
//! term per row; his own sums both classes and is twice as large for binary labels).
//! **Relevant** labels lie in [0, 1].
//! **Ties** play no part.
//! **Weights** multiply the squared error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·(p − y)² with the square as high and low part, Σ w; shared with `mse` and `rmse`.
//! **Oracle** scikit-learn `brier_score_loss`, of binary labels.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::mse::{SQUARED_ERRORS, add_squared_errors};
use crate::over_rows::{OverRows, RowMetric, mean};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "brier",
    summary: "mean squared error of the probability",
    file: include_str!("brier.rs"),
    cutoff: Cutoff::None,
    options: &[],
    presets: &[],
    build: |_| Ok(Box::new(OverRows(Brier))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, 1.0), Needs::new(ScoreNeed::Probability, LabelRange::Unit));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Brier;

impl RowMetric<1> for Brier {
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
    use fuseval_core::{ScoreKind, View};

    #[test]
    fn of_probabilities_and_of_logits() {
        has_values(&rows(&[1.0, 0.0, 0.5], &[0.75, 0.25, 0.5]), &[("brier", Ok(0.125 / 3.0))]);
        let logits = View { kind: ScoreKind::Logit, ..rows(&[1.0, 0.0], &[0.0, -1000.0]) };
        has_values(&logits, &[("brier", Ok(0.125)), ("mse", Ok(0.125))]);
    }
}
