//! Rows ranked by score within their segments: computed once per view, shared by all group-wise metrics.
//!
//! ```text
//!   rows      2 0 1 | 4 3        rows of the view, best score first
//!   labels    1 0 0 | 0 1        their labels
//!   tied      f t f | f f        whether a row has the score of the next one
//! ```
//! Rows of equal score stand in canonical order: by label, then by weight, both descending, then as they came in. So sums
//! inside a tied block do not depend on the order of the input. A row whose score is NaN was not retrieved: it has no rank.

use std::ops::Range;

/// The ranked rows of all segments of a view.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    rows: Vec<u32>,
    labels: Vec<f64>,
    tied: Vec<bool>,
    /// Segment i has the places `borders[i]..borders[i + 1]`.
    borders: Vec<usize>,
    has_ties: Vec<bool>,
    packed: Vec<u64>,
    wide: Vec<(u64, u32)>,
}

/// The ranked rows of one segment.
#[derive(Debug, Clone, Copy)]
pub struct RankedSegment<'a> {
    /// Rows of the view, best first.
    pub rows: &'a [u32],
    /// Their labels.
    pub labels: &'a [f64],
    /// For each place whether its row has the score of the next one; empty when no two rows tie.
    pub tied_with_next: &'a [bool],
}

impl Ranking {
    /// Ranks the rows of each segment; see [`Self::rank`].
    pub fn new(scores: &[f64], labels: &[f64], weights: Option<&[f64]>, segments: &[usize]) -> Self {
        let mut ranking = Self::default();
        ranking.rank(scores, labels, weights, segments);
        ranking
    }

    /// Ranks the rows of each segment, keeping the memory. `segments` holds the borders, as in [`crate::View`]. −0 and 0 are
    /// equal scores.
    pub fn rank(&mut self, scores: &[f64], labels: &[f64], weights: Option<&[f64]>, segments: &[usize]) {
        self.rows.clear();
        self.labels.clear();
        self.tied.clear();
        self.has_ties.clear();
        self.borders.clear();
        self.borders.push(0);
        for pair in segments.windows(2) {
            let [from, to] = pair else { continue };
            self.segment(*from..*to, scores, labels, weights);
            self.borders.push(self.rows.len());
        }
    }

    fn segment(&mut self, segment: Range<usize>, scores: &[f64], labels: &[f64], weights: Option<&[f64]>) {
        let start = self.rows.len();
        let first = segment.start as u32;
        let in_segment = scores.get(segment).unwrap_or_default();
        // Loops without an early end or a push, so that the compiler vectorises them.
        let narrow = in_segment.iter().fold(true, |all, score| all & (f64::from(*score as f32) == *score));
        let has_ties = if narrow {
            // Scores that are float32 numbers, as models give them: score and place in one word.
            self.packed.clear();
            self.packed.extend(in_segment.iter().enumerate().map(|(place, score)| {
                let bits = (*score as f32 + 0.0).to_bits();
                let key = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000);
                u64::from(!key) << 32 | place as u64
            }));
            self.packed.sort_unstable();
            self.rows.extend(self.packed.iter().map(|packed| first + *packed as u32));
            tie(&mut self.tied, &self.packed, |packed| packed >> 32)
        } else {
            self.wide.clear();
            let ranked = (0u32..).zip(in_segment).filter(|(_, score)| !score.is_nan());
            self.wide.extend(ranked.map(|(place, score)| (!ordered(*score), place)));
            self.wide.sort_unstable();
            self.rows.extend(self.wide.iter().map(|(_, place)| first + place));
            tie(&mut self.tied, &self.wide, |(key, _)| *key)
        };
        self.has_ties.push(has_ties);
        if has_ties {
            self.canonical(start, labels, weights);
        }
        let rows = self.rows.get(start..).unwrap_or_default();
        self.labels.extend(rows.iter().map(|row| at(labels, *row)));
    }

    /// Puts the rows of each tied block into canonical order.
    fn canonical(&mut self, start: usize, labels: &[f64], weights: Option<&[f64]>) {
        let weight = |row: u32| weights.map_or(1.0, |weights| at(weights, row));
        let mut from = start;
        while from < self.rows.len() {
            let tied = self.tied.get(from..).unwrap_or_default();
            let to = from + 1 + tied.iter().take_while(|tied| **tied).count();
            if let Some(block) = self.rows.get_mut(from..to) {
                block.sort_by(|a, b| {
                    at(labels, *b).total_cmp(&at(labels, *a)).then(weight(*b).total_cmp(&weight(*a))).then(a.cmp(b))
                });
            }
            from = to;
        }
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.has_ties.len()
    }

    /// The ranked rows of a segment; no rows for a segment that is not there.
    pub fn segment_at(&self, segment: usize) -> RankedSegment<'_> {
        let places = match (self.borders.get(segment), self.borders.get(segment + 1)) {
            (Some(from), Some(to)) => *from..*to,
            _ => 0..0,
        };
        let tied = self.has_ties.get(segment).copied().unwrap_or_default();
        RankedSegment {
            rows: self.rows.get(places.clone()).unwrap_or_default(),
            labels: self.labels.get(places.clone()).unwrap_or_default(),
            tied_with_next: if tied { self.tied.get(places).unwrap_or_default() } else { &[] },
        }
    }
}

