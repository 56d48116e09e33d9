//! `precision@k`: the share of relevant rows among the first k of a segment, averaged over segments.
//! `precision[threshold=t]`: the share of positive rows among all rows with a score at or above t.
//!
//! **Definition** at a cut-off: h / k, where h is the number of relevant rows in the top k; the mean over segments. At a
//! threshold: tp / (tp + fp) over all rows, whatever their segments.
//! **Relevant** label > 0, or label ≥ `rel_threshold`. At a threshold: label 1.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across k: a tied block with r relevant rows among
//! m gives r / m for each of its places above k (McSherry and Najork 2008). `optimistic`, `pessimistic`: relevant rows first
//! or last; `stable`: input order; `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row. Segments with such a
//! tie are counted.
//! **Weights** a segment weighs the mean of its rows' weights; at a threshold weights count for rows. Rows of weight 0 are not
//! there.
//! **Undefined** without segments. A segment without relevant rows has precision 0 (`no_positive=skip` leaves it out and
//! counts it as undefined, `no_positive=one` gives it 1). A segment shorter than k is divided by k all the same, as if
//! filled with rows that are not relevant (Evidently divides by its length); it is counted as short. At a threshold: when no
//! row is at or above it.
//! **Options** at a cut-off: `denominator=k|min_k_n|min_k_relevant` divides by k, or by no more than the rows or the relevant
//! rows of the segment; `average=macro|rows|positives`: what a segment weighs beside the weight of its rows;
//! `duplicates=first`: an item counts once, at its best rank. At a threshold: `undefined=null|zero|one`: what 0/0 gives;
//! `labels=soft`: a label between 0 and 1 is a share of a positive row; `mode=exact|histogram`: how scores are kept.
//! **State** `sums`: Σ w·precision, Σ w over segments. At a threshold `scores`, shared with all metrics of thresholds.
//! **Oracle** trec_eval `P_k`; full enumeration of orders where something is tied. At a threshold scikit-learn
//! `precision_score`.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Profile, ScoreNeed};

use crate::on_scores::rate::{UNDEFINED, rate};
use crate::on_scores::{LABELS, MODE};
use crate::segments::options::{GIVEN_THRESHOLD, is_at_cutoff, name};
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_ZERO, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
};

const DENOMINATORS: &[(&str, Denominator)] =
    &[("k", Denominator::K), ("min_k_n", Denominator::MinKN), ("min_k_relevant", Denominator::MinKRelevant)];
const DENOMINATOR: OptionEntry =
    OptionEntry { name: "denominator", values: &["k", "min_k_n", "min_k_relevant"], default: "k" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "precision",
    summary: "share of relevant rows among the first k of a segment, mean over segments; or of positive rows above a threshold",
    file: include_str!("precision.rs"),
    cutoff: Cutoff::Optional,
    options: &[
        DENOMINATOR,
        TIES,
        NO_POSITIVE_ZERO,
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
        let formula = Precision { denominator: settings.choice("denominator", DENOMINATORS)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// What the hits are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denominator {
    K,
    MinKN,
    MinKRelevant,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Precision {
    denominator: Denominator,
}

impl SegmentMetric for Precision {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("denominator", name(DENOMINATORS, self.denominator), "k")
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let k = segment.k?;
        let denominator = match self.denominator {
            Denominator::K => k as f64,
            // Relevant rows, none of which has a score, are no hits.
            Denominator::MinKN => k.min(segment.labels.len()).max(1) as f64,
            Denominator::MinKRelevant => segment.label_side.min(k as f64),
        };
        Some(segment.hits(k) / denominator)
    }
}
