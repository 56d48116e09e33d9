//! Predictions on their way out: batches of carried columns and scores; and the order in which all tables are written, that
//! of the buckets.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fuseval_core::source::Request;
use fuseval_core::{Error, Result, Source};

use crate::bucket::Bucket;
use crate::plan::Plan;

/// Takes a table bucket by bucket, in order.
pub trait TableSink: Send {
    /// Writes a batch with the columns of the table.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// All buckets before this one have been written.
    fn written(&mut self, next: u64) -> Result<()>;
}

/// The columns of the predictions: what is carried over, `experiment`, and one score per head, named by the head.
pub fn schema(plan: &Plan, source: &dyn Source) -> Result<SchemaRef> {
    let mut fields = Vec::new();
    for (name, column) in &plan.carryover {
        let Some(Request::Column(column)) = plan.requests.get(*column) else { continue };
        fields.push(Field::new(name, source.column_type(column)?, true));
    }
    fields.push(Field::new("experiment", DataType::Utf8, false));
    fields.extend(plan.heads.iter().map(|head| Field::new(&head.name, DataType::Float64, false)));
    for (place, field) in fields.iter().enumerate() {
        if fields.iter().take(place).any(|other| other.name() == field.name()) {
            return Err(Error::usage(
                "different names for the columns of the predictions",
                format!("`{}` twice", field.name()),
                "rename the head, or leave the column out of `data.carryover`",
            ));
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The predictions of one experiment on one bucket.
pub(crate) fn batch(
    schema: &SchemaRef,
    plan: &Plan,
    experiment: &str,
    scores: &[Vec<f64>],
    bucket: &Bucket,
) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    columns.extend(plan.carryover.iter().filter_map(|(_, column)| bucket.columns.get(*column)).cloned());
    columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(experiment, bucket.rows()))));
    columns.extend(scores.iter().map(|scores| Arc::new(Float64Array::from(scores.clone())) as ArrayRef));
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|error| Error::defect("columns of the predictions", error.to_string()))
}

/// Puts buckets that finish in any order back into order. Whoever is too far ahead waits, so that memory stays bounded.
pub(crate) struct Ordered<'a> {
    state: Mutex<Waiting<'a>>,
    written: Condvar,
    window: u64,
}

struct Waiting<'a> {
    sink: &'a mut dyn TableSink,
    next: u64,
    batches: BTreeMap<u64, Vec<RecordBatch>>,
    stopped: bool,
}

impl<'a> Ordered<'a> {
    /// `next` is the first bucket to write, `window` how many buckets may be under way before the oldest is written.
    pub(crate) fn new(sink: &'a mut dyn TableSink, next: u64, window: u64) -> Self {
        let state = Waiting { sink, next, batches: BTreeMap::new(), stopped: false };
        Self { state: Mutex::new(state), written: Condvar::new(), window }
    }

    /// Waits until bucket `index` is near enough to the oldest one that is not written.
    pub(crate) fn wait_for_turn(&self, index: u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let far = |state: &mut Waiting<'_>| index >= state.next + self.window && !state.stopped;
        drop(self.written.wait_while(state, far));
    }

    /// The first bucket that is not written.
    pub(crate) fn written(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Whether a bucket was written by an earlier run.
    pub(crate) fn has_written(&self, index: u64) -> bool {
        index < self.written()
    }

    /// Takes the batches of a bucket and writes all that are in order. Those of a bucket that is written already are not
    /// needed.
    pub(crate) fn put(&self, index: u64, batches: Vec<RecordBatch>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if index < state.next {
            return Ok(());
        }
        state.batches.insert(index, batches);
        let state = &mut *state;
        while let Some(batches) = state.batches.remove(&state.next) {
            batches.iter().try_for_each(|batch| state.sink.write(batch))?;
            state.next += 1;
            state.sink.written(state.next)?;
        }
        self.written.notify_all();
        Ok(())
    }

    /// Lets everybody go on, since the run ends.
    pub(crate) fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.written.notify_all();
    }
}
