//! A sum of floats that is exact and rounded once, so that neither order nor grouping can change a bit of it.
//!
//! ```text
//!   every finite f64 is an integer multiple of 2^-1074, below 2^2098 of them; limb i weighs 2^(32·i − 1074)
//!   narrow   a window of 192 bits in two's complement: holds data of ordinary size in 32 bytes, without a heap
//!   wide     any window of limbs, infinities and NaN: what a narrow sum becomes when its window does not do
//!   digits   sign and magnitude of either: what is rounded, written and compared
//! ```
//! Which of the two forms a sum has shows neither in its value nor in its bytes.

mod blocks;
mod digits;
mod narrow;
mod wide;

use crate::Result;
use crate::bytes::{Reader, Writer};

use digits::{Digits, Magnitude};
use narrow::Narrow;
use wide::Wide;

/// An exact sum of f64 values.
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Narrow(Narrow),
    Wide(Box<Wide>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Narrow(Narrow::default())
    }
}

impl ExactSum {
    /// The empty sum, zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value. Infinities and NaN are kept as flags and rule the sum as in IEEE arithmetic.
    #[inline]
    pub fn add(&mut self, value: f64) {
        match &mut self.form {
            Form::Narrow(narrow) => {
                if !narrow.add(value) {
                    self.add_outside(value);
                }
            }
            Form::Wide(wide) => wide.add(value),
        }
    }

    /// Adds `a · b` without rounding the product: it enters as its high and low part. (The low part is lost only where it
    /// is below the smallest float, 2^-1074.)
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let high = a * b;
        self.add(high);
        if high.is_finite() && a != 1.0 && b != 1.0 {
            self.add(a.mul_add(b, -high));
        }
    }

    /// Adds all of another sum.
    pub fn merge(&mut self, other: &Self) {
        match &other.form {
            Form::Narrow(other) => self.join(other),
            Form::Wide(other) => self.widened(|wide| wide.merge(other)),
        }
    }

    /// The sum, rounded once to the nearest float, ties to even.
    pub fn value(&self) -> f64 {
        match &self.form {
            Form::Narrow(narrow) => narrow.digits(|digits| digits.value()),
            Form::Wide(wide) => wide.special().unwrap_or_else(|| wide.digits(|digits| digits.value())),
        }
    }

    /// Writes the canonical bytes: flags, sign, first limb, limbs.
    pub fn encode(&self, out: &mut Writer) {
        match &self.form {
            Form::Narrow(narrow) => narrow.digits(|digits| digits.encode(0, out)),
            Form::Wide(wide) => wide.digits(|digits| digits.encode(wide.specials(), out)),
        }
    }

    /// Reads canonical bytes; any other form is refused.
    pub fn decode(input: &mut Reader<'_>) -> Result<Self> {
        Digits::decode(input, |specials, digits| {
            let narrow = if specials == 0 { Narrow::holding(digits) } else { None };
            let form = narrow.map_or_else(|| Form::Wide(Box::new(Wide::holding(specials, digits))), Form::Narrow);
            Self { form }
        })
    }

    /// Adds a value that the window at hand does not hold.
    #[cold]
    fn add_outside(&mut self, value: f64) {
        let narrow = Magnitude::of(value)
            .and_then(|Magnitude { low, limbs }| Narrow::holding(Digits::new(value < 0.0, low, &limbs)));
        match narrow {
            Some(narrow) => self.join(&narrow),
            None => self.widened(|wide| wide.add(value)),
        }
    }

    fn join(&mut self, other: &Narrow) {
        if let Form::Narrow(narrow) = &mut self.form
            && let Some(sum) = narrow.joined(other)
        {
            *narrow = sum;
            return;
        }
        self.widened(|wide| other.digits(|digits| wide.add_digits(digits)));
    }

    /// Changes the wide form of the sum, which it takes if it has not got it yet.
    fn widened(&mut self, change: impl FnOnce(&mut Wide)) {
        match &mut self.form {
            Form::Wide(wide) => change(wide),
            Form::Narrow(narrow) => {
                let mut wide = narrow.digits(|digits| Wide::holding(0, digits));
                change(&mut wide);
                self.form = Form::Wide(Box::new(wide));
            }
        }
    }
}

#[cfg(test)]
mod tests;
