//! `map`, `map@k`: mean average precision, the precision at the rank of each relevant row, averaged within a segment and
//! then over segments.
//!
//! **Definition** AP = Σ P@i over the ranks i ≤ k of relevant rows, divided by D; the mean over segments. With R relevant rows
//! in the segment, h of them in the top k, tools divide by different D: min(k, R) (default; Spark from version 3, RecBole),
//! R (`denominator=relevant`: trec_eval, ranx, ir_measures), h (`denominator=hits`: torchmetrics, which thereby ignores what
//! was missed), k (`denominator=k`). Without `@k` the whole segment is looked at, and the first two are the same.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of tied rows (McSherry and Najork 2008). A block of m tied rows, r
//! of them relevant, with s rows and A relevant rows above it, adds Σⱼ (r/m) · (A + 1 + (j − 1)(r − 1)/(m − 1)) / (s + j) over
//! its places j above k. With `denominator=hits` the sum is taken for each number of hits that the block across k can have,
//! weighted by its hypergeometric probability. `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input
//! order; `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without relevant rows, which is left out and counted (`no_positive=zero` or `one` gives it
//! that value). Without a hit in the top k AP is 0, whatever the denominator.
//! **Options** `denominator=min_k_relevant|relevant|hits|k`; `average=macro|rows|positives`; `duplicates=first`: an item
//! counts once, at its best rank.
//! **State** `sums`: Σ w·AP, Σ w over segments.
//! **Oracle** trec_eval `map` and `map_cut_k` with `denominator=relevant`; full enumeration of orders where something is tied.

use fuseval_core::{
    Cutoff, Direction, Entry, Error, LabelRange, MetricId, Needs, OptionEntry, Profile, Result, ScoreNeed,
};

use crate::segments::draws::hits_among;
use crate::segments::options::name;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, REL_THRESHOLD, Segment, SegmentMetric, SegmentOptions, TIES,
};

const DENOMINATORS: &[(&str, Denominator)] = &[
    ("min_k_relevant", Denominator::MinKRelevant),
    ("relevant", Denominator::Relevant),
    ("hits", Denominator::Hits),
    ("k", Denominator::K),
];
const DENOMINATOR: OptionEntry = OptionEntry {
    name: "denominator",
    values: &["min_k_relevant", "relevant", "hits", "k"],
    default: "min_k_relevant",
};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "map",
    summary: "mean average precision: the precision at each relevant row, averaged in a segment, mean over segments",
    file: include_str!("map.rs"),
    cutoff: Cutoff::Optional,
    options: &[DENOMINATOR, TIES, NO_POSITIVE_SKIP, AVERAGE, REL_THRESHOLD, DUPLICATES],
    presets: &[
        ("trec_eval", "ties", "key_desc"),
        ("trec_eval", "no_positive", "zero"),
        ("trec_eval", "denominator", "relevant"),
    ],
    build: |settings| {
        let formula = AveragePrecision::new(settings.choice("denominator", DENOMINATORS)?, settings.k())?;
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// What the sum is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denominator {
    MinKRelevant,
    Relevant,
    Hits,
    K,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct AveragePrecision {
    denominator: Denominator,
}

impl AveragePrecision {
    fn new(denominator: Denominator, k: Option<usize>) -> Result<Self> {
        if denominator == Denominator::K && k.is_none() {
            return Err(Error::usage("a cut-off k for `denominator=k`", "none", "write for example `map@10`"));
        }
        Ok(Self { denominator })
    }
}

impl SegmentMetric for AveragePrecision {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("denominator", name(DENOMINATORS, self.denominator), "min_k_relevant")
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let k = segment.k.map_or(f64::INFINITY, |k| k as f64);
        let denominator = match self.denominator {
            Denominator::MinKRelevant => segment.label_side.min(k),
            Denominator::Relevant => segment.label_side,
            Denominator::K => k,
            Denominator::Hits => return Some(mean_over_hits(segment)),
        };
        Some(sum_of_precisions(segment) / denominator)
    }
}

/// The expected sum of the precisions at the relevant rows above the cut-off.
fn sum_of_precisions(segment: &Segment<'_>) -> f64 {
    let (mut sum, mut hits) = (0.0, 0.0);
    for block in segment.relevant_blocks() {
        sum += precisions(block.before, hits, block.labels.len(), block.relevant, block.inside);
        hits += block.relevant as f64;
    }
    sum
}

/// What the first `places` of a block of `rows` tied rows add, with `before` rows and `hits` relevant ones above it.
fn precisions(before: usize, hits: f64, rows: usize, relevant: usize, places: usize) -> f64 {
    if relevant == 0 {
        return 0.0;
    }
    if rows == 1 {
        return (hits + 1.0) / (before + 1) as f64;
    }
    // How many relevant rows each row above within the block is expected to be, next to a relevant one.
    let others = (relevant - 1) as f64 / (rows - 1) as f64;
    let places = (0..places).map(|above| (hits + 1.0 + above as f64 * others) / (before + above + 1) as f64);
    relevant as f64 / rows as f64 * places.sum::<f64>()
}

/// The expected sum of the precisions over the hits that it has.
fn mean_over_hits(segment: &Segment<'_>) -> f64 {
    let (mut sum, mut hits) = (0.0, 0.0);
    for block in segment.relevant_blocks() {
        let (relevant, rows) = (block.relevant, block.labels.len());
        if block.inside < rows {
            // Given the hits of its places above the cut-off, these are a block of their own.
            let given = |(inside, probability): (usize, f64)| {
                let whole = sum + precisions(block.before, hits, block.inside, inside, block.inside);
                let hits = hits + inside as f64;
                if hits > 0.0 { probability * (whole / hits) } else { 0.0 }
            };
            return hits_among(rows, relevant, block.inside).into_iter().map(given).sum();
        }
        sum += precisions(block.before, hits, rows, relevant, block.inside);
        hits += relevant as f64;
    }
    if hits > 0.0 { sum / hits } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_relevant_rows_adds_one_for_each() {
        assert_eq!(precisions(0, 0.0, 7, 7, 5), 5.0);
        assert_eq!(precisions(2, 2.0, 1, 1, 1), 1.0);
        assert_eq!(precisions(3, 1.0, 4, 0, 4), 0.0);
    }
}
