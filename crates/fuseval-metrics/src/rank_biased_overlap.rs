//! `rank_biased_overlap`: how alike experiment and baseline rank, the top counting most, averaged over segments.
//!
//! **Definition** (1 − p) · Σ p^(d−1) · A(d) over all depths d, where A(d) is the number of rows that both rankings have among
//! their first d, divided by d; the mean over segments. Both rank the same n rows, so A(d) is 1 from n on, and the rest of
//! the sum is p^n. Webber, Moffat and Zobel 2010. 1 where nothing moves. With p = 0.9 the first 10 ranks make up 86 % of it.
//! Where the rankings hold different rows, the agreement at the end of the longer one is extrapolated.
//! **Relevant** labels play no part.
//! **Ties** `expected` (default): both rankings put tied rows in any order, independently of each other, so a ranking with
//! ties has an overlap below 1 with itself. The other rules order the ties of both rankings alike: `stable` by input order;
//! `key_asc`, `key_desc` by item; `random` by a hash of seed and row; `optimistic`, `pessimistic` by label.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without ranked rows.
//! **Options** `p`: the probability to go on to the next rank, 0.9 by default; `average=macro|rows|positives`: what a segment
//! weighs beside the weight of its rows.
//! **State** `sums`: Σ w·overlap, Σ w over segments.
//! **Oracle** full enumeration of both orders.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, LabelSide, MetricId, Needs, OptionEntry, Profile, ScoreNeed};

use crate::segments::options::persistence;
use crate::segments::overlap::overlaps;
use crate::segments::{AVERAGE, OverSegments, Segment, SegmentMetric, SegmentOptions, TIES, always};

const P: OptionEntry = OptionEntry { name: "p", values: &[], default: "0.9" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "rank_biased_overlap",
    summary: "rank-biased overlap of the rankings of experiment and baseline, mean over segments",
    file: include_str!("rank_biased_overlap.rs"),
    cutoff: Cutoff::None,
    options: &[P, TIES, AVERAGE],
    presets: &[],
    build: |settings| {
        let formula = RankBiasedOverlap { p: persistence(settings, 0.9)? };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct RankBiasedOverlap {
    p: f64,
}

impl SegmentMetric for RankBiasedOverlap {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("p", self.p, 0.9)
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
        let depth = experiment.rows.len().max(baseline.rows.len());
        // A sum of what the rankings lack at each depth: where nothing moves the value is 1, without rounding.
        let (mut lacking, mut share, mut last) = (0.0, 1.0, 1.0);
        overlaps([&experiment, &baseline], segment.first_row(), segment.all_rows(), depth, |depth, common| {
            last = (depth as f64 - common) / depth as f64;
            lacking += (1.0 - self.p) * share * last;
            share *= self.p;
            share > 1e-20
        });
        (depth > 0).then(|| (1.0 - (lacking + share * last)).max(0.0))
    }
}
