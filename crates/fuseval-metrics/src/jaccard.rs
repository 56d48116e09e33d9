//! `jaccard`: rows called positive rightly, among those that are positive or called so.
//!
//! **Definition** tp / (tp + fp + fn), also critical success index or threat score.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** when there is no positive row and none is called positive.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `undefined=zero` or `one` gives that for 0/0.
//! `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `jaccard_score`; its preset has `undefined=zero`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, SKLEARN, THRESHOLD, UNDEFINED, share};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "jaccard",
    summary: "true positives among the rows that are positive or called so",
    file: include_str!("jaccard.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, UNDEFINED, MODE, LABELS],
    presets: SKLEARN,
    build: |settings| Rate::new(settings, jaccard)?.or_undefined(settings)?.build(settings),
};

fn jaccard(of: &Confusion) -> Rated {
    share(of.true_positives, of.positives() + of.false_positives, "no row that is positive or called so")
}
