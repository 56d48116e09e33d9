//! `scores`: the scores of all rows with their class and weight; what areas, curves and rates at thresholds are made of.
//!
//! ```text
//!   exact      per class the distinct scores with their counts: 4 bytes for a score that is a float32 number, 8 for any
//!              other; rows of another weight than 1 as groups of (score, class, weight) with their count, 24 bytes
//!   histogram  rows per bin of the top 18 bits of the score's key, at most 2^18 bins of which some thousands are used
//! ```
//! A state is exact up to a budget of distinct (score, class, weight), then it becomes the histogram. Which of the two it is
//! depends on the data and the budget alone: a part never has more distinct entries than the whole.
//!
//! Scores are kept as they are; that they are logits is remembered, for thresholds and bins on the scale of probabilities.

mod histogram;
mod leave_out;
mod multiset;
mod pending;
mod places;
mod table;
mod weighted;

use std::borrow::Cow;

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::ranking::ordered;
use fuseval_core::{Result, State};

use histogram::{Histogram, single_key, single_keys, single_score};
pub(crate) use histogram::{bin, half_key};
use multiset::Multiset;
use table::Entry;
pub(crate) use table::{KeyBin, ScoreTable, Step};
use weighted::{Weighted, is_score, score_of};

/// The distinct scores of a cell, unless the run says otherwise.
pub const DEFAULT_BUDGET: u64 = 1 << 24;

/// How a score state is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Exact up to the budget, then the histogram.
    Auto,
    /// Exact whatever it costs.
    Exact,
    /// The histogram from the first row on.
    Histogram,
}

/// The scores of one class: float32 keys as long as all scores are float32 numbers.
#[derive(Debug, Clone)]
enum Class {
    Narrow(Multiset<u32>),
    Wide(Multiset<u64>),
}

impl Default for Class {
    fn default() -> Self {
        Self::Narrow(Multiset::default())
    }
}

/// The wide key of a narrow one.
fn widened(key: u32) -> u64 {
    ordered(f64::from(single_score(key)))
}

