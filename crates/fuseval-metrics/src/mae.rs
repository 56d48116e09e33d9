//! `mae`: mean absolute error.
//!
//! **Definition** Σ w·|p − y| / Σ w, where p is the score, or the sigmoid of a logit.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·|p − y| with each product exact, Σ w.
//! **Oracle** scikit-learn `mean_absolute_error`.

use fuseval_core::{Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, Result, ScoreNeed, Value, View};

use fuseval_core::value::NO_ROWS;

use crate::states::sums::{Sums, add_weights};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mae",
    summary: "mean absolute error of the prediction",
    cutoff: false,
    options: &[],
    build: |_| Ok(Box::new(Mae)),
};

/// The metric.
#[derive(Debug, Clone, Copy)]
pub struct Mae;

impl Metric for Mae {
    type State = Sums<2>;

    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Size, labels: LabelRange::Any, ranking: false }
    }

    fn empty(&self) -> Sums<2> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<2>, view: &View<'_>) -> Result<()> {
        let [errors, weights] = &mut state.sums;
        view.each_prediction().for_each(|(label, prediction, weight)| {
            errors.add_product(weight, (prediction - label).abs());
        });
        add_weights(weights, view);
        state.tally.n += view.rows() as u64;
        Ok(())
    }

    fn finish(&self, state: &Sums<2>) -> Value {
        state.mean(NO_ROWS)
    }
}
