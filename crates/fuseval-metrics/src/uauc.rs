//! `uauc`: the area under the ROC curve within each segment, averaged over segments alike.
//!
//! **Definition** the share of a segment's (relevant, other) pairs in which the relevant row has the higher score; the mean over
//! segments. The same as `gauc[average=macro]`: each user counts once, however many rows there are of him (TorchEasyRec,
//! XGBoost; TorchRec calls it `grouped_auc`).
//! **Relevant** label 1; other labels need `rel_threshold`, and then rows with label ≥ `rel_threshold` are relevant.
//! **Ties** a pair of equal scores counts one half, which is the mean over all orders.
//! **Weights** a segment weighs the mean of its rows' weights; within the segment all pairs count alike. Rows of weight 0 are
//! not there, and rows without a score are in no pair.
//! **Undefined** in a segment of one class, which is left out and counted. `single_class=half` gives it 0.5, as TorchRec's
//! `grouped_auc` does.
//! **Options** `constant_scores=half|skip`: a segment in which all scores are equal has 0.5 (default), or is left out.
//! **State** `sums`: Σ w·AUC, Σ w over segments.
//! **Oracle** scikit-learn `roc_auc_score` per segment.

use fuseval_core::{Cutoff, Entry};

use crate::gauc::{CONSTANT_SCORES, auc_of_segments};
use crate::segments::{REL_THRESHOLD, SINGLE_CLASS};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "uauc",
    summary: "area under the ROC curve within a segment, mean over segments alike",
    file: include_str!("uauc.rs"),
    cutoff: Cutoff::None,
    options: &[CONSTANT_SCORES, SINGLE_CLASS, REL_THRESHOLD],
    presets: &[],
    build: |settings| auc_of_segments(ENTRY.name, settings),
};
