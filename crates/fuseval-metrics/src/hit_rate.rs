//! `hit_rate@k`: the share of segments with a relevant row among the first k. Also known as success@k.
//!
//! **Definition** 1 if any of the top k rows is relevant, 0 if none is; the mean over segments. Some papers call it recall@k,
//! which is another number as soon as a segment has two relevant rows.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the probability of a hit over all orders of the rows tied across k. If i places above k fall
//! to a block of m tied rows, r of them relevant, it is 1 − C(m − r, i) / C(m, i), summed here over the place of the first
//! hit. `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input order; `key_asc`, `key_desc`: by item;
//! `random`: by a hash of seed and row. Segments with such a tie are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value; ranx and trec_eval take 0).
//! **Options** `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·hit, Σ w over segments.
//! **Oracle** trec_eval `success_k`; full enumeration of orders where something is tied.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::draws::first_hits;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
    TREC_EVAL,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "hit_rate",
    summary: "share of segments with a relevant row among the first k",
    file: include_str!("hit_rate.rs"),
    cutoff: Cutoff::Required,
    options: &[TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| Ok(Box::new(OverSegments::new(HitRate, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct HitRate;

impl SegmentMetric for HitRate {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let Some(first) = segment.relevant_blocks().next() else { return Some(0.0) };
        let rows = first.labels.len();
        if first.relevant + first.inside > rows {
            return Some(1.0);
        }
        Some(first_hits(rows, first.relevant).take(first.inside).sum())
    }
}
