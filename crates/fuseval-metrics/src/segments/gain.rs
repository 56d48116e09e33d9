//! Gains and discounts: the two factors of discounted cumulative gain.

use std::fmt;
use std::sync::LazyLock;

use fuseval_core::registry::Settings;
use fuseval_core::{Error, OptionEntry, OptionValue, Result, View};

use super::Segment;
use crate::blocks::ones;

/// What a label is worth.
pub(crate) const GAIN: OptionEntry = OptionEntry { name: "gain", values: &["linear", "exp2"], default: "linear" };

/// The highest label that can be an exponent: sums of its gains stay far from the largest float.
const HIGHEST_EXPONENT: f64 = 900.0;

/// What a label is worth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Gain {
    /// The label.
    Linear,
    /// 2^label − 1.
    Exp2,
    /// What a table has for the grade.
    Table(Vec<f64>),
}

impl Gain {
    /// Reads the option `gain`.
    pub(crate) fn read(settings: &Settings<'_>) -> Result<Self> {
        let Some(OptionValue::List(texts)) = settings.get(GAIN.name) else {
            return settings
                .choice(GAIN.name, &[("linear", false), ("exp2", true)])
                .map(|exponential| if exponential { Self::Exp2 } else { Self::Linear });
        };
        let wrong = |found: String| {
            Error::usage(
                "the gains of grades 0, 1, 2, … in `gain`: numbers from 0 on, the first of them 0",
                found,
                "write for example `gain=[0,1,3,7]`",
            )
        };
        let mut table = Vec::new();
        for text in &texts {
            match text.parse::<f64>() {
                Ok(gain) if (0.0..=1e100).contains(&gain) => table.push(gain),
                _ => return Err(wrong(format!("`{text}`"))),
            }
        }
        if table.first() != Some(&0.0) {
            return Err(wrong(format!("`[{}]`", texts.join(","))));
        }
        Ok(Self::Table(table))
    }

    /// The gain of a label that [`Self::check`] lets pass.
    #[inline]
    pub(crate) fn of(&self, label: f64) -> f64 {
        match self {
            Self::Linear => label,
            Self::Exp2 => exp2(label) - 1.0,
            Self::Table(table) => table.get(label as usize).copied().unwrap_or_default(),
        }
    }

    /// Refuses labels that have no gain.
    pub(crate) fn check(&self, view: &View<'_>) -> Result<()> {
        // Labels up to 1 fit, and a loop without an early end is soon through with them.
        if !matches!(self, Self::Table(_)) && view.labels.iter().fold(true, |all, label| all & (*label <= 1.0)) {
            return Ok(());
        }
        let refuse =
            |expected: String, wrong: &dyn Fn(f64) -> bool| match view.labels.iter().find(|label| wrong(**label)) {
                None => Ok(()),
                Some(label) => {
                    Err(Error::data(expected, format!("label {label}"), "change the labels or the option `gain`"))
                }
            };
        match self {
            Self::Linear => refuse("labels up to 1e100".to_string(), &|label| label > 1e100),
            Self::Exp2 => {
                refuse(format!("labels up to {HIGHEST_EXPONENT}, as exponents of 2"), &|label| label > HIGHEST_EXPONENT)
            }
            Self::Table(table) => {
                let highest = table.len().saturating_sub(1);
                let wrong = |label: f64| label > highest as f64 || label != libm::trunc(label);
                refuse(format!("whole grades from 0 to {highest}, which have a gain in the table"), &wrong)
            }
        }
    }

    /// The expected discounted gain above the cut-off.
    pub(crate) fn dcg(&self, segment: &Segment<'_>) -> f64 {
        match self {
            Self::Linear => dcg(segment, |label| label),
            _ => dcg(segment, |label| self.of(label)),
        }
    }

    /// The discounted gain of labels in the best order, above a cut-off.
    pub(crate) fn ideal_dcg(&self, labels: &[f64], k: usize) -> f64 {
        let discounts = Discounts::new();
        if self.of(1.0) == 1.0
            && let Some(relevant) = ones(labels)
        {
            return discounts.of_first((relevant as usize).min(k));
        }
        let mut gains: Vec<f64> = labels.iter().map(|label| self.of(*label)).collect();
        gains.sort_unstable_by(|a, b| b.total_cmp(a));
        gains.iter().take(k).enumerate().map(|(place, gain)| gain * discounts.at(place)).sum()
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Exp2 => f.write_str("exp2"),
            Self::Table(table) => {
                let texts: Vec<String> = table.iter().map(f64::to_string).collect();
                write!(f, "[{}]", texts.join(","))
            }
        }
    }
}

