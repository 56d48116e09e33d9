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
//! **Options** `mode=exact|histogram`: how scores are kept; `labels=soft`: a label between 0 and 1 is a share of a positive
//! row.
//! **Bound** in the histogram pairs within one bin may be ranked either way: half their share of all pairs.
//! **State** `scores` (exact), `thresholds` (summed confusion matrices).
//! **Oracle** scikit-learn `roc_auc_score`.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed};

use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::roc_auc_thresholds::RocAucThresholds;
use crate::states::area::Area;
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "roc_auc",
    summary: "area under the ROC curve: share of positive-negative pairs ranked right",
    file: include_str!("roc_auc.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "thresholds", values: &[], default: "none" }, MODE, LABELS],
    presets: &[],
    build: |settings| match settings.get("thresholds") {
        None => Ok(Box::new(OnScores::new(RocAuc, settings)?)),
        Some(thresholds) => Ok(Box::new(RocAucThresholds::new(&thresholds)?)),
    },
};

pub(crate) const PROFILE: Profile =
    Profile::rows(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Binary));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct RocAuc;

impl ScoreMetric for RocAuc {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let area = Area::of(table);
        let (outcome, half) = area.finish();
        // Inside a bin the exact area gives anything from nothing to full credit, and this gives half.
        (outcome, if table.exact { 0.0 } else { half })
    }
}
