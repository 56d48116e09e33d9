//! Models and their scorers: features in, outputs out.

use crate::{Element, Result, Tensor};

/// An input of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The element type that the model declares.
    pub element: Element,
    /// Values to a row, when the model declares it: 1 for `[batch]` and `[batch, 1]`, w for `[batch, w]`.
    pub width: Option<usize>,
}

/// An output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The name.
    pub name: String,
    /// Values to a row, when the model declares it.
    pub width: Option<usize>,
}

/// One column of one output: what a head reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// The name of the output.
    pub output: String,
    /// The column, from 0; `None` when the output has one value to a row.
    pub column: Option<usize>,
}

/// A loaded model. One per run; it makes one scorer per worker.
pub trait Model: Send + Sync {
    /// The inputs, in the order in which a scorer takes them.
    fn inputs(&self) -> &[Input];

    /// The outputs.
    fn outputs(&self) -> &[Output];

    /// What runs the model, for the report: `onnxruntime 1.32.0`, `rten 0.27.0`, `columns`.
    fn backend(&self) -> &str;

    /// A scorer of the given columns. Called once per worker, before the first bucket; an error ends the run: an output that
    /// is not there, a column out of range, an output that is not numeric.
    fn scorer(&self, columns: &[OutputColumn]) -> Result<Box<dyn Scorer>>;
}

/// Runs a model; owned by one worker.
pub trait Scorer: Send {
    /// Scores the rows of the inputs: one tensor per input of the model, in its order, all with the same number of rows (any
    /// number from 1 on). Replaces the content of `scores`: one vector per column asked for, one score per row.
    ///
    /// The score of a row must not depend on the rows beside it nor on how many there are: scorers cut and pad batches to
    /// one fixed size, and never return padding.
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()>;
}
