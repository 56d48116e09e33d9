//! `rbp`, `rbp@k`: rank-biased precision, the rate at which a user of given persistence finds relevant rows, averaged over
//! segments.
//!
//! **Definition** (1 − p) · Σ pⁱ⁻¹ over the ranks i of relevant rows, where p is the probability to go on to the next row; the
//! mean over segments. Without `@k` the whole segment is looked at. Moffat and Zobel 2008. It stays below 1 even where all
//! rows are relevant, by the share p^n of what lies beyond n rows. Relevance is yes or no; ranx multiplies by the grade.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of tied rows: each place of a block of m rows, r of them relevant,
//! counts r / m. `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input order; `key_asc`, `key_desc`: by
//! item; `random`: by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** without segments. A segment without relevant rows has RBP 0 (`no_positive=skip` leaves it out and counts
//! it as undefined).
//! **Options** `p`: 0.8 by default, as in ir_measures and most papers; trec_eval has 0.9, and weighs a row by its grade over
//! the highest of the topic. `average=macro|rows|positives`: what a segment weighs beside the weight of its rows;
//! `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·RBP, Σ w over segments.
//! **Oracle** trec_eval `rbp` with `p=0.9`; full enumeration of orders where something is tied.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Profile, ScoreNeed};

use crate::segments::options::persistence;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_ZERO, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
};

const P: OptionEntry = OptionEntry { name: "p", values: &[], default: "0.8" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "rbp",
    summary: "rank-biased precision of a segment, mean over segments",
    file: include_str!("rbp.rs"),
    cutoff: Cutoff::Optional,
    options: &[P, TIES, NO_POSITIVE_ZERO, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: &[("trec_eval", "ties", "key_desc"), ("trec_eval", "no_positive", "zero"), ("trec_eval", "p", "0.9")],
    build: |settings| {
        let formula = RankBiasedPrecision { p: persistence(settings, 0.8)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct RankBiasedPrecision {
    p: f64,
}

impl SegmentMetric for RankBiasedPrecision {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("p", self.p, 0.8)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let (mut sum, mut share) = (0.0, 1.0 - self.p);
        if segment.is_strict() {
            for label in segment.top_labels() {
                if segment.is_relevant(*label) {
                    sum += share;
                }
                share *= self.p;
                if share < f64::MIN_POSITIVE {
                    break;
                }
            }
            return Some(sum);
        }
        for block in segment.blocks() {
            let relevant = block.relevant as f64 / block.labels.len() as f64;
            for _ in 0..block.inside {
                sum += relevant * share;
                share *= self.p;
                if share < f64::MIN_POSITIVE {
                    return Some(sum);
                }
            }
        }
        Some(sum)
    }
}
