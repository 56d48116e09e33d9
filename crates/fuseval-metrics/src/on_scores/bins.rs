//! Bins of predictions: what calibration errors and reliability curves are made of.
//!
//! ```text
//!   quantile   key bins      │··│·│····│··│···│·│··│      bins of the score histogram, whole ones in every mode
//!              equal mass    ├────┼────┼────┼──────┤      closed where the weight reaches the next multiple of 1/bins
//!   uniform    edges i/bins  ├─────┼─────┼─────┼───┤      left-closed, the last one closed on both sides
//! ```

use std::collections::BTreeMap;

use fuseval_core::registry::Settings;
use fuseval_core::{Error, ExactSum, MetricId, OptionEntry, Result};

use super::descent::{scale, totals};
use crate::segments::options::name;
use crate::states::scores::{KeyBin, ScoreTable, Step, bin, half_key};
use crate::states::twofold::Twofold;

/// How many bins there are at most.
pub(crate) const BINS: OptionEntry = OptionEntry { name: "bins", values: &[], default: "20, uniform 15" };
/// How bins are cut.
pub(crate) const STRATEGY: OptionEntry =
    OptionEntry { name: "strategy", values: &["quantile", "uniform"], default: "quantile" };
const STRATEGIES: &[(&str, Strategy)] = &[("quantile", Strategy::Quantile), ("uniform", Strategy::Uniform)];
const MOST_BINS: f64 = 100_000.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Quantile,
    Uniform,
}

impl Strategy {
    fn default_bins(self) -> f64 {
        if self == Self::Quantile { 20.0 } else { 15.0 }
    }
}

/// How predictions are cut into bins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bins {
    strategy: Strategy,
    count: f64,
}

/// The rows of a bin in sums.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) rows: u64,
    pub(crate) weight: Twofold,
    pub(crate) positives: Twofold,
    pub(crate) predictions: Twofold,
    /// Σ w·(prediction − label).
    pub(crate) residual: Twofold,
    /// Σ w·(half the width of the bin of the histogram): how far the sum of predictions may be off.
    pub(crate) slack: Twofold,
}

/// The rows of a bin in the making, each of weight 1.
#[derive(Debug, Default)]
struct KeySums {
    rows: u64,
    positives: u64,
    predictions: ExactSum,
}

impl KeySums {
    fn sums(self) -> Sums {
        let positives = self.positives as f64;
        let mut residual = self.predictions.clone();
        residual.add(-positives);
        Sums {
            rows: self.rows,
            weight: Twofold::of(self.rows as f64),
            positives: Twofold::of(positives),
            predictions: Twofold::of(self.predictions.value()),
            residual: Twofold::of(residual.value()),
            slack: Twofold::default(),
        }
    }
}

/// Rows of the histogram that may lie in one bin or another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) negative: f64,
    pub(crate) positive: f64,
}

/// A bin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bin {
    /// The rows that are counted in it.
    pub(crate) all: Sums,
    /// Those of them that are certain to lie in it.
    pub(crate) certain: Sums,
    /// All others that may.
    pub(crate) open: Vec<Open>,
}

impl Bins {
    /// From the options of the entry.
    pub(crate) fn read(settings: &Settings<'_>) -> Result<Self> {
        let strategy = settings.choice(STRATEGY.name, STRATEGIES)?;
        let count = settings.number(BINS.name, strategy.default_bins())?;
        if !((1.0..=MOST_BINS).contains(&count) && count.fract() == 0.0) {
            let found = count.to_string();
            return Err(Error::usage(format!("`bins` as a whole number from 1 to {MOST_BINS}"), found, "leave it out"));
        }
        Ok(Self { strategy, count })
    }

    /// Bins of equal mass.
    pub(crate) const fn quantile(count: f64) -> Self {
        Self { strategy: Strategy::Quantile, count }
    }

    /// The name with the options.
    pub(crate) fn printed(&self, id: MetricId) -> MetricId {
        let id = id.with(BINS.name, self.count, self.strategy.default_bins());
        id.with(STRATEGY.name, name(STRATEGIES, self.strategy), STRATEGY.default)
    }

