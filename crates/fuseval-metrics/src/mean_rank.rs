//! `mean_rank`: the rank of a segment's relevant rows, averaged over segments. Lower is better.
//!
//! **Definition** the mean of the ranks, counted from 1, of the relevant rows of a segment (`of=all`, average relevant
//! position), or the rank of the first of them (`of=first`, TFMA's minimum label position); then the mean over segments.
//! **Relevant** label > 0, or label ≥ `rel_threshold`. Relevant rows without a score have no rank and do not count.
//! **Ties** `expected` (default): the mean over all orders of tied rows: a row of a block of m rows with s rows above it has
//! rank s + (m + 1) / 2, and the first of its r relevant rows s + (m + 1) / (r + 1). `optimistic`, `pessimistic`: relevant
//! rows first or last; `stable`: input order; `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without a ranked relevant row, which is left out and counted. No number stands for a rank that
//! is not there: `no_positive` does not apply.
//! **Options** `of=all|first`; `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·rank, Σ w over segments.
//! **Oracle** full enumeration of orders.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Profile, ScoreNeed};

use crate::segments::options::name;
use crate::segments::{AVERAGE, DUPLICATES, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES};

const RANKS: &[(&str, bool)] = &[("all", false), ("first", true)];
const OF: OptionEntry = OptionEntry { name: "of", values: &["all", "first"], default: "all" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mean_rank",
    summary: "mean rank of a segment's relevant rows, or the rank of the first, mean over segments",
    file: include_str!("mean_rank.rs"),
    cutoff: Cutoff::None,
    options: &[OF, TIES, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: &[],
    build: |settings| {
        let formula = MeanRank { first: settings.choice("of", RANKS)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct MeanRank {
    first: bool,
}

impl SegmentMetric for MeanRank {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("of", name(RANKS, self.first), "all")
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Lower, (1.0, f64::INFINITY), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn why_undefined(&self) -> &'static str {
        "no segment with a ranked relevant row"
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let (mut ranks, mut relevant) = (0.0, 0.0);
        for block in segment.relevant_blocks() {
            let (inside, rows) = (block.relevant as f64, block.labels.len() as f64);
            if self.first {
                return Some(block.before as f64 + (rows + 1.0) / (inside + 1.0));
            }
            ranks += inside * (block.before as f64 + (rows + 1.0) / 2.0);
            relevant += inside;
        }
        (relevant > 0.0).then(|| ranks / relevant)
    }
}
