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

use crate::simd::wide;

/// Segments of so many rows at most are ranked by counting, and have [`Marks`].
const SHORT: usize = 64;
/// Rows that are counted for at once.
const LANES: usize = 16;

/// The ranked rows of all segments of a view.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    rows: Vec<u32>,
    labels: Vec<f64>,
    tied: Vec<bool>,
    /// Segment i has the places `borders[i]..borders[i + 1]`.
    borders: Vec<usize>,
    has_ties: Vec<bool>,
    marks: Vec<Option<Marks>>,
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
    /// The same in bits; none in a long segment.
    pub marks: Option<Marks>,
}

/// A bit for each place of a segment that is not long: what most formulas look for, without a look at every row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether the label is above 0.
    pub positive: u64,
    /// Whether the row has the score of the next one.
    pub tied: u64,
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
        self.marks.clear();
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
        let counted = if in_segment.len() <= SHORT { self.count(first, in_segment) } else { None };
        let has_ties = counted.unwrap_or_else(|| self.sort(first, in_segment));
        self.has_ties.push(has_ties);
        if has_ties {
            self.canonical(start, labels, weights);
        }
        let rows = self.rows.get(start..).unwrap_or_default();
        self.labels.extend(rows.iter().map(|row| at(labels, *row)));
        let labels = self.labels.get(start..).unwrap_or_default();
        let marks = (labels.len() <= SHORT).then(|| Marks {
            positive: positive_bits(labels),
            tied: if has_ties { bits(self.tied.iter().skip(start).copied()) } else { 0 },
        });
        self.marks.push(marks);
    }

    /// Ranks a short segment: the place of a row is the number of rows above it. Whether rows tie; none, and nothing done,
    /// where a score is no float32 number.
    fn count(&mut self, first: u32, scores: &[f64]) -> Option<bool> {
        let start = self.rows.len();
        let above = rows_above(scores)?;
        let above = above.get(..scores.len())?;
        self.rows.resize(start + scores.len(), 0);
        let rows = self.rows.get_mut(start..).unwrap_or_default();
        // Rows of equal score have as many above them, and take the places from there on as they came in.
        let mut taken = [0u8; SHORT];
        let mut has_ties = false;
        for (row, above) in (first..).zip(above) {
            let Some(taken) = taken.get_mut(usize::from(*above)) else { continue };
            if let Some(place) = rows.get_mut(usize::from(*above + *taken)) {
                *place = row;
            }
            has_ties |= *taken > 0;
            *taken += 1;
        }
        if has_ties {
            // No block begins at a place that nobody has so many above.
            let next = taken.iter().skip(1).chain([&1]);
            self.tied.extend(next.take(scores.len().saturating_sub(1)).map(|taken| *taken == 0));
            self.tied.push(false);
        } else {
            self.tied.resize(start + scores.len(), false);
        }
        Some(has_ties)
    }

    /// Ranks a segment by sorting; whether rows tie.
    fn sort(&mut self, first: u32, scores: &[f64]) -> bool {
        // Loops without an early end or a push, so that the compiler vectorises them.
        let narrow = scores.iter().fold(true, |all, score| all & (f64::from(*score as f32) == *score));
        if narrow {
            // Scores that are float32 numbers, as models give them: score and place in one word.
            self.packed.clear();
            self.packed.extend(scores.iter().enumerate().map(|(place, score)| {
                let bits = (*score as f32 + 0.0).to_bits();
                let key = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000);
                u64::from(!key) << 32 | place as u64
            }));
            self.packed.sort_unstable();
            self.rows.extend(self.packed.iter().map(|packed| first + *packed as u32));
            return tie(&mut self.tied, &self.packed, |packed| packed >> 32);
        }
        self.wide.clear();
        let ranked = (0u32..).zip(scores).filter(|(_, score)| !score.is_nan());
        self.wide.extend(ranked.map(|(place, score)| (!ordered(*score), place)));
        self.wide.sort_unstable();
        self.rows.extend(self.wide.iter().map(|(_, place)| first + place));
        tie(&mut self.tied, &self.wide, |(key, _)| *key)
    }

    /// Puts the rows of each tied block into canonical order.
    fn canonical(&mut self, start: usize, labels: &[f64], weights: Option<&[f64]>) {
        let weight = |row: u32| weights.map_or(1.0, |weights| at(weights, row));
        let mut from = start;
        while from < self.rows.len() {
            let tied = self.tied.get(from..).unwrap_or_default();
            let to = from + 1 + tied.iter().take_while(|tied| **tied).count();
            if to == from + 1 {
                from = to;
                continue;
            }
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
    #[inline]
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
            marks: self.marks.get(segment).copied().flatten(),
        }
    }
}

