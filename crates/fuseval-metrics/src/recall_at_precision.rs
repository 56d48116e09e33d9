//! `recall_at_precision`: the greatest recall that leaves a precision reached.
//!
//! **Definition** the greatest tp / (tp + fn) among the observed scores as thresholds (positive when score ≥ threshold) where
//! tp / (tp + fp) ≥ `precision`. Keras and TFMA choose among the thresholds of a grid and give 0 where none will do.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score lie on one side of every threshold; of thresholds that are equally good the highest is taken.
//! **Weights** count for rows; rows of weight 0 are not there and add no threshold.
//! **Undefined** without a positive row, and where no threshold has the precision: in the histogram none at the border of a
//! bin, though one inside a bin may have it.
//! **Options** `precision`, from 0 to 1, must be given. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the thresholds at the borders of the bins are known. One inside a bin has at best all positives
//! of the bin above it and all negatives below; the value is never above the exact one.
//! **Oracle** torchmetrics `BinaryRecallAtFixedPrecision(thresholds=None)` (0 where no threshold will do); maximum over
//! scikit-learn `precision_recall_curve`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::operating_point::{OperatingPoint, PRECISION, Told};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "recall_at_precision",
    summary: "greatest recall among the thresholds that reach a precision",
    file: include_str!("recall_at_precision.rs"),
    cutoff: Cutoff::None,
    options: &[PRECISION, MODE, LABELS],
    presets: &[],
    build: |settings| OperatingPoint::build(ENTRY.name, Told::Recall, settings),
};
