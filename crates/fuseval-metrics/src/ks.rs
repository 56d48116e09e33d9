//! `ks`: the statistic of Kolmogorov and Smirnov, the largest distance between the rates of both classes.
//!
//! **Definition** max over thresholds of |TPR − FPR|: the largest vertical distance between the score distributions of the
//! positive and the negative rows. Scores that rank the wrong way have it too; where the sign matters look at `roc_auc`.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score lie on one side of every threshold.
//! **Weights** count for rows in both rates; rows of weight 0 are not there.
//! **Undefined** when a class is missing.
//! **Options** `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the curve is known at the borders of the bins. Between (FPR₀, TPR₀) and (FPR₁, TPR₁) it rises,
//! so the distance there is at most max(TPR₁ − FPR₀, FPR₁ − TPR₀); the value is never above the exact one.
//! **Oracle** SciPy `ks_2samp(positive, negative).statistic`.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::descent::{Weights, coarse_descent, totals};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "ks",
    summary: "largest distance between the true and the false positive rate",
    file: include_str!("ks.rs"),
    cutoff: Cutoff::None,
    options: &[MODE, LABELS],
    presets: &[],
    build: |settings| Ok(Box::new(OnScores::new(Ks, settings)?)),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ks;

impl ScoreMetric for Ks {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::rows(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Binary))
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        if let Some(reason) = all.lacks_a_class() {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let (mut value, mut most) = (0.0f64, 0.0f64);
        // Between two scores of positive rows the distance is greatest at an end.
        for step in coarse_descent(table) {
            let rates = |of: Weights| (of.positive / all.positive, of.negative / all.negative);
            let ((tpr, fpr), (next_tpr, next_fpr)) = (rates(step.above), rates(step.down_to));
            value = value.max((next_tpr - next_fpr).abs());
            most = most.max(next_tpr - fpr).max(next_fpr - tpr);
        }
        (Outcome::Number(value), if table.exact { 0.0 } else { (most - value).max(0.0) })
    }
}
