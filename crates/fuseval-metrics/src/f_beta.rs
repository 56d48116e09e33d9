//! `f_beta`: weighted harmonic mean of precision and recall at a threshold.
//!
//! **Definition** (1 + β²)·tp / ((1 + β²)·tp + β²·fn + fp): β above 1 favours recall, below 1 precision (van Rijsbergen
//! 1979). It is the value of all rows; the mean over segments at a cut-off is `f1@k`.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** when there is no positive row and none is called positive.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `beta=1`. `undefined=zero` or `one` gives that for
//! 0/0. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `fbeta_score`; its preset has `undefined=zero`.

use fuseval_core::{Cutoff, Entry, Error, OptionEntry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, SKLEARN, THRESHOLD, UNDEFINED, share};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "f_beta",
    summary: "weighted harmonic mean of precision and recall at a threshold",
    file: include_str!("f_beta.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, OptionEntry { name: "beta", values: &[], default: "1" }, UNDEFINED, MODE, LABELS],
    presets: SKLEARN,
    build: |settings| {
        let beta = settings.number("beta", 1.0)?;
        if !(0.0..=1e6).contains(&beta) {
            return Err(Error::usage("`beta` from 0 to 1e6", beta.to_string(), "leave it out for 1"));
        }
        let rate = Rate::new(settings, move |of| f_beta(of, beta))?.with("beta", beta, 1.0);
        rate.or_undefined(settings)?.build(settings)
    },
};

fn f_beta(of: &Confusion, beta: f64) -> Rated {
    let square = beta * beta;
    let hits = (1.0 + square) * of.true_positives;
    share(hits, hits + square * of.false_negatives + of.false_positives, "no row that is positive or called so")
}
