//! `thresholds`: rows of both classes between neighbouring thresholds; confusion matrices are its running sums.
//!
//! ```text
//!   bin b holds the rows with exactly b thresholds at or below their score:  b = 0 … T
//!   a row is called positive at threshold i (0-based) when its bin is above i
//! ```
//! Rows of weight 1 are counted; other weights are summed exactly, bin by bin.

use std::collections::BTreeMap;

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::state::count;
use fuseval_core::{ExactSum, Result, State, Tally};

/// Rows per bin and class.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    /// Rows of weight 1 added here: place 2·bin + class. Empty until the first such row.
    rows: Vec<u64>,
    /// Rows of weight 1 read from bytes, by the same place: small bytes must not ask for a large array.
    read: BTreeMap<u32, u64>,
    /// Sums of the other weights, by the same place.
    weights: BTreeMap<u32, ExactSum>,
    bins: u32,
    /// The counts.
    pub tally: Tally,
}

impl Thresholds {
    /// The state of no rows, for `bins` bins.
    pub fn new(bins: u32) -> Self {
        Self { bins, ..Self::default() }
    }

    /// Adds a row to a bin.
    pub fn add(&mut self, bin: u32, positive: bool, weight: f64) {
        let place = 2 * bin + u32::from(positive);
        if weight != 1.0 {
            self.weights.entry(place).or_default().add(weight);
            return;
        }
        if self.rows.is_empty() {
            self.rows = vec![0; 2 * self.bins as usize];
        }
        if let Some(rows) = self.rows.get_mut(place as usize) {
            *rows += 1;
        }
    }

    /// The largest weight of a bin, if there are rows of another weight than 1.
    pub fn largest_weight(&self) -> Option<f64> {
        let weights = self.bin_weights().map(|(negative, positive)| negative.max(positive));
        (!self.weights.is_empty()).then(|| weights.fold(0.0, f64::max))
    }

    /// Rows of weight 1 at a place.
    fn rows_at(&self, place: u32) -> u64 {
        let added = self.rows.get(place as usize).copied().unwrap_or_default();
        added + self.read.get(&place).copied().unwrap_or_default()
    }

    /// (negative, positive) rows of weight 1 per bin, in ascending order of score.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.bins).map(|bin| (self.rows_at(2 * bin), self.rows_at(2 * bin + 1)))
    }

    /// (negative, positive) weight per bin, in ascending order of score.
    pub fn bin_weights(&self) -> impl Iterator<Item = (f64, f64)> {
        let weight = |place: u32| {
            let rows = self.rows_at(place) as f64;
            match self.weights.get(&place) {
                None => rows,
                Some(sum) => {
                    let mut sum = sum.clone();
                    sum.add(rows);
                    sum.value()
                }
            }
        };
        (0..self.bins).map(move |bin| (weight(2 * bin), weight(2 * bin + 1)))
    }
}

impl State for Thresholds {
    const KIND: &'static str = "thresholds";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        if self.bins != other.bins {
            return Err(damaged(format!("{} bins", self.bins), other.bins.to_string()));
        }
        if self.rows.is_empty() {
            self.rows.clone_from(&other.rows);
        } else {
            self.rows.iter_mut().zip(&other.rows).for_each(|(rows, other)| *rows += other);
        }
        for (place, rows) in &other.read {
            *self.read.entry(*place).or_default() += rows;
        }
        for (place, sum) in &other.weights {
            self.weights.entry(*place).or_default().merge(sum);
        }
        self.tally.merge(&other.tally);
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        self.tally.encode(out);
        out.u32(self.bins);
        let mut rows = self.read.clone();
        for (place, added) in (0u32..).zip(&self.rows).filter(|(_, added)| **added > 0) {
            *rows.entry(place).or_default() += added;
        }
        out.u64(rows.len() as u64);
        for (place, rows) in rows {
            out.u32(place);
            out.u64(rows);
        }
        out.u64(self.weights.len() as u64);
        for (place, sum) in &self.weights {
            out.u32(*place);
            sum.encode(out);
        }
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        let tally = Tally::decode(input)?;
        let bins = input.u32()?;
        if bins > MOST_BINS {
            return Err(damaged(format!("at most {MOST_BINS} bins"), bins.to_string()));
        }
        let mut state = Self { tally, ..Self::new(bins) };
        let mut last = None;
        let place = |input: &mut Reader<'_>, last: &mut Option<u32>| {
            let place = input.u32()?;
            if place / 2 >= bins || last.is_some_and(|last| last >= place) {
                return Err(damaged("bins in ascending order", format!("place {place}")));
            }
            *last = Some(place);
            Ok(place)
        };
        for _ in 0..input.count(12)? {
            let place = place(input, &mut last)?;
            let rows = count(input)?;
            if rows == 0 {
                return Err(damaged("bins with rows", "one without"));
            }
            state.read.insert(place, rows);
        }
        last = None;
        for _ in 0..input.count(8)? {
            let place = place(input, &mut last)?;
            let sum = ExactSum::decode(input)?;
            if !(sum.value() > 0.0 && sum.value().is_finite()) {
                return Err(damaged("a finite sum of weights above 0", sum.value().to_string()));
            }
            state.weights.insert(place, sum);
        }
        Ok(state)
    }
}

/// More thresholds than this are refused, when asked for as when read.
pub const MOST_BINS: u32 = 1_000_002;
