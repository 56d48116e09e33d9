//! Batches of one fixed size. Kernels choose their order of additions by the shape of a tensor, so a row scored in a batch of
//! 3 and in a batch of 1000 may differ in the last bit. Every run here has the same number of rows, the last one padded with
//! copies of its last row, and the score of a row depends on the row alone.

use std::path::Path;
use std::sync::Arc;

use fuseval_core::{Element, Error, Result, Scorer, Tensor, Values};

use crate::graph::Graph;

/// Rows to a run of a model whose batch dimension is dynamic. At 256 rows the activations of the usual ranking model stay in
/// the second-level cache, and little is lost to padding.
pub const BATCH_ROWS: usize = 256;

/// The values of one input in one batch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Block<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    Bool(&'a [bool]),
    Text(&'a [String]),
}

/// A runtime that runs one batch.
pub(crate) trait Engine: Send {
    /// Runs the model on one block per input, in the model's order, and appends the scores of the first `rows` rows.
    fn run(&mut self, blocks: &[Block<'_>], rows: usize, scores: &mut [Vec<f64>]) -> Result<()>;
}

/// Cuts rows into batches and hands them to an engine.
pub(crate) struct BatchScorer<E> {
    engine: E,
    graph: Arc<Graph>,
    /// The model file, for messages.
    place: String,
    /// One padded block per input, for the rows that do not fill a batch.
    padded: Vec<Values>,
}

impl<E: Engine> BatchScorer<E> {
    pub(crate) fn new(engine: E, graph: Arc<Graph>, path: &Path) -> Self {
        Self { engine, graph, place: path.display().to_string(), padded: Vec::new() }
    }

    fn run(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        let rows = check(&self.graph, inputs)?;
        for scores in scores.iter_mut() {
            scores.clear();
            scores.reserve(rows);
        }
        let batch = batch_rows(&self.graph);
        let full = rows - rows % batch;
        for start in (0..full).step_by(batch) {
            let blocks: Vec<Block<'_>> = inputs
                .iter()
                .map(|tensor| block(tensor.values(), start * tensor.width(), (start + batch) * tensor.width()))
                .collect::<Result<_>>()?;
            self.engine.run(&blocks, batch, scores)?;
        }
        if full == rows {
            return Ok(());
        }
        self.padded.resize_with(inputs.len(), || Values::F32(Vec::new()));
        for (tensor, padded) in inputs.iter().zip(&mut self.padded) {
            pad(tensor, full, batch, padded)?;
        }
        let blocks: Vec<Block<'_>> = inputs
            .iter()
            .zip(&self.padded)
            .map(|(tensor, values)| block(values, 0, batch * tensor.width()))
            .collect::<Result<_>>()?;
        self.engine.run(&blocks, rows - full, scores)
    }
}

impl<E: Engine> Scorer for BatchScorer<E> {
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        self.run(inputs, scores).map_err(|error| error.at(self.place.as_str()))
    }
}

/// Rows to a run.
pub(crate) fn batch_rows(graph: &Graph) -> usize {
    graph.batch.unwrap_or(BATCH_ROWS)
}

/// Checks that the tensors are what the model takes; the number of their rows.
fn check(graph: &Graph, inputs: &[Tensor]) -> Result<usize> {
    if inputs.len() != graph.inputs.len() {
        return Err(Error::defect(format!("{} tensors", graph.inputs.len()), inputs.len().to_string()));
    }
    let rows = inputs.first().map_or(0, Tensor::rows);
    for (input, tensor) in graph.inputs.iter().zip(inputs) {
        let place = || format!("input `{}`", input.name);
        if tensor.rows() != rows {
            return Err(Error::defect(format!("{rows} rows"), tensor.rows().to_string()).at(place()));
        }
        if tensor.element() != input.element {
            return Err(Error::defect(input.element.name(), tensor.element().name()).at(place()));
        }
        if let Some(width) = input.width.filter(|width| *width != tensor.width()) {
            let expected = format!("{width} features");
            let help = "list as many features under `inputs` as the model takes, in its order";
            return Err(Error::model(expected, tensor.width().to_string(), help).at(place()));
        }
    }
    Ok(rows)
}

/// The values from place `start` to place `end`.
fn block(values: &Values, start: usize, end: usize) -> Result<Block<'_>> {
    let block = match values {
        Values::F32(all) => all.get(start..end).map(Block::F32),
        Values::F64(all) => all.get(start..end).map(Block::F64),
        Values::I32(all) => all.get(start..end).map(Block::I32),
        Values::I64(all) => all.get(start..end).map(Block::I64),
        Values::Bool(all) => all.get(start..end).map(Block::Bool),
        Values::Text(all) => all.get(start..end).map(Block::Text),
    };
    block.ok_or_else(|| Error::defect("the values of a whole batch", "fewer"))
}

/// Fills `padded` with the rows from `start` on, and with copies of the last one up to `batch` rows.
fn pad(tensor: &Tensor, start: usize, batch: usize, padded: &mut Values) -> Result<()> {
    fn fill<T: Clone>(padded: &mut Vec<T>, rest: Option<&[T]>, width: usize, batch: usize) -> Option<()> {
        let rest = rest?;
        let last = rest.get(rest.len().checked_sub(width)?..)?;
        padded.clear();
        padded.extend_from_slice(rest);
        while padded.len() < batch * width {
            padded.extend_from_slice(last);
        }
        Some(())
    }
    let width = tensor.width();
    let from = start * width..;
    if std::mem::discriminant(padded) != std::mem::discriminant(tensor.values()) {
        *padded = empty(tensor.element());
    }
    let done = match (padded, tensor.values()) {
        (Values::F32(to), Values::F32(all)) => fill(to, all.get(from), width, batch),
        (Values::F64(to), Values::F64(all)) => fill(to, all.get(from), width, batch),
        (Values::I32(to), Values::I32(all)) => fill(to, all.get(from), width, batch),
        (Values::I64(to), Values::I64(all)) => fill(to, all.get(from), width, batch),
        (Values::Bool(to), Values::Bool(all)) => fill(to, all.get(from), width, batch),
        (Values::Text(to), Values::Text(all)) => fill(to, all.get(from), width, batch),
        _ => None,
    };
    done.ok_or_else(|| Error::defect("at least one row to pad with", "none"))
}

fn empty(element: Element) -> Values {
    match element {
        Element::F32 => Values::F32(Vec::new()),
        Element::F64 => Values::F64(Vec::new()),
        Element::I32 => Values::I32(Vec::new()),
        Element::I64 => Values::I64(Vec::new()),
        Element::Bool => Values::Bool(Vec::new()),
        Element::Text => Values::Text(Vec::new()),
    }
}
