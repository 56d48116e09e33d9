//! `specificity`: share of the negative rows that a threshold leaves negative.
//!
//! **Definition** tn / (tn + fp), one minus the false positive rate.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** without a negative row.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `undefined=zero` or `one` gives that for 0/0.
//! `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `recall_score(pos_label=0)`; its preset has `undefined=zero`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, SKLEARN, THRESHOLD, UNDEFINED, share};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "specificity",
    summary: "share of the negative rows below a threshold",
    file: include_str!("specificity.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, UNDEFINED, MODE, LABELS],
    presets: SKLEARN,
    build: |settings| Rate::new(settings, specificity)?.or_undefined(settings)?.build(settings),
};

fn specificity(of: &Confusion) -> Rated {
    share(of.true_negatives, of.negatives(), "no negative row")
}
