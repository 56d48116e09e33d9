//! `calibration`: sum of the predictions over sum of the labels; 1 is calibrated, above 1 predicts too much.
//!
//! **Definition** Σ w·p / Σ w·y, where p is the probability, or the sigmoid of a logit.
//! **Relevant** labels lie in [0, 1].
//! **Ties** play no part.
//! **Weights** multiply both sums; rows of weight 0 are not there.
//! **Undefined** when no label is above 0. (TorchRec reports 0, TFMA NaN.)
//! **State** `sums`: Σ w·p, Σ w·y, Σ w.
//! **Oracle** mean score / mean label with NumPy.

use fuseval_core::{
    Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, Outcome, Result, ScoreNeed, Value, View,
};

use fuseval_core::value::NO_ROWS;

use crate::states::sums::{Sums, add_weights};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "calibration",
    summary: "sum of the predictions over sum of the labels",
    cutoff: false,
    options: &[],
    build: |_| Ok(Box::new(Calibration)),
};

/// The metric.
#[derive(Debug, Clone, Copy)]
pub struct Calibration;

impl Metric for Calibration {
    type State = Sums<3>;

    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn direction(&self) -> Direction {
        Direction::Target(1.0)
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Probability, labels: LabelRange::Unit, ranking: false }
    }

    fn empty(&self) -> Sums<3> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<3>, view: &View<'_>) -> Result<()> {
        let [predictions, labels, weights] = &mut state.sums;
        for (label, prediction, weight) in view.each_prediction() {
            predictions.add_product(weight, prediction);
            labels.add_product(weight, label);
        }
        add_weights(weights, view);
        state.tally.n += view.rows() as u64;
        Ok(())
    }

    fn finish(&self, state: &Sums<3>) -> Value {
        let [predictions, labels, weights] = &state.sums;
        let reason = if state.tally.n == 0 { NO_ROWS } else { "no label above 0" };
        Value::exact(Outcome::ratio(predictions.value(), labels.value(), reason), weights.value(), state.tally)
    }
}
