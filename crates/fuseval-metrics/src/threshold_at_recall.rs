//! `threshold_at_recall`: the threshold with the greatest precision among those that reach a recall.
//!
//! **Definition** among the observed scores as thresholds (positive when score ≥ threshold) where tp / (tp + fn) ≥ `recall`,
//! the one at which `precision_at_recall` has its value. A threshold that reaches the recall with fewer rows may be higher
//! than it, but is less precise. Of a logit the sigmoid is given, the scale on which thresholds of other metrics are
//! compared.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score lie on one side of every threshold; of thresholds that are equally good the highest is taken.
//! **Weights** count for rows; rows of weight 0 are not there and add no threshold.
//! **Undefined** without a positive row.
//! **Options** `recall`, from 0 to 1, must be given. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the lower border of the best bin is given. The exact threshold lies in a bin that can hold a
//! precision as great as that of this border (all of its positives above the threshold, all negatives below): the bound is
//! the distance to the farthest score of these bins.
//! **Oracle** the threshold of torchmetrics `BinaryPrecisionAtFixedRecall(thresholds=None)`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::operating_point::{OperatingPoint, RECALL, Told};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "threshold_at_recall",
    summary: "threshold with the greatest precision among those that reach a recall",
    file: include_str!("threshold_at_recall.rs"),
    cutoff: Cutoff::None,
    options: &[RECALL, MODE, LABELS],
    presets: &[],
    build: |settings| OperatingPoint::build(ENTRY.name, Told::Threshold, settings),
};
