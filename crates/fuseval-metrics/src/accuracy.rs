//! `accuracy`: share of the rows that a threshold calls right.
//!
//! **Definition** (tp + tn) / all.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `accuracy_score`.

use fuseval_core::value::NO_ROWS;
use fuseval_core::{Cutoff, Entry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, THRESHOLD, share};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "accuracy",
    summary: "share of the rows that a threshold calls right",
    file: include_str!("accuracy.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, MODE, LABELS],
    presets: &[],
    build: |settings| Rate::new(settings, accuracy)?.build(settings),
};

fn accuracy(of: &Confusion) -> Rated {
    share(of.true_positives + of.true_negatives, of.called() + of.not_called(), NO_ROWS)
}