impl Class {
    fn add(&mut self, score: f64) {
        if let Self::Narrow(keys) = self {
            let single = score as f32;
            if f64::from(single) == score {
                return keys.add(single_key(single));
            }
            *self = Self::Wide(keys.mapped(widened));
        }
        if let Self::Wide(keys) = self {
            keys.add(ordered(score));
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Narrow(own), Self::Narrow(other)) => own.merge(other),
            (Self::Wide(own), Self::Wide(other)) => own.merge(other),
            (Self::Wide(own), Self::Narrow(other)) => own.merge(&other.mapped(widened)),
            (Self::Narrow(own), Self::Wide(other)) => {
                let mut wide = own.mapped(widened);
                wide.merge(other);
                *self = Self::Wide(wide);
            }
        }
    }

    /// As [`Self::merge`], of a class that is not needed any more.
    fn absorb(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Narrow(own), Self::Narrow(other)) => own.absorb(other),
            (Self::Wide(own), Self::Wide(other)) => own.absorb(other),
            (_, other) => self.merge(&other),
        }
    }

    fn compact(&mut self) {
        match self {
            Self::Narrow(keys) => keys.compact(),
            Self::Wide(keys) => keys.compact(),
        }
    }

    fn distinct(&self) -> usize {
        match self {
            Self::Narrow(keys) => keys.distinct(),
            Self::Wide(keys) => keys.distinct(),
        }
    }

    /// The number of rows.
    fn len(&self) -> u64 {
        match self {
            Self::Narrow(keys) => keys.len(),
            Self::Wide(keys) => keys.len(),
        }
    }

    /// An upper bound of the number of distinct scores, without sorting.
    fn most_distinct(&self) -> usize {
        match self {
            Self::Narrow(keys) => keys.most_distinct(),
            Self::Wide(keys) => keys.most_distinct(),
        }
    }

    fn encode(&self, out: &mut Writer) {
        match self {
            Self::Narrow(keys) => {
                out.u8(4);
                keys.encode(out);
            }
            Self::Wide(keys) => {
                out.u8(8);
                keys.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self> {
        let narrow_only = |score: f64| f64::from(score as f32) == score;
        match input.u8()? {
            4 => Ok(Self::Narrow(Multiset::decode(input, |key| is_score(widened(key)))?)),
            8 => {
                let keys = Multiset::decode(input, is_score)?;
                if keys.groups().all(|(key, _)| narrow_only(score_of(key))) {
                    return Err(damaged("scores that need 8 bytes", "none that does"));
                }
                Ok(Self::Wide(keys))
            }
            other => Err(damaged("scores of 4 or 8 bytes", other.to_string())),
        }
    }
}

#[derive(Debug, Clone)]
enum Content {
    Exact(Exact),
    Histogram(Histogram),
}

#[derive(Debug, Clone, Default)]
struct Exact {
    negative: Class,
    positive: Class,
    weighted: Weighted,
    /// Rows added since the budget was last looked at.
    unchecked: u64,
}

impl Exact {
    fn compact(&mut self) {
        self.negative.compact();
        self.positive.compact();
        self.weighted.compact();
    }

    fn is_compact(&self) -> bool {
        self.most_distinct() == self.distinct()
    }

    /// Distinct (score, class, weight). Complete after [`Self::compact`].
    fn distinct(&self) -> u64 {
        (self.negative.distinct() + self.positive.distinct() + self.weighted.groups().len()) as u64
    }

    /// An upper bound of [`Self::distinct`], without sorting.
    fn most_distinct(&self) -> u64 {
        (self.negative.most_distinct() + self.positive.most_distinct() + self.weighted.most_groups()) as u64
    }

    /// The number of rows of weight 1.
    fn rows(&self) -> u64 {
        self.negative.len() + self.positive.len()
    }

    fn merge(&mut self, other: &Self) {
        self.negative.merge(&other.negative);
        self.positive.merge(&other.positive);
        self.weighted.merge(&other.weighted);
    }

    /// Every group. Complete after [`Self::compact`].
    fn groups_with_keys(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.distinct() as usize);
        let one = 1.0f64.to_bits();
        for (class, positive) in [(&self.negative, false), (&self.positive, true)] {
            match class {
                Class::Narrow(keys) => {
                    entries.extend(keys.groups().map(|(key, count)| (widened(key), positive, one, count)));
                }
                Class::Wide(keys) => entries.extend(keys.groups().map(|(key, count)| (key, positive, one, count))),
            }
        }
        let weighted = self.weighted.groups().iter();
        entries.extend(weighted.map(|group| (group.key, group.is_positive(), group.weight().to_bits(), group.count)));
        entries
    }

    fn histogram(&self) -> Histogram {
        if self.weighted.most_groups() == 0 {
            return Histogram::of_classes([&self.negative, &self.positive]);
        }
        let mut sorted = self.clone();
        sorted.compact();
        Histogram::of(sorted.groups())
    }

    /// (score, class, weight, count) of every group. Complete after [`Self::compact`].
    fn groups(&self) -> impl Iterator<Item = (f64, bool, f64, u64)> + Clone {
        let entry = |(key, positive, weight, count)| (score_of(key), positive, f64::from_bits(weight), count);
        self.groups_with_keys().into_iter().map(entry)
    }
}

/// All scores with their class and weight, or their histogram.
#[derive(Debug, Clone)]
pub struct Scores {
    budget: u64,
    content: Content,
    /// Whether the scores are logits; never of a state without rows.
    logits: bool,
}

/// Rows of a fold after which the budget of the cell is looked at.
const SETTLE_ROWS: u64 = 1 << 16;

/// The bit of the first byte that says that the scores are logits.
const LOGITS: u8 = 2;

impl Scores {
    /// The state of no rows.
    pub fn new(mode: Mode, budget: u64) -> Self {
        let (budget, content) = match mode {
            Mode::Histogram => (budget, Content::Histogram(Histogram::default())),
            Mode::Exact => (u64::MAX, Content::Exact(Exact::default())),
            Mode::Auto => (budget, Content::Exact(Exact::default())),
        };
        Self { budget, content, logits: false }
    }

    /// Bytes of a state of so many rows: with float32 scores of weight 1 that hardly repeat, and at most.
    pub fn bytes(&self, rows: u64) -> (u64, u64) {
        // A run and what waits to be sorted in, each with room to grow.
        let exact = |bytes_per_row: u64| rows.min(self.budget) * bytes_per_row * 2;
        let (typical_bins, all_bins) = (rows.min(8192) * 16, rows.min(1 << 18) * 64);
        match &self.content {
            Content::Exact(_) if rows <= self.budget => (exact(4), exact(24)),
            Content::Exact(_) => (typical_bins.max(exact(4)), all_bins.max(exact(24))),
            Content::Histogram(_) => (typical_bins, all_bins),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Exact(exact) => exact.most_distinct() == 0,
            Content::Histogram(histogram) => histogram.is_empty(),
        }
    }

    /// Says that the rows added are logits: called with the first rows or later.
    pub fn are_logits(&mut self) {
        self.logits = true;
    }

    /// Adds rows of weight 1; scores are not NaN.
    pub fn add_rows(&mut self, labels: &[f64], scores: &[f64]) {
        const CHUNK: usize = 256;
        if let Content::Histogram(histogram) = &mut self.content {
            return histogram.add_rows(labels, scores);
        }
        let Content::Exact(Exact {
            negative: Class::Narrow(negative),
            positive: Class::Narrow(positive),
            unchecked,
            ..
        }) = &mut self.content
        else {
            return labels.iter().zip(scores).for_each(|(label, score)| self.add(*score, *label > 0.0, 1.0));
        };
        for (place, (some_labels, some_scores)) in labels.chunks(CHUNK).zip(scores.chunks(CHUNK)).enumerate() {
            let mut keys = [0u32; CHUNK];
            if !single_keys(some_scores, &mut keys) {
                // A score that is no float32 number: this and what follows goes the slow way.
                let from = place * CHUNK;
                let rest = labels.iter().zip(scores).skip(from);
                return rest.for_each(|(label, score)| self.add(*score, *label > 0.0, 1.0));
            }
            // Both classes are written, and the place moves on for one of them: no branch to guess wrong.
            let (mut classes, mut counts) = ([[0u32; CHUNK]; 2], [0usize; 2]);
            let [negatives, positives] = &mut classes;
            let [negative_count, positive_count] = &mut counts;
            for (label, key) in some_labels.iter().zip(keys) {
                let is_positive = *label > 0.0;
                if let Some(slot) = negatives.get_mut(*negative_count) {
                    *slot = key;
                }
                if let Some(slot) = positives.get_mut(*positive_count) {
                    *slot = key;
                }
                *negative_count += usize::from(!is_positive);
                *positive_count += usize::from(is_positive);
            }
            negative.extend(negatives.get(..*negative_count).unwrap_or_default());
            positive.extend(positives.get(..*positive_count).unwrap_or_default());
            *unchecked += some_labels.len() as u64;
        }
        if *unchecked > self.budget.max(4096) {
            self.keep_to_budget();
        }
    }

    /// Adds a row; the weight is finite and above zero, the score not NaN.
    pub fn add(&mut self, score: f64, positive: bool, weight: f64) {
        match &mut self.content {
            Content::Histogram(histogram) => histogram.add(score, positive, weight),
            Content::Exact(exact) => {
                if weight != 1.0 {
                    exact.weighted.add(score, positive, weight);
                } else if positive {
                    exact.positive.add(score);
                } else {
                    exact.negative.add(score);
                }
                exact.unchecked += 1;
                if exact.unchecked > self.budget.max(4096) {
                    self.keep_to_budget();
                }
            }
        }
    }

    /// Sorts all rows in.
    fn compact(&mut self) {
        if let Content::Exact(exact) = &mut self.content {
            exact.compact();
        }
    }

    /// Becomes the histogram if there are more distinct entries than the budget allows.
    fn keep_to_budget(&mut self) {
        let Content::Exact(exact) = &mut self.content else { return };
        exact.unchecked = 0;
        if exact.most_distinct() <= self.budget {
            return;
        }
        exact.compact();
        if exact.distinct() > self.budget {
            self.content = Content::Histogram(exact.histogram());
        }
    }

    /// The state as its budget wants it.
    fn within_budget(&self) -> Cow<'_, Self> {
        match &self.content {
            Content::Exact(exact) if exact.most_distinct() > self.budget => {
                let mut settled = self.clone();
                settled.keep_to_budget();
                Cow::Owned(settled)
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The state as a histogram.
    fn histogram(&self) -> Cow<'_, Histogram> {
        match &self.content {
            Content::Histogram(histogram) => Cow::Borrowed(histogram),
            Content::Exact(exact) => Cow::Owned(exact.histogram()),
        }
    }
}

impl State for Scores {
    const KIND: &'static str = "scores";
    const VERSION: u16 = 1;

    /// Where the folds have more distinct entries than the budget of their cell, all of them become histograms.
    fn settle(folds: &mut [Self]) {
        let Some(budget) = folds.iter().map(|state| state.budget).min() else { return };
        folds.iter_mut().for_each(|state| {
            if let Content::Exact(exact) = &mut state.content {
                exact.unchecked = 0;
            }
        });
        let most = |state: &Self| match &state.content {
            Content::Exact(exact) => exact.most_distinct(),
            Content::Histogram(_) => 0,
        };
        let distinct = |state: &Self| match &state.content {
            Content::Exact(exact) => exact.distinct(),
            Content::Histogram(_) => 0,
        };
        let is_over = |count: &dyn Fn(&Self) -> u64, folds: &[Self]| folds.iter().map(count).sum::<u64>() > budget;
        let one_is = folds.iter().any(|state| matches!(state.content, Content::Histogram(_)));
        if !one_is && !is_over(&most, folds) {
            return;
        }
        folds.iter_mut().for_each(|state| state.compact());
        if one_is || is_over(&distinct, folds) {
            folds.iter_mut().for_each(|state| state.content = Content::Histogram(state.histogram().into_owned()));
        }
    }

    fn is_to_settle(&self) -> bool {
        matches!(&self.content, Content::Exact(exact) if exact.unchecked >= SETTLE_ROWS)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.logits |= other.logits;
        match (&mut self.content, &other.content) {
            (Content::Exact(own), Content::Exact(other)) => {
                own.merge(other);
                self.keep_to_budget();
            }
            (Content::Histogram(own), Content::Histogram(other)) => own.merge(other),
            (Content::Histogram(own), Content::Exact(_)) => own.merge(&other.histogram()),
            (Content::Exact(_), Content::Histogram(other)) => {
                let mut histogram = self.histogram().into_owned();
                histogram.merge(other);
                self.content = Content::Histogram(histogram);
            }
        }
        Ok(())
    }

    fn absorb(&mut self, other: Self) -> Result<()> {
        let Self { budget, content, logits } = other;
        match (&mut self.content, content) {
            (Content::Exact(own), Content::Exact(other)) => {
                self.logits |= logits;
                own.negative.absorb(other.negative);
                own.positive.absorb(other.positive);
                own.weighted.merge(&other.weighted);
                self.keep_to_budget();
                Ok(())
            }
            (_, content) => self.merge(&Self { budget, content, logits }),
        }
    }

    fn encode(&self, out: &mut Writer) {
        let logits = if self.logits { LOGITS } else { 0 };
        match self.within_budget().into_owned().content {
            Content::Exact(mut exact) => {
                exact.compact();
                out.u8(logits);
                exact.negative.encode(out);
                exact.positive.encode(out);
                exact.weighted.encode(out);
            }
            Content::Histogram(histogram) => {
                out.u8(1 | logits);
                histogram.encode(out);
            }
        }
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        let first = input.u8()?;
        let content = match first & !LOGITS {
            0 => Content::Exact(Exact {
                negative: Class::decode(input)?,
                positive: Class::decode(input)?,
                weighted: Weighted::decode(input)?,
                unchecked: 0,
            }),
            1 => Content::Histogram(Histogram::decode(input)?),
            _ => return Err(damaged("scores or their histogram", first.to_string())),
        };
        let logits = first & LOGITS != 0;
        let is_empty = match &content {
            Content::Exact(exact) => exact.distinct() == 0,
            Content::Histogram(histogram) => histogram.is_empty(),
        };
        if logits && is_empty {
            return Err(damaged("logits", "no rows"));
        }
        Ok(Self { budget: u64::MAX, content, logits })
    }
}

#[cfg(test)]
mod tests;
