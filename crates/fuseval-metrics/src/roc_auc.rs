//! `roc_auc`: area under the ROC curve.
//!
//! **Definition** the share of (positive, negative) pairs in which the positive has the higher score, each pair weighted by
//! the product of the weights.
//! **Relevant** label 1; labels between 0 and 1 are refused unless the head has a `label_threshold`.
//! **Ties** a pair of equal scores counts one half.
//! **Weights** multiply; rows of weight 0 are not there.
//! **Undefined** when a class is missing.
//! **Thresholds** `thresholds=N` uses the N + 1 thresholds i/N, `thresholds=[…]` a list: the trapezoid through the rates at
//! these thresholds (positive when score ≥ threshold) and through (0, 0) and (1, 1), with a proven bound on its distance to
//! the exact area. Logits are compared by their sigmoid.
//! **State** `scores` (exact), `thresholds` (summed confusion matrices).
//! **Oracle** scikit-learn `roc_auc_score`.

use fuseval_core::{
    Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, OptionEntry, Result, ScoreNeed, Tally, Value, View,
};

use crate::roc_auc_thresholds::RocAucThresholds;
use crate::states::area::Area;
use crate::states::scores::Scores;
use crate::states::twofold::Twofold;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "roc_auc",
    summary: "area under the ROC curve: share of positive-negative pairs ranked right",
    cutoff: false,
    options: &[OptionEntry { name: "thresholds", values: &[], default: "none: exact" }],
    build: |settings| match settings.get("thresholds") {
        None => Ok(Box::new(RocAuc)),
        Some(thresholds) => Ok(Box::new(RocAucThresholds::new(thresholds)?)),
    },
};

/// The exact metric.
#[derive(Debug, Clone, Copy)]
pub struct RocAuc;

impl Metric for RocAuc {
    type State = Scores;

    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn state_name(&self) -> String {
        "scores".to_string()
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn direction(&self) -> Direction {
        Direction::Higher
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Order, labels: LabelRange::Binary, ranking: false }
    }

    fn empty(&self) -> Scores {
        Scores::default()
    }

    fn update(&self, state: &mut Scores, view: &View<'_>) -> Result<()> {
        view.each().for_each(|(label, score, weight)| state.add(score, label > 0.0, weight));
        Ok(())
    }

    fn finish(&self, state: &Scores) -> Value {
        let mut area = Area::new(state.largest_weight());
        let mut weight = Twofold::default();
        let mut tally = Tally::default();
        state.each_step(|step| {
            if area.is_weighted() {
                area.add_weights(step.negative.weight, step.positive.weight);
            } else {
                area.add_rows(step.negative.rows, step.positive.rows);
            }
            weight.add(step.negative.weight);
            weight.add(step.positive.weight);
            tally.n += step.negative.rows + step.positive.rows;
        });
        let (outcome, _) = area.finish();
        Value::exact(outcome, weight.value(), tally)
    }
}
