//! `precision_at_recall`: the greatest precision that leaves a recall reached.
//!
//! **Definition** the greatest tp / (tp + fp) among the observed scores as thresholds (positive when score ≥ threshold) where
//! tp / (tp + fn) ≥ `recall`. Keras and TFMA choose among the thresholds of a grid and give 0 where none will do.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score lie on one side of every threshold; of thresholds that are equally good the highest is taken.
//! **Weights** count for rows; rows of weight 0 are not there and add no threshold.
//! **Undefined** without a positive row; with one, the lowest threshold reaches every recall.
//! **Options** `recall`, from 0 to 1, must be given. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the thresholds at the borders of the bins are known. One inside a bin has at best all positives
//! of the bin above it and all negatives below; the value is never above the exact one.
//! **Oracle** torchmetrics `BinaryPrecisionAtFixedRecall(thresholds=None)`; maximum over scikit-learn
//! `precision_recall_curve`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::operating_point::{OperatingPoint, RECALL, Told};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "precision_at_recall",
    summary: "greatest precision among the thresholds that reach a recall",
    file: include_str!("precision_at_recall.rs"),
    cutoff: Cutoff::None,
    options: &[RECALL, MODE, LABELS],
    presets: &[],
    build: |settings| OperatingPoint::build(ENTRY.name, Told::Precision, settings),
};
