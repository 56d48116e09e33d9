//! `confusion_matrix`: true and false positives and negatives at thresholds.
//!
//! **Definition** for each threshold the weights of the rows called positive rightly (tp) and wrongly (fp), and negative
//! rightly (tn) and wrongly (fn); positive when score ≥ threshold, as in scikit-learn and TorchRec (Keras and torchmetrics have
//! above; TorchRec's `hindsight_target_pr` counts a score at the threshold on both sides). A logit is compared by its
//! sigmoid. Where no row has a weight they are counts.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** are summed; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `thresholds=[0.5]`: a list, which is sorted and freed of repeats, or a number N for the N + 1 thresholds i/N.
//! `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds a threshold is called by its middle; the bound is the largest weight of one
//! class in such a bin.
//! **Oracle** scikit-learn `confusion_matrix`, threshold by threshold.

use fuseval_core::value::{Curve, NO_ROWS};
use fuseval_core::{
    Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, OptionEntry, OptionValue, Outcome, Profile,
    ScoreNeed,
};

use crate::on_scores::confusion::{Confusion, calls};
use crate::on_scores::descent::scale;
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::roc_auc_thresholds::RocAucThresholds;
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "confusion_matrix",
    summary: "true and false positives and negatives at thresholds",
    file: include_str!("confusion_matrix.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "thresholds", values: &[], default: "[0.5]" }, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let thresholds = settings.get("thresholds").unwrap_or_else(|| OptionValue::List(vec!["0.5".to_string()]));
        let thresholds = RocAucThresholds::new(&thresholds)?;
        Ok(Box::new(OnScores::new(ConfusionMatrix { thresholds }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Order, LabelRange::Binary))
        .with_interval(IntervalKind::None);

/// The formula.
#[derive(Debug, Clone)]
struct ConfusionMatrix {
    thresholds: RocAucThresholds,
}

impl ScoreMetric for ConfusionMatrix {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("thresholds", self.thresholds.option(), "[0.5]")
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        if table.steps().next().is_none() {
            return (Outcome::Undefined(NO_ROWS.into()), 0.0);
        }
        let scale = scale(table);
        let thresholds = self.thresholds.thresholds();
        let calls = calls(table, thresholds);
        let row = |of: Confusion| [of.true_positives, of.false_positives, of.true_negatives, of.false_negatives];
        let points = thresholds.iter().zip(&calls).map(|(threshold, calls)| {
            [*threshold].into_iter().chain(row(calls.nearest).map(|weight| weight / scale)).collect()
        });
        let curve = Curve { columns: &["threshold", "tp", "fp", "tn", "fn"], points: points.collect() };
        let open = calls.iter().fold(0.0f64, |most, calls| most.max(calls.open.negative).max(calls.open.positive));
        (Outcome::Curve(curve), open / scale)
    }
}

#[cfg(test)]
mod tests {
    use crate::on_scores::tests::curve;
    use crate::over_rows::tests::{rows, value};
    use fuseval_core::View;

    #[test]
    fn rows_at_the_threshold_are_called_positive() {
        let view = rows(&[1., 0., 1., 0., 1.], &[0.9, 0.5, 0.5, 0.25, 0.1]);
        let matrix = curve("confusion_matrix", &view);
        assert_eq!(matrix.columns, ["threshold", "tp", "fp", "tn", "fn"]);
        assert_eq!(matrix.points, [[0.5, 2.0, 1.0, 1.0, 1.0]]);
        let list = curve("confusion_matrix[thresholds=[2,0.5,0.5,-1]]", &view);
        assert_eq!(list.points, [[-1.0, 3.0, 2.0, 0.0, 0.0], [0.5, 2.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 2.0, 3.0]]);
        let quarters = curve("confusion_matrix[thresholds=4]", &view);
        assert_eq!(quarters.points[1], [0.25, 2.0, 2.0, 0.0, 1.0]);
    }

    #[test]
    fn weights_are_summed_and_bins_of_the_histogram_bound_the_error() {
        let weights = [1e300, 2e300, 1.5e300, 5e299, 1e300];
        let view = View { weights: Some(&weights), ..rows(&[1., 0., 1., 0., 1.], &[0.9, 0.5, 0.5, 0.25, 0.1]) };
        assert_eq!(curve("confusion_matrix", &view).points, [[0.5, 2.5e300, 2e300, 5e299, 1e300]]);
        // 0.5 is where a bin begins, so the rows of that bin may lie on either side.
        let near =
            value("confusion_matrix[mode=histogram]", None, &View { scores: &[0.9, 0.5, 0.5, 0.3, 0.1], ..view });
        assert_eq!((near.mode, near.error_bound), ("histogram", 2e300));
    }
}
