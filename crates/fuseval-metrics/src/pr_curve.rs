//! `pr_curve`: precision and recall over all thresholds, thinned.
//!
//! **Definition** the points (recall, precision) of the observed scores as thresholds (positive when score ≥ threshold), from
//! the highest score to the least, where recall is 1. There is no invented first point: scikit-learn and torchmetrics add (0,
//! 1). Of a logit the sigmoid is given as threshold.
//! **Thinning** points are left out as long as straight lines between those kept pass each of them by at most `max_error` in
//! precision; the first and the last point are kept.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score make one point.
//! **Weights** count for rows in both rates; rows of weight 0 are not there and add no point.
//! **Undefined** without a positive row.
//! **Options** `max_error=0.001`. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the points are those of the exact curve at the borders of the bins. Within a bin, from t₀ true
//! and f₀ false positives to t₁ and f₁, precision lies from t₀ / (t₀ + f₁) to t₁ / (t₁ + f₀): the bound is the largest
//! distance from the ends of the line to these, where left of the first point its precision is taken to hold. `max_error`
//! comes on top.
//! **Oracle** scikit-learn `precision_recall_curve`.

use fuseval_core::value::Curve;
use fuseval_core::{Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::descent::{Weights, descent, totals};
use crate::on_scores::thinning::{DEFAULT_MAX_ERROR, MAX_ERROR, Thinning, max_error};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "pr_curve",
    summary: "precision and recall over all thresholds, thinned",
    file: include_str!("pr_curve.rs"),
    cutoff: Cutoff::None,
    options: &[MAX_ERROR, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let max_error = max_error(settings)?;
        Ok(Box::new(OnScores::new(PrCurve { max_error }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Binary))
        .with_interval(IntervalKind::None);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct PrCurve {
    max_error: f64,
}

impl ScoreMetric for PrCurve {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with(MAX_ERROR.name, self.max_error, DEFAULT_MAX_ERROR)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        if let Some(reason) = all.lacks_positives() {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let mut curve = Thinning::new(self.max_error);
        let mut bound = 0.0f64;
        for step in descent(table) {
            let precision = step.down_to.precision();
            curve.add([step.down_to.positive / all.positive, precision, table.prediction(step.step.low)]);
            let before = if step.above.sum() > 0.0 { step.above.precision() } else { precision };
            let least = Weights { positive: step.above.positive, ..step.down_to }.precision();
            let most = Weights { negative: step.above.negative, ..step.down_to }.precision();
            let (lower, upper) = (before.min(precision), before.max(precision));
            // Nothing is above the first bin, and it may hold no negative row.
            let (least, most) = (if least.is_nan() { lower } else { least }, if most.is_nan() { upper } else { most });
            bound = bound.max(upper - least).max(most - lower);
        }
        let curve = Curve { columns: &["recall", "precision", "threshold"], points: curve.finish() };
        (Outcome::Curve(curve), if table.exact { 0.0 } else { bound })
    }
}

#[cfg(test)]
mod tests {
    use crate::on_scores::tests::curve;
    use crate::over_rows::tests::rows;

    #[test]
    fn the_points_are_those_of_scikit_learn() {
        let view = rows(&[1., 0., 1., 1., 0., 0., 1., 0.], &[0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.3, 0.1]);
        let all = curve("pr_curve[max_error=0]", &view);
        assert_eq!(all.columns, ["recall", "precision", "threshold"]);
        // `precision_recall_curve(…)` without its invented last point (1, 0); the point of 0.6 lies on a vertical line.
        let expected: [[f64; 3]; 6] = [
            [0.25, 1.0, 0.9],
            [0.5, 2.0 / 3.0, 0.8],
            [0.75, 0.75, 0.7],
            [0.75, 0.5, 0.4],
            [1.0, 4.0 / 7.0, 0.3],
            [1.0, 0.5, 0.1],
        ];
        assert_eq!(all.points, expected);
    }
}
