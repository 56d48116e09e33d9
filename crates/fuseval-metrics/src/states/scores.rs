//! `scores`: the multiset of (score, class, weight) of all rows; what exact curves are made of.
//!
//! ```text
//!   key     order-preserving bits of the score (−0 as 0)
//!   weight  bits of the weight, which is above zero, so its sign bit is free to hold the class
//!   count   rows that agree in both: integers, so merging is exact
//! ```
//! 24 bytes per distinct (score, class, weight), in one sorted run; new rows wait in a buffer that is sorted in when it
//! reaches a quarter of the run, so that a row costs about 28 bytes at most and O(log n) time.

use std::borrow::Cow;
use std::cmp::Ordering;

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::state::count;
use fuseval_core::{Result, State};

use super::twofold::Twofold;

const CLASS: u64 = 1 << 63;
const LEAST_PENDING: usize = 256;
/// The keys of −∞ and ∞; keys beyond them are those of NaN.
const LEAST_KEY: u64 = !f64::NEG_INFINITY.to_bits();
const MOST_KEY: u64 = f64::INFINITY.to_bits() | CLASS;
/// The key that −0 would have if it were not taken as 0.
const NEGATIVE_ZERO: u64 = !(-0.0f64).to_bits();

/// Rows that agree in score, class and weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    key: u64,
    weight: u64,
    count: u64,
}

impl Group {
    fn order(&self, other: &Self) -> Ordering {
        (self.key, self.weight).cmp(&(other.key, other.weight))
    }
}

/// All scores with their class and weight.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    run: Vec<Group>,
    pending: Vec<(u64, u64)>,
}

/// All rows of one score: weights and counts of both classes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Step {
    /// (weight, rows) of each distinct weight among positives.
    pub positive: Side,
    /// The same among negatives.
    pub negative: Side,
}

/// The rows of one class in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Side {
    /// Sum of the weights.
    pub weight: f64,
    /// Number of rows.
    pub rows: u64,
}

impl Scores {
    /// Adds a row. The weight is above zero and finite, the score not NaN.
    pub fn add(&mut self, score: f64, positive: bool, weight: f64) {
        self.pending.push((ordered(score), weight.to_bits() | if positive { CLASS } else { 0 }));
        if self.pending.len() >= LEAST_PENDING.max(self.run.len() / 4) {
            self.pending.sort_unstable();
            self.run = merged(&self.run, grouped(&self.pending), self.pending.len());
            self.pending.clear();
        }
    }

    /// The largest weight, if there is one other than 1.
    pub fn largest_weight(&self) -> Option<f64> {
        let weights = self.run.iter().map(|group| group.weight).chain(self.pending.iter().map(|(_, weight)| *weight));
        let weights = weights.map(|weight| f64::from_bits(weight & !CLASS));
        let (largest, other) =
            weights.fold((0.0, false), |(largest, other), weight| (weight.max(largest), other || weight != 1.0));
        other.then_some(largest)
    }

    /// Calls `f` with each distinct score in ascending order. Sums within a step are taken in the order of the weights, which
    /// no split can change.
    pub fn each_step(&self, mut f: impl FnMut(Step)) {
        for groups in self.sorted().chunk_by(|a, b| a.key == b.key) {
            let mut step = Step::default();
            let (mut negative, mut positive) = (Twofold::default(), Twofold::default());
            for group in groups {
                let is_negative = group.weight & CLASS == 0;
                let (side, sum) =
                    if is_negative { (&mut step.negative, &mut negative) } else { (&mut step.positive, &mut positive) };
                sum.add_product(f64::from_bits(group.weight & !CLASS), group.count as f64);
                side.rows += group.count;
            }
            step.negative.weight = negative.value();
            step.positive.weight = positive.value();
            f(step);
        }
    }

    /// The run with the waiting rows sorted in.
    fn sorted(&self) -> Cow<'_, [Group]> {
        if self.pending.is_empty() {
            return Cow::Borrowed(&self.run);
        }
        let mut pending = self.pending.clone();
        pending.sort_unstable();
        Cow::Owned(merged(&self.run, grouped(&pending), pending.len()))
    }
}

/// Sorted rows as groups.
fn grouped(rows: &[(u64, u64)]) -> impl Iterator<Item = Group> {
    rows.chunk_by(|a, b| a == b).filter_map(|same| {
        same.first().map(|(key, weight)| Group { key: *key, weight: *weight, count: same.len() as u64 })
    })
}

/// Two sorted sequences as one, equal groups added up.
fn merged(run: &[Group], other: impl Iterator<Item = Group>, other_len: usize) -> Vec<Group> {
    let mut out = Vec::with_capacity(run.len() + other_len);
    let mut run = run.iter().copied().peekable();
    for group in other {
        while let Some(before) = run.next_if(|next| next.order(&group) == Ordering::Less) {
            out.push(before);
        }
        let same = run.next_if(|next| next.order(&group) == Ordering::Equal);
        out.push(Group { count: group.count + same.map_or(0, |same| same.count), ..group });
    }
    out.extend(run);
    out.shrink_to_fit();
    out
}

/// Bits of a float that order as the float does; −0 and 0 are the same.
fn ordered(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl State for Scores {
    const KIND: &'static str = "scores";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        let (own, others) = (self.sorted(), other.sorted());
        self.run = merged(&own, others.iter().copied(), others.len());
        self.pending.clear();
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        let groups = self.sorted();
        out.u64(groups.len() as u64);
        for group in groups.iter() {
            out.u64(group.key);
            out.u64(group.weight);
            out.u64(group.count);
        }
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        let len = input.count(24)?;
        let mut run: Vec<Group> = Vec::with_capacity(len);
        for _ in 0..len {
            let group = Group { key: input.u64()?, weight: input.u64()?, count: count(input)? };
            let weight = f64::from_bits(group.weight & !CLASS);
            let in_order = run.last().is_none_or(|last| last.order(&group) == Ordering::Less);
            let is_score = (LEAST_KEY..=MOST_KEY).contains(&group.key) && group.key != NEGATIVE_ZERO;
            if !in_order || !is_score || group.count == 0 || !weight.is_finite() || weight == 0.0 {
                return Err(damaged("distinct scores in ascending order", "another order, count or weight"));
            }
            run.push(group);
        }
        Ok(Self { run, pending: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_scores_do() {
        let scores = [f64::NEG_INFINITY, -1.5, -1e-320, 0.0, 1e-320, 0.1, 1.0, f64::INFINITY];
        assert!(scores.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert_eq!(ordered(-0.0), ordered(0.0));
    }

    #[test]
    fn many_rows_collapse_to_their_distinct_scores() {
        let mut scores = Scores::default();
        (0..10_000u32).for_each(|i| scores.add(f64::from(i * 7 % 100), i % 3 == 0, 1.0));
        let (mut steps, mut rows) = (0, 0);
        scores.each_step(|step| {
            steps += 1;
            rows += step.positive.rows + step.negative.rows;
        });
        assert_eq!((steps, rows), (100, 10_000));
        assert!(scores.run.len() <= 200);
    }
}
