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
    Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, OptionInfo, Outcome, Result, ScoreNeed, Value, View,
};

use crate::roc_auc_thresholds::RocAucThresholds;
use crate::states::scores::Scores;
use crate::states::twofold::{Twofold, auc_numerator};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "roc_auc",
    summary: "area under the ROC curve: share of positive-negative pairs ranked right",
    cutoff: false,
    options: &[OptionInfo { name: "thresholds", values: &[], default: "none: exact" }],
    build: |settings| match settings.get("thresholds") {
        None => Ok(Box::new(RocAuc)),
        Some(thresholds) => Ok(Box::new(RocAucThresholds::new(thresholds)?)),
    },
};

/// The exact metric.
#[derive(Debug, Clone, Copy)]
pub struct RocAuc;

/// Why there is no area, if a class is missing.
pub(crate) fn missing_class(positives: f64, negatives: f64) -> Option<&'static str> {
    match (positives > 0.0, negatives > 0.0) {
        (true, true) => None,
        (false, false) => Some("no rows"),
        (false, true) => Some("no positive row"),
        (true, false) => Some("no negative row"),
    }
}

/// The area of groups of (negative, positive) rows in ascending order of score, from integers, and the part of it that is
/// half credit.
pub(crate) fn area_of_counts(groups: impl IntoIterator<Item = (u64, u64)>) -> (Outcome, f64) {
    let (mut twice_area, mut ties) = (0u128, 0u128);
    let (mut negatives, mut positives) = (0u64, 0u64);
    for (negative, positive) in groups {
        let tied = u128::from(positive) * u128::from(negative);
        twice_area += 2 * u128::from(positive) * u128::from(negatives) + tied;
        ties += tied;
        negatives += negative;
        positives += positive;
    }
    if let Some(reason) = missing_class(positives as f64, negatives as f64) {
        return (Outcome::Undefined(reason.into()), 0.0);
    }
    let pairs = 2.0 * (u128::from(negatives) * u128::from(positives)) as f64;
    (Outcome::Number(twice_area as f64 / pairs), ties as f64 / pairs)
}

/// The same from weights.
pub(crate) fn area_of_weights(groups: impl IntoIterator<Item = (f64, f64)>) -> (Outcome, f64) {
    let (area, half, positives, negatives) = auc_numerator(groups.into_iter().map(|(n, p)| (p, n)));
    if let Some(reason) = missing_class(positives, negatives) {
        return (Outcome::Undefined(reason.into()), 0.0);
    }
    // Divided twice, since the product of two sums of weights can overflow where the area does not.
    (Outcome::Number(area / positives / negatives), half / positives / negatives)
}

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
        let steps = state.steps();
        let outcome = if state.is_unweighted() {
            area_of_counts(steps.iter().map(|step| (step.negative.rows, step.positive.rows))).0
        } else {
            area_of_weights(steps.iter().map(|step| (step.negative.weight, step.positive.weight))).0
        };
        let mut weight = Twofold::default();
        let mut tally = fuseval_core::Tally::default();
        for step in &steps {
            weight.add(step.negative.weight);
            weight.add(step.positive.weight);
            tally.n += step.negative.rows + step.positive.rows;
        }
        Value::exact(outcome, weight.value(), tally)
    }
}
