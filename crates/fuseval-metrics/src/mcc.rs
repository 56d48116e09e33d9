//! `mcc`: Matthews' correlation of calls and labels.
//!
//! **Definition** (tp·tn − fp·fn) / √((tp + fp)·(tp + fn)·(tn + fp)·(tn + fn)), from −1 to 1, 0 for calls that do not depend
//! on the label (Matthews 1975).
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there. Products are of floats with twice the digits, so large counts
//! do not overflow.
//! **Undefined** when a class is missing or all rows are called alike.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `undefined=zero` or `one` gives that for 0/0.
//! `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `matthews_corrcoef`; its preset has `undefined=zero`.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, SKLEARN, THRESHOLD, UNDEFINED};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mcc",
    summary: "correlation of calls at a threshold and labels",
    file: include_str!("mcc.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, UNDEFINED, MODE, LABELS],
    presets: SKLEARN,
    build: |settings| Rate::new(settings, mcc)?.within((-1.0, 1.0)).or_undefined(settings)?.build(settings),
};

fn mcc(of: &Confusion) -> Rated {
    let classes = of.positives() * of.negatives();
    let calls = of.called() * of.not_called();
    if classes == 0.0 {
        return Err("one class is missing");
    }
    if calls == 0.0 {
        return Err("all rows are called alike");
    }
    Ok((of.association() / (classes * calls).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_32_bits_do_not_overflow() {
        // polars_ds multiplied 32-bit counts.
        let large = Confusion { true_positives: 3e9, false_positives: 1e9, true_negatives: 3e9, false_negatives: 1e9 };
        assert_eq!(mcc(&large), Ok(0.5));
        let perfect = Confusion { true_positives: 123.0, true_negatives: 77.0, ..Confusion::default() };
        assert_eq!(mcc(&perfect), Ok(1.0));
    }
}
