//! A source of arrays in memory and a model that adds up its inputs.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow_schema::DataType;
use fuseval_core::scorer::{Input, Output, OutputColumn};
use fuseval_core::source::{FileIdentity, Numbers, Request, no_such_column};
use fuseval_core::tensor::Values;
use fuseval_core::{Element, Error, Model, Result, Rows, Scan, Scorer, Source, Tensor};

/// Columns in memory, handed out in batches of any size. A predicate is the name of a boolean column.
pub struct MemorySource {
    columns: Vec<(String, ArrayRef)>,
    batch: usize,
    files: Vec<String>,
    fails_after: Option<usize>,
}

impl MemorySource {
    /// Columns of equal length, handed out `batch` rows at a time.
    pub fn new(columns: Vec<(&str, ArrayRef)>, batch: usize) -> Self {
        let columns = columns.into_iter().map(|(name, array)| (name.to_string(), array)).collect();
        Self { columns, batch, files: vec!["memory".to_string()], fails_after: None }
    }

    /// The same, with an error after so many batches.
    #[must_use]
    pub fn failing_after(mut self, batches: usize) -> Self {
        self.fails_after = Some(batches);
        self
    }

    fn array(&self, name: &str) -> Result<&ArrayRef> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, array)| array).ok_or_else(|| no_such_column(name, &self.columns()))
    }
}

impl Source for MemorySource {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn identities(&self) -> Vec<FileIdentity> {
        let identity = |shown: &String| FileIdentity { shown: shown.clone(), size: 0, content: "memory".to_string() };
        self.files.iter().map(identity).collect()
    }

    fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    fn column_type(&self, column: &str) -> Result<DataType> {
        Ok(self.array(column)?.data_type().clone())
    }

    fn check_predicate(&self, sql: &str) -> Result<()> {
        self.array(sql).map(|_| ())
    }

    fn row_count(&self) -> Option<u64> {
        self.columns.first().map(|(_, array)| array.len() as u64)
    }

    fn place(&self, place: u64) -> String {
        format!("memory: row {place}")
    }

    fn scan(&self, scan: &Scan) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send>> {
        let mut arrays = Vec::new();
        for request in &scan.requests {
            arrays.push(match request {
                Request::Column(name) => self.array(name)?.clone(),
                Request::Predicate(name) => {
                    let truths: BooleanArray = arrow_array::cast::AsArray::as_boolean(self.array(name)?).clone();
                    Arc::new(truths)
                }
            });
        }
        let rows = self.row_count().unwrap_or_default() as usize;
        let (batch, fails_after, places) = (self.batch, self.fails_after, scan.places.clone());
        let all = (0..rows).step_by(batch).enumerate().map(move |(place, start)| {
            if fails_after.is_some_and(|limit| place >= limit) {
                return Err(Error::data("a batch", "a broken disk", "mend it"));
            }
            let len = batch.min(rows - start);
            Ok(Rows {
                columns: arrays.iter().map(|array| array.slice(start, len)).collect(),
                places: Numbers::Range(start as u64..(start + len) as u64),
                ordinals: None,
            }
            .at(&places))
        });
        Ok(Box::new(all.filter(|rows| !rows.as_ref().is_ok_and(Rows::is_empty))))
    }
}

/// Rows of a column in another order.
///
/// # Panics
/// If a place is out of range.
pub fn reordered(array: &ArrayRef, order: &[usize]) -> ArrayRef {
    let places = UInt64Array::from_iter_values(order.iter().map(|place| *place as u64));
    arrow_select::take::take(array, &places, None).expect("places in range")
}

/// A model of float64 inputs: output `score` is the weighted sum of the inputs, `first` the first input.
pub struct LinearModel {
    inputs: Vec<Input>,
    weights: Vec<f64>,
    outputs: Vec<Output>,
}

impl LinearModel {
    /// Inputs with their weights.
    pub fn new(inputs: &[(&str, f64)]) -> Self {
        let output = |name: &str| Output { name: name.to_string(), width: Some(1) };
        Self {
            inputs: inputs
                .iter()
                .map(|(name, _)| Input { name: name.to_string(), element: Element::F64, width: Some(1) })
                .collect(),
            weights: inputs.iter().map(|(_, weight)| *weight).collect(),
            outputs: vec![output("score"), output("first")],
        }
    }
}

impl Model for LinearModel {
    fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn backend(&self) -> &str {
        "linear"
    }

    fn scorer(&self, columns: &[OutputColumn]) -> Result<Box<dyn Scorer>> {
        let outputs = columns.iter().map(|column| column.output.clone()).collect();
        Ok(Box::new(LinearScorer { weights: self.weights.clone(), outputs }))
    }
}

struct LinearScorer {
    weights: Vec<f64>,
    outputs: Vec<String>,
}

impl Scorer for LinearScorer {
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        let rows = inputs.first().map_or(0, Tensor::rows);
        let value = |input: usize, row: usize| match inputs.get(input).map(Tensor::values) {
            Some(Values::F64(values)) => values.get(row).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        for (output, scores) in self.outputs.iter().zip(scores) {
            scores.clear();
            scores.extend((0..rows).map(|row| match output.as_str() {
                "first" => value(0, row),
                _ => self.weights.iter().enumerate().map(|(input, weight)| weight * value(input, row)).sum(),
            }));
        }
        Ok(())
    }
}