/// 2^x; of whole numbers by their bits, which are the same.
#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    let whole = x as i32;
    if f64::from(whole) == x && (0..1024).contains(&whole) {
        return f64::from_bits((whole as u64 + 1023) << 52);
    }
    libm::exp2(x)
}

#[inline(always)]
fn dcg(segment: &Segment<'_>, gain: impl Fn(f64) -> f64) -> f64 {
    let discounts = Discounts::new();
    let mut sum = 0.0;
    // A label of 0 gains nothing, so the other blocks are enough.
    for block in segment.relevant_blocks() {
        let places = block.before..block.before + block.inside;
        let first = block.labels.first().copied().unwrap_or_default();
        if block.labels.iter().all(|label| *label == first) {
            // One after the other, as in a ranking without ties: so that an ideal ranking has exactly the ideal sum.
            places.for_each(|place| sum += gain(first) * discounts.at(place));
        } else {
            let gains: f64 = block.labels.iter().map(|label| gain(*label)).sum();
            sum += gains / block.labels.len() as f64 * discounts.sum(places);
        }
    }
    sum
}

/// The discounts 1 / log2(rank + 1); the place is the rank less one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Discounts {
    table: &'static [f64; 1024],
}

static TABLE: LazyLock<[f64; 1024]> = LazyLock::new(|| std::array::from_fn(discount));

/// For each place the sum of the discounts down to it.
static SUMS: LazyLock<[f64; 1024]> = LazyLock::new(|| {
    let mut sum = 0.0;
    TABLE.map(|discount| {
        sum += discount;
        sum
    })
});

fn discount(place: usize) -> f64 {
    1.0 / libm::log2(place as f64 + 2.0)
}

impl Discounts {
    pub(crate) fn new() -> Self {
        Self { table: &TABLE }
    }

    #[inline]
    pub(crate) fn at(self, place: usize) -> f64 {
        self.table.get(place).copied().unwrap_or_else(|| discount(place))
    }

    /// The sum of the discounts of so many places, from the first on.
    pub(crate) fn of_first(self, places: usize) -> f64 {
        let last = places.checked_sub(1);
        last.and_then(|last| SUMS.get(last)).copied().unwrap_or_else(|| self.sum(0..places))
    }

    /// The sum of the discounts of some places.
    pub(crate) fn sum(self, places: std::ops::Range<usize>) -> f64 {
        places.map(|place| self.at(place)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_by_their_bits_are_those_of_libm() {
        for x in -3..1024 {
            assert_eq!(exp2(f64::from(x)).to_bits(), libm::exp2(f64::from(x)).to_bits());
        }
        assert_eq!(exp2(0.5), std::f64::consts::SQRT_2);
    }

    #[test]
    fn the_ideal_of_labels_is_the_same_by_counting_and_by_sorting() {
        let labels = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        for k in 1..9 {
            let sorted: f64 = (0..k.min(4)).map(discount).sum();
            assert_eq!(Gain::Linear.ideal_dcg(&labels, k), sorted);
            let doubled: Vec<f64> = labels.iter().map(|label| 2.0 * label).collect();
            assert_eq!(Gain::Linear.ideal_dcg(&doubled, k), 2.0 * sorted);
        }
    }

    #[test]
    fn the_sum_of_the_first_places_is_that_of_each() {
        let discounts = Discounts::new();
        for places in (0..40).chain(1020..1030) {
            assert_eq!(discounts.of_first(places).to_bits(), discounts.sum(0..places).to_bits(), "{places}");
        }
    }

    #[test]
    fn places_beyond_the_table_have_discounts() {
        let discounts = Discounts::new();
        assert_eq!((discounts.at(0), discounts.at(2), discounts.at((1 << 20) - 2)), (1.0, 0.5, 0.05));
    }
}
