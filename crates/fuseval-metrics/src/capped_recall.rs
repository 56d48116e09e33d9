//! `capped_recall@k`: recall@k over what k places can hold at most, averaged over segments.
//!
//! **Definition** h / min(k, R), where h is the number of relevant rows in the top k and R the number of relevant rows of the
//! segment; the mean over segments. It reaches 1 where R > k, which recall@k cannot. The same as
//! `recall@k[denominator=min_k_relevant]` and `precision@k[denominator=min_k_relevant]`; R-cap in BEIR.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across k; the other rules as for recall@k.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value).
//! **Options** `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·value, Σ w over segments.
//! **Oracle** full enumeration of orders; trec_eval `recall_k` where R ≤ k, `P_k` elsewhere.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
    TREC_EVAL,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "capped_recall",
    summary: "relevant rows among the first k, over the most that k places can hold, mean over segments",
    file: include_str!("capped_recall.rs"),
    cutoff: Cutoff::Required,
    options: &[TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| Ok(Box::new(OverSegments::new(CappedRecall, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct CappedRecall;

impl SegmentMetric for CappedRecall {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let k = segment.k?;
        Some(segment.hits(k) / segment.label_side.min(k as f64))
    }
}
