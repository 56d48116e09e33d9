//! `mrr`, `mrr@k`: mean reciprocal rank, one over the rank of a segment's first relevant row, averaged over segments.
//!
//! **Definition** 1 / rank of the first relevant row, counted from 1; 0 if it lies below k, or has no score; the mean over
//! segments. Without `@k` the whole segment is looked at.
//! **Relevant** label > 0, or label ≥ `rel_threshold`. The sign of the score plays no part (torchmetrics drops scores ≤ 0).
//! **Ties** `expected` (default): the mean over all orders of tied rows. Only the first block with a relevant row matters: if
//! s rows stand above it and r of its m rows are relevant, the value is Σⱼ pⱼ / (s + j) over its places above k, where
//! pⱼ = C(m − j, r − 1) / C(m, r) is the probability that the first relevant one takes place j (McSherry and Najork 2008).
//! `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input order; `key_asc`, `key_desc`: by item; `random`:
//! by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value; trec_eval and ranx take 0).
//! **Options** `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·reciprocal rank, Σ w over segments.
//! **Oracle** trec_eval `recip_rank`; full enumeration of orders where something is tied.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::draws::first_hits;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
    TREC_EVAL,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mrr",
    summary: "mean reciprocal rank: one over the rank of a segment's first relevant row, mean over segments",
    file: include_str!("mrr.rs"),
    cutoff: Cutoff::Optional,
    options: &[TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| Ok(Box::new(OverSegments::new(ReciprocalRank, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct ReciprocalRank;

impl SegmentMetric for ReciprocalRank {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let Some(first) = segment.relevant_blocks().next() else { return Some(0.0) };
        if first.labels.len() == 1 {
            return Some(1.0 / (first.before + 1) as f64);
        }
        let hits = first_hits(first.labels.len(), first.relevant).take(first.inside);
        Some(hits.zip(first.before + 1..).map(|(p, rank)| p / rank as f64).sum())
    }
}
