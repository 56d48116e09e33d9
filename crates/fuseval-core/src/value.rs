//! What a metric says in the end: a number or why there is none, and the counts that come with it.

use std::borrow::Cow;

use crate::Result;
use crate::bytes::{Reader, Writer};

/// Counts that every number is shown with. All merge by addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Atoms used: rows, or segments for group-wise metrics.
    pub n: u64,
    /// Segments in which the metric has no value.
    pub undefined: u64,
    /// Segments with fewer than K rows.
    pub short: u64,
    /// Segments with a tie across K.
    pub tied: u64,
    /// Rows whose probability was clipped.
    pub clipped: u64,
}

impl Tally {
    /// Adds the counts of another part of the data.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.undefined += other.undefined;
        self.short += other.short;
        self.tied += other.tied;
        self.clipped += other.clipped;
    }

    /// Writes the counts.
    pub fn encode(&self, out: &mut Writer) {
        [self.n, self.undefined, self.short, self.tied, self.clipped].iter().for_each(|count| out.u64(*count));
    }

    /// Reads the counts. Counts that no data set can reach are refused, so that adding them never overflows.
    pub fn decode(input: &mut Reader<'_>) -> Result<Self> {
        let mut counts = [0; 5];
        for count in &mut counts {
            *count = crate::state::count(input)?;
        }
        let [n, undefined, short, tied, clipped] = counts;
        Ok(Self { n, undefined, short, tied, clipped })
    }
}

/// Why a metric has no value where no row is left.
pub const NO_ROWS: &str = "no rows that count (rows that are masked or weigh 0 do not)";

/// A curve: points in order, each with one number per column.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The names of the columns.
    pub columns: &'static [&'static str],
    /// The points, one after the other.
    pub points: Vec<Vec<f64>>,
}

/// The number, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The value of the metric; it may be infinite, never NaN.
    Number(f64),
    /// The points of a curve.
    Curve(Curve),
    /// The metric has no value on these data, because of this.
    Undefined(Cow<'static, str>),
}

impl Outcome {
    /// `numerator / denominator`, undefined for the given reason where the denominator is zero.
    pub fn ratio(numerator: f64, denominator: f64, reason: &'static str) -> Self {
        if denominator == 0.0 {
            return Self::Undefined(reason.into());
        }
        Self::Number(numerator / denominator)
    }

    /// The number, if there is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Curve(_) | Self::Undefined(_) => None,
        }
    }

    /// The number changed by a function.
    #[must_use]
    pub fn map(self, f: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Number(number) => Self::Number(f(number)),
            other => other,
        }
    }
}

/// The result of one metric on one cell of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The number, or why there is none.
    pub outcome: Outcome,
    /// Proven bound on the distance to the exact value; 0 for an exact one.
    pub error_bound: f64,
    /// The sum of the weights of the atoms used.
    pub weight: f64,
    /// The counts.
    pub tally: Tally,
    /// How it was computed: `exact`, `histogram` or `thresholds`.
    pub mode: &'static str,
}

impl Value {
    /// No value, for a reason.
    pub fn undefined(why: impl Into<Cow<'static, str>>, weight: f64, tally: Tally) -> Self {
        Self::exact(Outcome::Undefined(why.into()), weight, tally)
    }

    /// An exact value.
    pub fn exact(outcome: Outcome, weight: f64, tally: Tally) -> Self {
        Self { outcome, error_bound: 0.0, weight, tally, mode: "exact" }
    }
}