/// For each of some scores the number of scores above it; none where one is no float32 number.
fn rows_above(scores: &[f64]) -> Option<[u8; SHORT]> {
    wide(
        #[inline(always)]
        |_| {
            let mut keys = [0i32; SHORT];
            let mut narrow = true;
            for (key, score) in keys.iter_mut().zip(scores) {
                let single = *score as f32;
                narrow &= f64::from(single) == *score;
                // The bits of a float order as it does, those of a negative one but for its sign the other way round.
                let bits = (single + 0.0).to_bits() as i32;
                *key = bits ^ (bits >> 31) & i32::MAX;
            }
            let mut above = [0u8; SHORT];
            let lanes = keys.as_chunks::<LANES>().0.iter().zip(above.as_chunks_mut::<LANES>().0);
            for (lanes, above) in lanes.take(scores.len().div_ceil(LANES)) {
                let mut counts = [0i32; LANES];
                for key in keys.iter().take(scores.len()) {
                    for (count, lane) in counts.iter_mut().zip(lanes) {
                        *count += i32::from(key > lane);
                    }
                }
                for (above, count) in above.iter_mut().zip(counts) {
                    *above = count as u8;
                }
            }
            narrow.then_some(above)
        },
    )
}

/// A bit for each of some labels, the first in the lowest place: whether it is above 0.
fn positive_bits(labels: &[f64]) -> u64 {
    wide(
        #[inline(always)]
        |_| {
            let mut bits = 0;
            for (place, label) in (0u64..).zip(labels) {
                bits |= u64::from(*label > 0.0) << (place % u64::from(u64::BITS));
            }
            bits
        },
    )
}

/// A bit for each truth, the first in the lowest place.
fn bits(truths: impl Iterator<Item = bool>) -> u64 {
    (0u32..).zip(truths).fold(0, |bits, (place, truth)| bits | u64::from(truth) << place)
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
    fn counting_ranks_as_sorting_does() {
        let mut rng = crate::random::KeyedRng::new(4, &["counting"]);
        for rows in (0..=SHORT).chain([7; 50]) {
            let grid = 1 + rng.below(40);
            let infinities = [f64::INFINITY, f64::NEG_INFINITY, -0.0];
            let mut score = || match rng.below(20) {
                0 => infinities[rng.below(3) as usize],
                _ => f64::from(rng.below(grid) as f32 / 8.0 - 1.5),
            };
            let scores: Vec<f64> = (0..rows).map(|_| score()).collect();
            let all = crate::simd::tests::in_each_form(|| {
                let mut counted = Ranking::default();
                (counted.count(3, &scores), counted)
            });
            let mut sorted = Ranking::default();
            let has_ties = sorted.sort(3, &scores);
            for (found, counted) in all {
                assert_eq!(found, Some(has_ties));
                assert_eq!((counted.rows, counted.tied), (sorted.rows.clone(), sorted.tied.clone()), "{scores:?}");
            }
        }
    }

    #[test]
    fn marks_are_what_the_places_say() {
        let mut rng = crate::random::KeyedRng::new(5, &["marks"]);
        for rows in [0usize, 1, 20, 63, 64, 65, 100] {
            let scores: Vec<f64> = (0..rows).map(|_| rng.below(30) as f64).collect();
            let labels: Vec<f64> = (0..rows).map(|_| rng.below(3) as f64 - 1.0).collect();
            let ranking = Ranking::new(&scores, &labels, None, &[0, rows]);
            let segment = ranking.segment_at(0);
            let Some(marks) = segment.marks else {
                assert!(rows > SHORT);
                continue;
            };
            assert!(rows <= SHORT);
            assert_eq!(marks.positive, bits(segment.labels.iter().map(|label| *label > 0.0)));
            assert_eq!(marks.tied, bits(segment.tied_with_next.iter().copied()));
        }
    }

    #[test]
    fn both_ways_of_sorting_agree() {
        let mut rng = crate::random::KeyedRng::new(3, &["ranking"]);
        for _ in 0..200 {
            let scores: Vec<f64> = (0..80).map(|_| f64::from(rng.below(30) as f32 / 8.0 - 1.5)).collect();
            let labels: Vec<f64> = (0..80).map(|_| rng.below(3) as f64).collect();
            let narrow = Ranking::new(&scores, &labels, None, &[0, 80]);
            // A row that is no float32 number, ranked last, sends the whole segment the other way.
            let (mut scores, mut labels) = (scores, labels);
            scores.push(-100.000_000_000_1);
            labels.push(0.0);
            let wide = Ranking::new(&scores, &labels, None, &[0, 81]);
            assert_eq!(narrow.segment_at(0).rows, &wide.segment_at(0).rows[..80]);
            assert_eq!(narrow.segment_at(0).tied_with_next, &wide.segment_at(0).tied_with_next[..80]);
        }
    }
}
