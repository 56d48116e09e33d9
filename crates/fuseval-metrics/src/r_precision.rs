//! `r_precision`: precision at R, where R is the number of a segment's relevant rows, averaged over segments.
//!
//! **Definition** h / R, where h is the number of relevant rows among the first R; the mean over segments. Precision and recall
//! are equal there.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across R: a tied block with r relevant rows among
//! m gives r / m for each of its places above R. `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input
//! order; `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value; trec_eval takes 0).
//! **Options** `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·value, Σ w over segments.
//! **Oracle** trec_eval `Rprec`; full enumeration of orders where something is tied.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
    TREC_EVAL,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "r_precision",
    summary: "precision among as many rows as a segment has relevant ones, mean over segments",
    file: include_str!("r_precision.rs"),
    cutoff: Cutoff::None,
    options: &[TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| Ok(Box::new(OverSegments::new(RPrecision, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct RPrecision;

impl SegmentMetric for RPrecision {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let relevant = segment.label_side;
        Some(segment.hits(relevant as usize) / relevant)
    }
}
