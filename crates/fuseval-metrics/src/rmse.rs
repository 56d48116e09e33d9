//! `rmse`: root mean squared error.
//!
//! **Definition** √(Σ w·(p − y)² / Σ w): the root of the global mean, never a mean of roots; p is the score, or the sigmoid
//! of a logit.
//! **Relevant** every row; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the squared error; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **State** `sums`: Σ w·(p − y)² with the square as high and low part, Σ w.
//! **Oracle** scikit-learn `root_mean_squared_error`.

use fuseval_core::{Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, Result, ScoreNeed, Value, View};

use fuseval_core::value::NO_ROWS;

use crate::states::sums::{Sums, add_weights};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "rmse",
    summary: "root mean squared error of the prediction",
    cutoff: false,
    options: &[],
    build: |_| Ok(Box::new(Rmse)),
};

/// The metric.
#[derive(Debug, Clone, Copy)]
pub struct Rmse;

impl Metric for Rmse {
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
        let [squares, weights] = &mut state.sums;
        view.each_prediction().for_each(|(label, prediction, weight)| {
            let error = prediction - label;
            let square = error * error;
            squares.add_product(weight, square);
            if square.is_finite() {
                squares.add_product(weight, error.mul_add(error, -square));
            }
        });
        add_weights(weights, view);
        state.tally.n += view.rows() as u64;
        Ok(())
    }

    fn finish(&self, state: &Sums<2>) -> Value {
        let mean = state.mean(NO_ROWS);
        Value { outcome: mean.outcome.map(f64::sqrt), ..mean }
    }
}
