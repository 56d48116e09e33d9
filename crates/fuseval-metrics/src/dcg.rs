//! `dcg`, `dcg@k`: discounted cumulative gain of a segment, averaged over segments.
//!
//! **Definition** Σ gain(label) / log2(rank + 1) over the first k ranks; the mean over segments. Without `@k` the whole segment
//! is looked at. The base of the logarithm is 2 (Spark has the natural one, which makes the value 1.44 times smaller).
//! **Relevant** nothing is cut: a label is a grade from 0 on, and `gain` says what it is worth: `linear` the label itself
//! (default), `exp2` 2^label − 1, a list the entry for the grade, as in `gain=[0,1,3,7]`. Negative labels are refused.
//! **Ties** `expected` (default): the mean over all orders of tied rows: each place of a block has the block's mean gain
//! (McSherry and Najork 2008; scikit-learn). `optimistic`, `pessimistic`: higher labels first or last; `stable`: input order;
//! `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** without segments. A segment without relevant rows has DCG 0 (`no_positive=skip` leaves it out and counts
//! it as undefined).
//! **Options** `gain=linear|exp2|[…]`; `average=macro|rows|positives`; `duplicates=first`: an item counts once, at its best
//! rank.
//! **State** `sums`: Σ w·DCG, Σ w over segments.
//! **Oracle** scikit-learn `dcg_score`; full enumeration of orders where something is tied.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, MetricId, Needs, Profile, Result, ScoreNeed, View};

use crate::segments::gain::{GAIN, Gain};
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_ZERO, OverSegments, Segment, SegmentMetric, SegmentOptions, TIES,
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "dcg",
    summary: "discounted cumulative gain of a segment, mean over segments",
    file: include_str!("dcg.rs"),
    cutoff: Cutoff::Optional,
    options: &[GAIN, TIES, NO_POSITIVE_ZERO, AVERAGE, DUPLICATES],
    presets: &[
        ("sklearn", "ties", "expected"),
        ("sklearn", "no_positive", "zero"),
        ("trec_eval", "ties", "key_desc"),
        ("trec_eval", "no_positive", "zero"),
        ("trec_eval", "gain", "linear"),
    ],
    build: |settings| {
        let formula = Dcg { gain: Gain::read(settings)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone)]
struct Dcg {
    gain: Gain,
}

impl SegmentMetric for Dcg {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("gain", &self.gain, "linear")
    }

    fn profile(&self) -> Profile {
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Grade);
        Profile::segments(Direction::Higher, (0.0, f64::INFINITY), needs)
    }

    fn check(&self, view: &View<'_>) -> Result<()> {
        self.gain.check(view)
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        Some(self.gain.dcg(segment))
    }
}
