//! `capture`: capture rate, the share of the positives among the highest scores.
//!
//! **Definition** weight of the positives among the q percent of highest scores, over the weight of all positives; also
//! recall at the top q percent, or the height of the cumulative gains chart at q.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** the rows of equal score at the border count pro rata.
//! **Weights** count for rows: the top is q percent of the weight. Rows of weight 0 are not there.
//! **Undefined** without a positive row.
//! **Options** `q=10`: the share of the weight, in percent. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram the rows of the bin at the border may lie in any order: from as many of its negatives as fit to
//! as many of its positives as fit.
//! **Oracle** enumeration with NumPy; scikit-plot `cumulative_gain_curve` where nothing is tied at the border.

use fuseval_core::{Cutoff, Entry};

use crate::on_scores::top::{Measure, Q, Top};
use crate::on_scores::{LABELS, MODE};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "capture",
    summary: "share of the positives among the q percent of highest scores",
    file: include_str!("capture.rs"),
    cutoff: Cutoff::None,
    options: &[Q, MODE, LABELS],
    presets: &[],
    build: |settings| Top::build(ENTRY.name, Measure::Capture, settings),
};
