//! Rows of a weight other than 1: groups that agree in score, class and weight, with their counts.

use std::cmp::Ordering;

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::ranking::ordered;
use fuseval_core::{Result, state};

const CLASS: u64 = 1 << 63;
const LEAST_PENDING: usize = 256;
/// The keys of −∞ and ∞; keys beyond them are those of NaN.
pub(super) const LEAST_KEY: u64 = !f64::NEG_INFINITY.to_bits();
pub(super) const MOST_KEY: u64 = f64::INFINITY.to_bits() | CLASS;
/// The key that −0 would have if it were not taken as 0.
pub(super) const NEGATIVE_ZERO: u64 = !(-0.0f64).to_bits();

/// Rows that agree in score, class and weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: u64,
    /// Bits of the weight, which is above zero, so that its sign bit is free to hold the class.
    weight: u64,
    pub(super) count: u64,
}

impl Group {
    fn order(&self, other: &Self) -> Ordering {
        (self.key, self.weight).cmp(&(other.key, other.weight))
    }

    pub(super) fn is_positive(&self) -> bool {
        self.weight & CLASS != 0
    }

    pub(super) fn weight(&self) -> f64 {
        f64::from_bits(self.weight & !CLASS)
    }
}

/// The groups, sorted, and rows that wait to be sorted in.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighted {
    run: Vec<Group>,
    pending: Vec<(u64, u64)>,
}

impl Weighted {
    pub(super) fn add(&mut self, score: f64, positive: bool, weight: f64) {
        self.pending.push((ordered(score), weight.to_bits() | if positive { CLASS } else { 0 }));
        if self.pending.len() >= LEAST_PENDING.max(self.run.len()) {
            self.compact();
        }
    }

    pub(super) fn compact(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.pending.sort_unstable();
        let groups = self.pending.chunk_by(|a, b| a == b).filter_map(|same| {
            same.first().map(|(key, weight)| Group { key: *key, weight: *weight, count: same.len() as u64 })
        });
        self.run = merged(&self.run, groups, self.pending.len());
        self.pending.clear();
    }

    /// The groups in ascending order of score and weight. Complete after [`Self::compact`].
    pub(super) fn groups(&self) -> &[Group] {
        &self.run
    }

    pub(super) fn is_empty(&self) -> bool {
        self.run.is_empty() && self.pending.is_empty()
    }

    /// An upper bound of the number of groups, without sorting.
    pub(super) fn most_groups(&self) -> usize {
        self.run.len() + self.pending.len()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut sorted = other.clone();
        sorted.compact();
        self.compact();
        self.run = merged(&self.run, sorted.run.iter().copied(), sorted.run.len());
    }

    pub(super) fn encode(&self, out: &mut Writer) {
        out.u64(self.run.len() as u64);
        for group in &self.run {
            out.u64(group.key);
            out.u64(group.weight);
            out.u64(group.count);
        }
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self> {
        let len = input.count(24)?;
        let mut run: Vec<Group> = Vec::with_capacity(len);
        for _ in 0..len {
            let group = Group { key: input.u64()?, weight: input.u64()?, count: state::count(input)? };
            let weight = group.weight();
            let in_order = run.last().is_none_or(|last| last.order(&group) == Ordering::Less);
            let is_weight = weight.is_finite() && weight > 0.0 && weight != 1.0;
            if !in_order || !is_score(group.key) || group.count == 0 || !is_weight {
                return Err(damaged("distinct scores in ascending order", "another order, count or weight"));
            }
            run.push(group);
        }
        Ok(Self { run, pending: Vec::new() })
    }
}

/// Whether a key stands for a score.
pub(super) fn is_score(key: u64) -> bool {
    (LEAST_KEY..=MOST_KEY).contains(&key) && key != NEGATIVE_ZERO
}

/// The score of a key.
pub(super) fn score_of(key: u64) -> f64 {
    f64::from_bits(if key & CLASS == 0 { !key } else { key & !CLASS })
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
