//! `sums`: a few exact sums and the tally. The state of every metric that is a function of sums over rows or segments.

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::{ExactSum, Outcome, Result, State, Tally, Value, View};

/// `N` exact sums over rows or segments, with the counts of what went in.
#[derive(Debug, Clone)]
pub struct Sums<const N: usize> {
    /// The sums; what each one holds is the metric's business.
    pub sums: [ExactSum; N],
    /// The counts.
    pub tally: Tally,
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self { sums: std::array::from_fn(|_| ExactSum::new()), tally: Tally::default() }
    }
}

impl<const N: usize> State for Sums<N> {
    const KIND: &'static str = "sums";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.tally.merge(&other.tally);
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| sum.merge(other));
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        out.u8(N as u8);
        self.sums.iter().for_each(|sum| sum.encode(out));
        self.tally.encode(out);
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        let count = usize::from(input.u8()?);
        if count != N {
            return Err(damaged(format!("{N} sums"), count.to_string()));
        }
        let mut state = Self::default();
        for sum in &mut state.sums {
            *sum = ExactSum::decode(input)?;
        }
        state.tally = Tally::decode(input)?;
        Ok(state)
    }
}

impl Sums<2> {
    /// The mean of a sum over weights (first) by the sum of the weights (second).
    pub(crate) fn mean(&self, why_undefined: &'static str) -> Value {
        let [values, weights] = &self.sums;
        let weight = weights.value();
        Value::exact(Outcome::ratio(values.value(), weight, why_undefined), weight, self.tally)
    }
}

/// Adds the weights of all rows of a view to a sum.
pub(crate) fn add_weights(sum: &mut ExactSum, view: &View<'_>) {
    match view.weights {
        None => sum.add(view.rows() as f64),
        Some(weights) => weights.iter().for_each(|weight| sum.add(*weight)),
    }
}
