//! `recall@k`: the share of a segment's relevant rows that are among the first k, averaged over segments.
//! `recall[threshold=t]`: the share of all positive rows that have a score at or above t.
//!
//! **Definition** at a cut-off: h / R, where h is the number of relevant rows in the top k and R the number of relevant rows
//! of the segment, those without a score included; the mean over segments. TorchRec's `recall_session` is pooled, Σ h / Σ R,
//! which is another number. At a threshold: tp / (tp + fn) over all rows, whatever their segments.
//! **Relevant** label > 0, or label ≥ `rel_threshold`. At a threshold: label 1.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across k: a tied block with r relevant rows among
//! m gives r / m for each of its places above k (McSherry and Najork 2008). `optimistic`, `pessimistic`: relevant rows first
//! or last; `stable`: input order; `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row. Segments with such a
//! tie are counted.
//! **Weights** a segment weighs the mean of its rows' weights; at a threshold weights count for rows. Rows of weight 0 are not
//! there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value). At a threshold: without a positive row.
//! **Options** at a cut-off: `denominator=relevant|min_k_relevant` divides by R, or by min(k, R), which is `capped_recall@k`;
//! `average=macro|rows|positives`: what a segment weighs beside the weight of its rows; `duplicates=first`: an item counts
//! once, at its best rank. At a threshold: `undefined=null|zero|one`: what 0/0 gives; `labels=soft`: a label between 0 and 1
//! is a share of a positive row; `mode=exact|histogram`: how scores are kept.
//! **State** `sums`: Σ w·recall, Σ w over segments. At a threshold `scores`, shared with all metrics of thresholds.
//! **Oracle** trec_eval `recall_k`; full enumeration of orders where something is tied. At a threshold scikit-learn
//! `recall_score`.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Profile, ScoreNeed};

use crate::on_scores::rate::{UNDEFINED, rate};
use crate::on_scores::{LABELS, MODE};
use crate::segments::options::{GIVEN_THRESHOLD, is_at_cutoff, name};
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
};

/// Whether the relevant rows count only up to k.
const DENOMINATORS: &[(&str, bool)] = &[("relevant", false), ("min_k_relevant", true)];
const DENOMINATOR: OptionEntry =
    OptionEntry { name: "denominator", values: &["relevant", "min_k_relevant"], default: "relevant" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "recall",
    summary: "share of relevant rows that are among the first k of a segment, mean over segments; or above a threshold",
    file: include_str!("recall.rs"),
    cutoff: Cutoff::Optional,
    options: &[
        DENOMINATOR,
        TIES,
        NO_POSITIVE_SKIP,
        AVERAGE,
        REL_THRESHOLD,
        DUPLICATES,
        GIVEN_THRESHOLD,
        UNDEFINED,
        MODE,
        LABELS,
    ],
    presets: &[
        ("trec_eval", "ties", "key_desc"),
        ("trec_eval", "no_positive", "zero"),
        ("sklearn", "undefined", "zero"),
    ],
    build: |settings| {
        if !is_at_cutoff(settings)? {
            return rate(ENTRY.name, settings);
        }
        let formula = Recall { capped: settings.choice("denominator", DENOMINATORS)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Recall {
    capped: bool,
}

impl SegmentMetric for Recall {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("denominator", name(DENOMINATORS, self.capped), "relevant")
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let k = segment.k?;
        let relevant = segment.label_side;
        Some(segment.hits(k) / if self.capped { relevant.min(k as f64) } else { relevant })
    }
}
