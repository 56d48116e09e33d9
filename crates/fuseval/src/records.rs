//! `results.parquet`: one row per number, with the fields of `results.json`.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use fuseval_core::{Error, Outcome, Result};
use fuseval_engine::ResultRow;
use fuseval_source::ParquetFile;

use crate::Evaluation;

impl Evaluation {
    /// Writes the results as a table. A slice and the points of a curve are JSON texts.
    pub(crate) fn write_parquet(&self, path: &Path) -> Result<()> {
        let rows = &self.rows;
        let text =
            |f: &dyn Fn(&ResultRow) -> Option<String>| Arc::new(StringArray::from_iter(rows.iter().map(f))) as ArrayRef;
        let float =
            |f: &dyn Fn(&ResultRow) -> Option<f64>| Arc::new(Float64Array::from_iter(rows.iter().map(f))) as ArrayRef;
        let count =
            |f: &dyn Fn(&ResultRow) -> u64| Arc::new(UInt64Array::from_iter_values(rows.iter().map(f))) as ArrayRef;
        let slice = |row: &ResultRow| match crate::results::slice(&self.plan, &row.slice) {
            serde_json::Value::Null => None,
            serde_json::Value::String(sql) => Some(sql),
            other => Some(other.to_string()),
        };
        let why = |row: &ResultRow| match &row.value.outcome {
            Outcome::Undefined(why) => Some(why.to_string()),
            _ => None,
        };
        let columns = vec![
            ("experiment", text(&|row| Some(self.experiment(row).to_string()))),
            ("head", text(&|row| Some(self.head(row).to_string()))),
            ("slice", text(&slice)),
            ("metric", text(&|row| Some(self.metric(row)))),
            ("value", float(&|row| row.value.outcome.number())),
            ("why", text(&why)),
            ("curve", text(&|row| self.curve(row))),
            ("low", float(&|row| row.interval.as_ref().ok().map(|interval| interval.low))),
            ("high", float(&|row| row.interval.as_ref().ok().map(|interval| interval.high))),
            ("why_no_interval", text(&|row| row.interval.as_ref().err().cloned())),
            ("error_bound", float(&|row| Some(row.value.error_bound))),
            ("n", count(&|row| row.value.tally.n)),
            ("weight", float(&|row| Some(row.value.weight))),
            ("undefined", count(&|row| row.value.tally.undefined)),
            ("short", count(&|row| row.value.tally.short)),
            ("tied", count(&|row| row.value.tally.tied)),
            ("clipped", count(&|row| row.value.tally.clipped)),
            ("dropped", count(&|row| row.dropped)),
            ("mode", text(&|row| Some(row.value.mode.to_string()))),
            ("delta", float(&|row| row.delta)),
            ("delta_low", float(&|row| row.difference.as_ref().ok().map(|difference| difference.interval.low))),
            ("delta_high", float(&|row| row.difference.as_ref().ok().map(|difference| difference.interval.high))),
            ("p", float(&|row| row.difference.as_ref().ok().map(|difference| difference.p))),
            ("p_adjusted", float(&|row| row.p_adjusted)),
        ];
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| Error::defect("the results as columns", error.to_string()))?;
        let mut file = ParquetFile::create(path, batch.schema())?;
        file.write(&batch)?;
        file.finish()
    }
}
