//! `balanced_accuracy`: mean of the shares called right in each class.
//!
//! **Definition** (tp / (tp + fn) + tn / (tn + fp)) / 2; a guess that ignores the score has ½.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score are called alike.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** when a class is missing.
//! **Options** `threshold=0.5`: a row is called positive when its score is at or above it, as in scikit-learn
//! and TorchRec (Keras and torchmetrics have above); a logit is compared by its sigmoid. `undefined=zero` or `one` gives that where a class is
//! missing, `skip` the share of the other class. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the bin that holds the threshold is called by its middle; the bound is the distance to the
//! rates with all of its rows called right, and all called wrong.
//! **Oracle** scikit-learn `balanced_accuracy_score`, which leaves a missing class out: its preset has `undefined=skip`.

use fuseval_core::{Cutoff, Entry, OptionEntry};

use crate::on_scores::confusion::Confusion;
use crate::on_scores::rate::{Rate, Rated, THRESHOLD, recall, share};
use crate::on_scores::{LABELS, MODE};
use crate::segments::options::name;

/// What is given where a class is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Missing {
    Nothing,
    Value(f64),
    OtherClass,
}

const CHOICES: &[(&str, Missing)] = &[
    ("null", Missing::Nothing),
    ("zero", Missing::Value(0.0)),
    ("one", Missing::Value(1.0)),
    ("skip", Missing::OtherClass),
];
const UNDEFINED: OptionEntry =
    OptionEntry { name: "undefined", values: &["null", "zero", "one", "skip"], default: "null" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "balanced_accuracy",
    summary: "mean of the shares called right in each class",
    file: include_str!("balanced_accuracy.rs"),
    cutoff: Cutoff::None,
    options: &[THRESHOLD, UNDEFINED, MODE, LABELS],
    presets: &[("sklearn", "undefined", "skip")],
    build: |settings| {
        let missing = settings.choice("undefined", CHOICES)?;
        let rate = Rate::new(settings, move |of| balanced_accuracy(of, missing))?;
        rate.with_rule(name(CHOICES, missing)).build(settings)
    },
};

fn balanced_accuracy(of: &Confusion, missing: Missing) -> Rated {
    let specificity = share(of.true_negatives, of.negatives(), "no negative row");
    match (recall(of), specificity, missing) {
        (Ok(recall), Ok(specificity), _) => Ok((recall + specificity) / 2.0),
        (Ok(share), Err(_), Missing::OtherClass) | (Err(_), Ok(share), Missing::OtherClass) => Ok(share),
        (Err(reason), ..) | (_, Err(reason), _) => match missing {
            Missing::Value(value) => Ok(value),
            Missing::Nothing | Missing::OtherClass => Err(reason),
        },
    }
}
