//! `top_k_overlap@k`: the share of the first k rows that experiment and baseline have in common, averaged over segments.
//!
//! **Definition** the number of rows that are among the first k both of the experiment and of the baseline, divided by
//! min(k, n) for n ranked rows; the mean over segments. It says how much a change moves what is shown, not whether for the
//! better.
//! **Relevant** labels play no part.
//! **Ties** `expected` (default): both rankings put tied rows in any order, independently of each other: the sum over rows of
//! the product of both probabilities to be among the first k. So a ranking with a tie across k has an overlap below 1 with
//! itself. The other rules order the ties of both rankings alike: `stable` by input order; `key_asc`, `key_desc` by item;
//! `random` by a hash of seed and row; `optimistic`, `pessimistic` by label. Ties across k are counted in the experiment.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without ranked rows.
//! **Options** `average=macro|rows|positives`: what a segment weighs beside the weight of its rows.
//! **State** `sums`: Σ w·overlap, Σ w over segments.
//! **Oracle** full enumeration of both orders.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, LabelSide, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::overlap::overlaps;
use crate::segments::{AVERAGE, OverSegments, Segment, SegmentMetric, SegmentOptions, TIES, always};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "top_k_overlap",
    summary: "share of the first k rows that experiment and baseline have in common, mean over segments",
    file: include_str!("top_k_overlap.rs"),
    cutoff: Cutoff::Required,
    options: &[TIES, AVERAGE],
    presets: &[],
    build: |settings| Ok(Box::new(OverSegments::new(TopKOverlap, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct TopKOverlap;

impl SegmentMetric for TopKOverlap {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Any).baseline();
        Profile::segments(Direction::Neither, (0.0, 1.0), needs)
    }

    fn label_side(&self, _options: &SegmentOptions) -> LabelSide {
        always()
    }

    fn why_undefined(&self) -> &'static str {
        "no segment with ranked rows"
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let (experiment, baseline) = (segment.order(), segment.baseline_order()?);
        let depth = segment.k?.min(experiment.rows.len().max(baseline.rows.len()));
        let mut value = None;
        overlaps([&experiment, &baseline], segment.first_row(), segment.all_rows(), depth, |depth, common| {
            value = Some(common / depth as f64);
            true
        });
        value
    }
}
