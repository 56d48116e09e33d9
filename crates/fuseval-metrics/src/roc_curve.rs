//! `roc_curve`: true and false positive rates over all thresholds, thinned.
//!
//! **Definition** the points (FPR, TPR) of the observed scores as thresholds (positive when score ≥ threshold), from (0, 0)
//! with threshold ∞ to (1, 1) with the least score. Of a logit the sigmoid is given as threshold.
//! **Thinning** points are left out as long as straight lines between those kept pass each of them by at most `max_error` in
//! TPR; the first and the last point are kept. scikit-learn's `drop_intermediate` leaves out collinear points alone, as
//! `max_error=0` does.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score make one point.
//! **Weights** count for rows in both rates; rows of weight 0 are not there and add no point.
//! **Undefined** when a class is missing.
//! **Options** `max_error=0.001`. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the points are those of the exact curve at the borders of the bins; between them it rises from
//! one to the other, so its distance in TPR is at most the largest rise within a bin. `max_error` comes on top.
//! **Oracle** scikit-learn `roc_curve`.

use fuseval_core::value::Curve;
use fuseval_core::{Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::descent::{descent, totals};
use crate::on_scores::thinning::{DEFAULT_MAX_ERROR, MAX_ERROR, Thinning, max_error};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "roc_curve",
    summary: "true and false positive rates over all thresholds, thinned",
    file: include_str!("roc_curve.rs"),
    cutoff: Cutoff::None,
    options: &[MAX_ERROR, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let max_error = max_error(settings)?;
        Ok(Box::new(OnScores::new(RocCurve { max_error }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Binary))
        .with_interval(IntervalKind::None);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct RocCurve {
    max_error: f64,
}

impl ScoreMetric for RocCurve {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with(MAX_ERROR.name, self.max_error, DEFAULT_MAX_ERROR)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        if let Some(reason) = all.lacks_a_class() {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let mut curve = Thinning::new(self.max_error);
        curve.add([0.0, 0.0, f64::INFINITY]);
        let mut rise = 0.0f64;
        for step in descent(table) {
            let (fpr, tpr) = (step.down_to.negative / all.negative, step.down_to.positive / all.positive);
            curve.add([fpr, tpr, table.prediction(step.step.low)]);
            rise = rise.max(step.own.positive / all.positive);
        }
        let curve = Curve { columns: &["fpr", "tpr", "threshold"], points: curve.finish() };
        (Outcome::Curve(curve), if table.exact { 0.0 } else { rise })
    }
}

#[cfg(test)]
mod tests {
    use crate::on_scores::tests::curve;
    use crate::over_rows::tests::rows;
    use fuseval_core::View;

    #[test]
    fn the_points_are_those_of_scikit_learn() {
        let view = rows(&[1., 0., 1., 1., 0., 0., 1., 0.], &[0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.3, 0.1]);
        let all = curve("roc_curve[max_error=0]", &view);
        assert_eq!(all.columns, ["fpr", "tpr", "threshold"]);
        // `roc_curve(…)` with collinear points dropped.
        let expected: [[f64; 3]; 7] = [
            [0.0, 0.0, f64::INFINITY],
            [0.0, 0.25, 0.9],
            [0.25, 0.5, 0.8],
            [0.25, 0.75, 0.7],
            [0.75, 0.75, 0.4],
            [0.75, 1.0, 0.3],
            [1.0, 1.0, 0.1],
        ];
        assert_eq!(all.points, expected);
        let thin = curve("roc_curve[max_error=0.3]", &view);
        assert!(thin.points.len() < 6 && thin.points.iter().all(|point| all.points.contains(point)));
        let weighted = curve("roc_curve[max_error=0]", &View { weights: Some(&[3.0; 8]), ..view });
        assert_eq!(weighted, all);
    }
}
