//! `f1@k`: the harmonic mean of precision@k and recall@k of a segment, averaged over segments.
//!
//! **Definition** 2·P·R / (P + R) of a segment's precision h / k and recall h / relevant, which is 2·h / (k + relevant); then
//! the mean over segments (ranx, RecTools). The F1 of the mean precision and the mean recall is another number.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across k, exact since the value is linear in h;
//! the other rules as for recall@k.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value; ranx takes 0).
//! **Options** `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·F1, Σ w over segments.
//! **Oracle** full enumeration of orders; ranx `f1@k` with `no_positive=zero`.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
    TREC_EVAL,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "f1",
    summary: "harmonic mean of precision and recall among the first k of a segment, mean over segments",
    file: include_str!("f1.rs"),
    cutoff: Cutoff::Required,
    options: &[TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| Ok(Box::new(OverSegments::new(F1, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct F1;

impl SegmentMetric for F1 {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let k = segment.k?;
        Some(2.0 * segment.hits(k) / (k as f64 + segment.label_side))
    }
}