    /// How wide a bin can be.
    pub(crate) fn width(&self) -> f64 {
        if self.strategy == Strategy::Quantile { 1.0 } else { 1.0 / self.count }
    }

    /// The bins that have rows or may have some, in ascending order; weights are multiplied by [`scale`].
    pub(crate) fn of(&self, table: &ScoreTable) -> Vec<Bin> {
        match self.strategy {
            Strategy::Quantile => self.equal_mass(table),
            Strategy::Uniform => self.equal_width(table),
        }
    }

    fn equal_mass(&self, table: &ScoreTable) -> Vec<Bin> {
        match table.key_bins().filter(|_| !table.logits) {
            Some(bins) => self.equal_mass_of_keys(table, bins),
            None => self.equal_mass_of_steps(table),
        }
    }

    /// The same from rows of weight 1 by bins of the histogram: counts, and exact sums of many scores at once.
    fn equal_mass_of_keys<'a>(&self, table: &ScoreTable, key_bins: impl Iterator<Item = KeyBin<'a>>) -> Vec<Bin> {
        let all = weight(table);
        let mut bins: Vec<Bin> = Vec::new();
        let (mut upto, mut closed) = (0.0, 0.0);
        let mut open = KeySums::default();
        for key_bin in key_bins {
            let (negative, positive) = key_bin.rows();
            open.rows += negative + positive;
            open.positives += positive;
            key_bin.add(&mut open.predictions, |score| table.prediction(score).clamp(0.0, 1.0));
            upto += (negative + positive) as f64;
            let multiples = (upto * self.count / all).floor();
            if multiples > closed || upto >= all {
                closed = multiples;
                let sums = std::mem::take(&mut open).sums();
                bins.push(Bin { all: sums, certain: sums, open: Vec::new() });
            }
        }
        bins
    }

    fn equal_mass_of_steps(&self, table: &ScoreTable) -> Vec<Bin> {
        let scale = scale(table);
        let mut bins: Vec<Bin> = Vec::new();
        let weight = |step: &Step| step.negative.weight + step.positive.weight;
        self.each_of_equal_mass(table, weight, |begins, step| {
            if begins {
                bins.push(Bin::default());
            }
            if let Some(bin) = bins.last_mut() {
                bin.all.add(table, step, scale);
                bin.certain = bin.all;
            }
        });
        bins
    }

    /// Calls `f` with each step in ascending order and whether it begins a bin of equal mass. Steps that share a bin of the
    /// histogram stay together, so that bins are the same in every mode.
    pub(crate) fn each_of_equal_mass(
        &self,
        table: &ScoreTable,
        weight: impl Fn(&Step) -> f64,
        mut f: impl FnMut(bool, &Step),
    ) {
        let apart = !table.exact || table.steps().all(|step| half_key(step.low).is_some());
        let total = |upto: &mut Twofold, step: &Step| {
            upto.add(weight(step));
            upto.value()
        };
        let mut sum = Twofold::default();
        let all = table.steps().fold(0.0, |_, step| total(&mut sum, &step));
        let (mut upto, mut closed, mut begins) = (Twofold::default(), 0.0, true);
        let mut steps = table.steps().peekable();
        while let Some(step) = steps.next() {
            f(begins, &step);
            let weight = total(&mut upto, &step);
            let goes_on = steps.peek().is_some_and(|next| !apart && bin(next.low) == bin(step.low));
            begins = false;
            if goes_on {
                continue;
            }
            // In this order, so that whole numbers are compared without rounding.
            let multiples = (weight * self.count / all).floor();
            if multiples > closed && weight < all {
                (begins, closed) = (true, multiples);
            }
        }
    }

    fn equal_width(&self, table: &ScoreTable) -> Vec<Bin> {
        let scale = scale(table);
        let mut bins: BTreeMap<u32, Bin> = BTreeMap::new();
        for step in table.steps() {
            let (low, middle, high) = span(table, &step);
            let (least, most) = (self.place(low), self.place(high));
            bins.entry(self.place(middle)).or_default().all.add(table, &step, scale);
            if least == most {
                bins.entry(least).or_default().certain.add(table, &step, scale);
                continue;
            }
            let (negative, positive) = (step.negative.weight * scale, step.positive.weight * scale);
            for place in least..=most {
                bins.entry(place).or_default().open.push(Open { low, high, negative, positive });
            }
        }
        bins.into_values().collect()
    }

    /// The uniform bin of a prediction: the place is computed and then corrected by comparison with the edges, since p · bins
    /// can round across an edge i / bins.
    fn place(&self, prediction: f64) -> u32 {
        let last = self.count - 1.0;
        let mut place = (prediction * self.count).floor().clamp(0.0, last);
        while place > 0.0 && place / self.count > prediction {
            place -= 1.0;
        }
        while place < last && (place + 1.0) / self.count <= prediction {
            place += 1.0;
        }
        place as u32
    }
}

