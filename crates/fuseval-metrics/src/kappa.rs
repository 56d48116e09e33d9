//! `kappa`: Cohen's κ, agreement of calls and labels beyond chance.
//!
//! **Definition** (observed − expected) / (1 − expected), where observed is the accuracy and expected that of independent
//! calls with the same rates: 2·(tp·tn − fp·fn) / ((tp + fp)·(fp + tn) + (tp + fn)·(fn + tn)) (Cohen 1960).
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** when all rows are of one class and all are called that class.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `undefined=zero` or `one` gives that for 0/0.
//! `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `cohen_kappa_score` (0/0 is NaN there).

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, THRESHOLD, UNDEFINED};
use crate::on_scores::{LABELS, MODE};
use crate::states::twofold::Twofold;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "kappa",
    summary: "agreement of calls at a threshold and labels beyond chance",
    file: include_str!("kappa.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, UNDEFINED, MODE, LABELS],
    presets: &[],
    build: |settings| Rate::new(settings, kappa)?.within((-1.0, 1.0)).or_undefined(settings)?.build(settings),
};

fn kappa(of: &Confusion) -> Rated {
    let mut apart = Twofold::default();
    apart.add_product(of.called(), of.negatives());
    apart.add_product(of.positives(), of.not_called());
    if apart.value() == 0.0 {
        return Err("all rows are of one class and called it");
    }
    Ok((2.0 * of.association() / apart.value()).clamp(-1.0, 1.0))
}
