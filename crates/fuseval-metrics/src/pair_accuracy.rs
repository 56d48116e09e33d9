//! `pair_accuracy`: the share of pairs of rows that are ranked as their labels are, within segments and averaged over them.
//!
//! **Definition** over the pairs of a segment whose labels differ: the share in which the row of the higher label has the higher
//! score; the mean over segments. For labels 0 and 1 it is the area under the ROC curve of the segment. TF-Ranking's ordered
//! pair accuracy and ir_measures' `Accuracy` are of this kind. TorchRec's XAUC keeps pairs of equal labels in the denominator,
//! and forms pairs across segments, but only inside a batch.
//! **Relevant** nothing is cut: labels are grades, and any number is one.
//! **Ties** a pair of equal scores counts one half, which is the mean over all orders.
//! **Weights** a segment weighs the mean of its rows' weights; within the segment all pairs count alike. Rows of weight 0 are
//! not there, and rows without a score are in no pair.
//! **Undefined** in a segment whose labels are all equal, which is left out and counted (`single_class=half` gives it 0.5).
//! **Options** `average=macro|rows|positives`: what a segment weighs beside the weight of its rows.
//! **State** `sums`: Σ w·share, Σ w over segments. Pairs are counted in n log n steps, and exactly.
//! **Oracle** all pairs one by one; scikit-learn `roc_auc_score` per segment where labels are 0 and 1.

use fuseval_core::{Cutoff, Direction, Entry, LabelRange, LabelSide, MetricId, Needs, Profile, ScoreNeed};

use crate::segments::pairs::Pairs;
use crate::segments::{AVERAGE, OverSegments, SINGLE_CLASS, Segment, SegmentMetric, SegmentOptions, always};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "pair_accuracy",
    summary: "share of a segment's pairs of different labels that are ranked right, mean over segments",
    file: include_str!("pair_accuracy.rs"),
    cutoff: Cutoff::None,
    options: &[SINGLE_CLASS, AVERAGE],
    presets: &[],
    build: |settings| Ok(Box::new(OverSegments::new(PairAccuracy, SegmentOptions::read(settings)?))),
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct PairAccuracy;

impl SegmentMetric for PairAccuracy {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any))
    }

    fn label_side(&self, _options: &SegmentOptions) -> LabelSide {
        always()
    }

    fn why_undefined(&self) -> &'static str {
        "no segment with two different labels"
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let binary = segment.labels.iter().all(|label| *label == 0.0 || *label == 1.0);
        let pairs = if binary { Pairs::of(segment, |label| label == 1.0) } else { graded(segment) };
        pairs.share()
    }
}

fn graded(segment: &Segment<'_>) -> Pairs {
    let mut grades = segment.labels.to_vec();
    grades.sort_unstable_by(f64::total_cmp);
    grades.dedup();
    let grade_of = |label: &f64| grades.partition_point(|grade| grade < label);
    let mut above = Counts::new(grades.len());
    let mut pairs = Pairs::default();
    for block in segment.blocks() {
        let tied = tied_pairs(block.labels);
        pairs.halves += tied;
        pairs.all += tied;
        let before = block.before as u64;
        for grade in block.labels.iter().map(grade_of) {
            let (lower, same) = (above.below(grade), above.at(grade));
            pairs.halves += 2 * (before - lower - same);
            pairs.all += before - same;
        }
        block.labels.iter().map(grade_of).for_each(|grade| above.add(grade));
    }
    pairs
}

/// The number of pairs of different labels among labels in descending order.
fn tied_pairs(labels: &[f64]) -> u64 {
    let square = |rows: usize| rows as u64 * rows as u64;
    let same: u64 = labels.chunk_by(|a, b| a == b).map(|same| square(same.len())).sum();
    (square(labels.len()) - same) / 2
}

/// Numbers of rows by grade, with their running sums (a Fenwick tree: node i holds the rows of the grades from i with its
/// lowest bit cleared to i).
#[derive(Debug)]
struct Counts {
    rows: Vec<u64>,
    tree: Vec<u64>,
}

impl Counts {
    fn new(grades: usize) -> Self {
        Self { rows: vec![0; grades], tree: vec![0; grades + 1] }
    }

    fn add(&mut self, grade: usize) {
        if let Some(rows) = self.rows.get_mut(grade) {
            *rows += 1;
        }
        let mut node = grade + 1;
        while let Some(rows) = self.tree.get_mut(node) {
            *rows += 1;
            node += node & node.wrapping_neg();
        }
    }

    fn at(&self, grade: usize) -> u64 {
        self.rows.get(grade).copied().unwrap_or_default()
    }

    fn below(&self, grade: usize) -> u64 {
        let (mut sum, mut node) = (0, grade);
        while node > 0 {
            sum += self.tree.get(node).copied().unwrap_or_default();
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_sums_are_those_of_the_counts() {
        let mut counts = Counts::new(13);
        let added = [3, 0, 12, 3, 7, 7, 7, 1, 11];
        added.iter().for_each(|grade| counts.add(*grade));
        for grade in 0..13 {
            assert_eq!(counts.below(grade), added.iter().filter(|other| **other < grade).count() as u64);
            assert_eq!(counts.at(grade), added.iter().filter(|other| **other == grade).count() as u64);
        }
    }

    #[test]
    fn pairs_of_tied_rows_are_those_of_different_labels() {
        assert_eq!((tied_pairs(&[2.0, 1.0, 1.0, 0.0, -0.0]), tied_pairs(&[1.0])), (8, 0));
    }
}