/// The least, the middle and the greatest prediction of a step.
fn span(table: &ScoreTable, step: &Step) -> (f64, f64, f64) {
    let prediction = |score: f64| table.prediction(score).clamp(0.0, 1.0);
    let (low, high) = (prediction(step.low), prediction(step.high));
    (low, f64::midpoint(low, high), high)
}

impl Sums {
    fn add(&mut self, table: &ScoreTable, step: &Step, scale: f64) {
        let (low, middle, high) = span(table, step);
        let (negative, positive) = (step.negative.weight * scale, step.positive.weight * scale);
        self.rows += step.negative.rows + step.positive.rows;
        self.positives.add(positive);
        // Mostly a step has rows of one class alone; what is 0 would add nothing.
        for weight in [negative, positive].into_iter().filter(|weight| *weight > 0.0) {
            self.weight.add(weight);
            self.predictions.add_product(weight, middle);
            self.residual.add_product(weight, middle);
            if high > low {
                self.slack.add_product(weight, (high - low) / 2.0);
            }
        }
        self.residual.add(-positive);
    }

    /// |mean prediction − mean label|.
    pub(crate) fn gap(&self) -> f64 {
        self.residual.value().abs() / self.weight.value()
    }
}

/// The weight of all rows, multiplied by [`scale`].
pub(crate) fn weight(table: &ScoreTable) -> f64 {
    totals(table).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::scores::{Mode, Scores};
    use fuseval_core::random::KeyedRng;

    #[test]
    fn bins_of_keys_are_those_of_steps() {
        let mut rng = KeyedRng::new(6, &["bins"]);
        for (rows, least) in [(1, 0.0), (2, 0.5), (700, 0.0), (5000, -0.1), (5000, 0.9)] {
            let mut unit = || f64::from((rng.next_u64() >> 40) as f32 / 16_777_216.0);
            let scores: Vec<f64> = (0..rows).map(|_| f64::from((least + unit() * unit()) as f32)).collect();
            let labels: Vec<f64> = scores.iter().map(|score| f64::from(u8::from(unit() < *score))).collect();
            let mut state = Scores::new(Mode::Exact, 0);
            state.add_rows(&labels, &scores);
            let table = ScoreTable::of(&state);
            for count in [1.0, 3.0, 20.0, 1000.0] {
                let bins = Bins::quantile(count);
                let Some(key_bins) = table.key_bins() else { panic!("{rows} rows without keys") };
                let of_keys = bins.equal_mass_of_keys(&table, key_bins);
                let of_steps = bins.equal_mass_of_steps(&table);
                let numbers = |bin: &Bin| {
                    let Sums { rows, weight, positives, predictions, residual, slack } = bin.certain;
                    (rows, [weight, positives, predictions, residual, slack].map(|sum| sum.value().to_bits()))
                };
                let (a, b): (Vec<_>, Vec<_>) =
                    (of_keys.iter().map(numbers).collect(), of_steps.iter().map(numbers).collect());
                assert_eq!(a, b, "{rows} rows from {least}, {count} bins");
            }
        }
    }
}
