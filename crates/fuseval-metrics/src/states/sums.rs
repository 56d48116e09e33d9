//! `sums`: a few exact sums and the tally. The state of every metric that is a function of sums over rows or segments.

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::{ExactSum, Outcome, Result, State, Tally, Value, View};

/// `N` exact sums over rows or segments and the sum of their weights, with the counts of what went in.
#[derive(Debug, Clone)]
pub struct Sums<const N: usize> {
    /// The sums; what each one holds is the metric's business.
    pub sums: [ExactSum; N],
    /// The sum of the weights; left out while each weighs 1 and it is their number.
    weight: Option<Box<ExactSum>>,
    n: u64,
    /// All counts, once one of them other than `n` is above zero, which is rare: there are many of these states.
    rare: Option<Box<Tally>>,
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self { sums: std::array::from_fn(|_| ExactSum::new()), weight: None, n: 0, rare: None }
    }
}

impl<const N: usize> Sums<N> {
    /// The counts.
    pub fn tally(&self) -> Tally {
        self.rare.as_deref().copied().unwrap_or(Tally { n: self.n, ..Tally::default() })
    }

    /// The sum of the weights of what was counted.
    pub fn weight(&self) -> ExactSum {
        match &self.weight {
            Some(weight) => weight.as_ref().clone(),
            None => {
                let mut weight = ExactSum::new();
                weight.add(self.n as f64);
                weight
            }
        }
    }

    /// Counts rows or segments with the sum of their weights; without one each weighs 1.
    pub fn count(&mut self, tally: &Tally, weight: Option<&ExactSum>) {
        if weight.is_some() || self.weight.is_some() {
            let mut sum = self.weight();
            match weight {
                Some(weight) => sum.merge(weight),
                None => sum.add(tally.n as f64),
            }
            self.weight = Some(Box::new(sum));
        }
        if self.rare.is_none() && *tally == (Tally { n: tally.n, ..Tally::default() }) {
            self.n += tally.n;
            return;
        }
        let mut all = self.tally();
        all.merge(tally);
        self.n = all.n;
        self.rare = Some(Box::new(all));
    }
}

impl<const N: usize> State for Sums<N> {
    const KIND: &'static str = "sums";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.count(&other.tally(), other.weight.as_deref());
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| sum.merge(other));
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        out.u8(N as u8 + 1);
        self.sums.iter().for_each(|sum| sum.encode(out));
        self.weight().encode(out);
        self.tally().encode(out);
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        let count = usize::from(input.u8()?);
        if count != N + 1 {
            return Err(damaged(format!("{} sums", N + 1), count.to_string()));
        }
        let mut state = Self::default();
        for sum in &mut state.sums {
            *sum = ExactSum::decode(input)?;
        }
        let weight = ExactSum::decode(input)?;
        let tally = Tally::decode(input)?;
        state.count(&tally, Some(&weight));
        // Where each weighs 1 the sum is not kept.
        let mut ones = ExactSum::new();
        ones.add(tally.n as f64);
        if encoded(&ones) == encoded(&weight) {
            state.weight = None;
        }
        Ok(state)
    }
}

fn encoded(sum: &ExactSum) -> Vec<u8> {
    let mut out = Writer::new();
    sum.encode(&mut out);
    out.into_bytes()
}

impl Sums<1> {
    /// The mean of the sum by the sum of the weights.
    pub(crate) fn mean(&self, why_undefined: &'static str) -> Value {
        let [values] = &self.sums;
        let weight = self.weight().value();
        Value::exact(Outcome::ratio(values.value(), weight, why_undefined), weight, self.tally())
    }
}

/// The sum of the weights of all rows of a view; none where each weighs 1.
pub(crate) fn sum_of_weights(view: &View<'_>) -> Option<ExactSum> {
    let mut sum = ExactSum::new();
    sum.add_all(view.weights?);
    Some(sum)
}