/// Appends for each of some sorted things whether its key is that of the next; whether any is.
fn tie<T>(tied: &mut Vec<bool>, sorted: &[T], key: impl Fn(&T) -> u64) -> bool {
    let next = sorted.get(1..).unwrap_or_default();
    let any = sorted.iter().zip(next).fold(false, |any, (a, b)| any | (key(a) == key(b)));
    if any {
        tied.extend(sorted.iter().zip(next).map(|(a, b)| key(a) == key(b)));
        tied.extend(sorted.last().map(|_| false));
    } else {
        tied.resize(tied.len() + sorted.len(), false);
    }
    any
}

fn at(values: &[f64], row: u32) -> f64 {
    values.get(row as usize).copied().unwrap_or_default()
}

/// Bits of a float that order as the float does; −0 and 0 are the same.
pub fn ordered(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_first_and_ties_in_canonical_order() {
        let scores = [0.25, 0.5, 0.5, -0.0, 0.0, f64::INFINITY];
        let ranking = Ranking::new(&scores, &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0], None, &[0, 3, 6]);
        let (first, second) = (ranking.segment_at(0), ranking.segment_at(1));
        assert_eq!((first.rows, first.labels), ([2, 1, 0].as_slice(), [1.0, 0.0, 0.0].as_slice()));
        assert_eq!(first.tied_with_next, [true, false, false]);
        assert_eq!(second.rows, [5, 3, 4]);
        assert!(ranking.segment_at(2).rows.is_empty());
    }

    #[test]
    fn scores_that_are_no_float32_numbers_rank_as_well_and_nan_has_no_rank() {
        let scores = [0.1, 0.1 + 1e-18, f64::NAN, 0.1 + 1e-16, -1e300];
        let ranking = Ranking::new(&scores, &[1.0; 5], None, &[0, 5]);
        let segment = ranking.segment_at(0);
        assert_eq!(segment.rows, [3, 0, 1, 4]);
        assert_eq!(segment.tied_with_next, [false, true, false, false]);
        let single = Ranking::new(&[0.5, f64::NAN], &[1.0; 2], None, &[0, 2]);
        assert_eq!(single.segment_at(0).rows, [0]);
    }

    #[test]
    fn both_ways_of_sorting_agree() {
        let mut rng = crate::random::KeyedRng::new(3, &["ranking"]);
        for _ in 0..200 {
            let scores: Vec<f64> = (0..40).map(|_| f64::from(rng.below(30) as f32 / 8.0 - 1.5)).collect();
            let labels: Vec<f64> = (0..40).map(|_| rng.below(3) as f64).collect();
            let narrow = Ranking::new(&scores, &labels, None, &[0, 40]);
            // A row that is no float32 number, ranked last, sends the whole segment the other way.
            let (mut scores, mut labels) = (scores, labels);
            scores.push(-100.000_000_000_1);
            labels.push(0.0);
            let wide = Ranking::new(&scores, &labels, None, &[0, 41]);
            assert_eq!(narrow.segment_at(0).rows, &wide.segment_at(0).rows[..40]);
            assert_eq!(narrow.segment_at(0).tied_with_next, &wide.segment_at(0).tied_with_next[..40]);
        }
    }
}
