//! Rows brought together by key, for data whose segments are scattered: an external sort by the key and the order of the rows,
//! done by DataFusion within a memory budget; what does not fit goes to temporary files.
//!
//! ```text
//! rows in logical order ─▶ batches with place and ordinal ─▶ kept by key ─▶ sort, spill, merge ─▶ rows by key
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef, SortOptions};
use arrow_select::filter::filter_record_batch;
use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::prelude::{SessionConfig, SessionContext};
use fuseval_core::source::Cluster;
use fuseval_core::{Error, Result, Rows};
use futures::{Stream, StreamExt};

use crate::expression::short;
use crate::session::BATCH_ROWS;

/// Less memory than this makes no sense of a sort: its merge alone takes some.
const LEAST_MEMORY: u64 = 32 << 20;

/// How batches of rows become sorted.
pub(crate) struct Clustering {
    cluster: Cluster,
    /// The requests, then the sort columns that are not requests, the place and the ordinal.
    schema: SchemaRef,
    requests: usize,
    /// The columns to sort by.
    by: Vec<usize>,
}

impl Clustering {
    /// For requests of these types.
    pub(crate) fn new(cluster: Cluster, types: &[DataType]) -> Self {
        let mut fields: Vec<Field> =
            types.iter().enumerate().map(|(place, kind)| Field::new(format!("c{place}"), kind.clone(), true)).collect();
        let mut by = Vec::new();
        for column in &cluster.by {
            // Zeros of both signs are one key, and so are all NaN: they sort by a column of their own.
            match types.get(*column) {
                Some(kind) if kind.is_floating() => {
                    by.push(fields.len());
                    fields.push(Field::new(format!("k{column}"), DataType::Float64, true));
                }
                _ => by.push(*column),
            }
        }
        fields.push(Field::new("place", DataType::UInt64, false));
        // Unlike the place it is another one for each item of a list.
        by.push(fields.len());
        fields.push(Field::new("ordinal", DataType::UInt64, false));
        Self { cluster, schema: Arc::new(Schema::new(fields)), requests: types.len(), by }
    }

    /// The rows as a batch to sort; `ordinal` is that of the first.
    pub(crate) fn batch(&self, rows: Rows, ordinal: u64) -> Result<RecordBatch> {
        let defect = |error: arrow_schema::ArrowError| Error::defect("columns to sort", error.to_string());
        let count = rows.len();
        let key: Vec<ArrayRef> =
            self.cluster.by.iter().filter_map(|column| rows.columns.get(*column)).cloned().collect();
        let mut columns = rows.columns;
        for column in &key {
            if column.data_type().is_floating() {
                let floats = arrow_cast::cast(column, &DataType::Float64).map_err(defect)?;
                let one = |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
                columns.push(Arc::new(floats.as_primitive::<Float64Type>().unary::<_, Float64Type>(one)));
            }
        }
        columns.push(Arc::new(UInt64Array::from_iter_values(rows.places.iter())));
        columns.push(Arc::new(UInt64Array::from_iter_values(ordinal..ordinal + count as u64)));
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(defect)?;
        match &self.cluster.kept {
            Some(filter) => filter_record_batch(&batch, &filter.kept(&key)?).map_err(defect),
            None => Ok(batch),
        }
    }

    /// The rows of a sorted batch.
    fn rows(&self, batch: &RecordBatch) -> Result<Rows> {
        let numbers = |column: usize| {
            let column = batch.columns().get(column).map(|column| column.as_primitive::<UInt64Type>());
            column.map(|numbers| numbers.values().to_vec()).ok_or_else(|| Error::defect("a column of places", "none"))
        };
        let width = batch.num_columns();
        Ok(Rows {
            columns: batch.columns().iter().take(self.requests).cloned().collect(),
            places: numbers(width.saturating_sub(2))?.into(),
            ordinals: Some(numbers(width.saturating_sub(1))?.into()),
        })
    }

    /// Sorts batches.
    pub(crate) fn sorted(
        self: Arc<Self>,
        batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Result<impl Stream<Item = Result<Rows>> + Send> {
        let memory = self.cluster.memory.max(LEAST_MEMORY);
        let context = context(memory).map_err(|reason| failed(&reason))?;
        let ascending = SortOptions { descending: false, nulls_first: true };
        let name = |column: &usize| self.schema.fields().get(*column).map_or("", |field| field.name().as_str());
        let expression =
            |column: &usize| PhysicalSortExpr::new(Arc::new(Column::new(name(column), *column)), ascending);
        let Some(order) = LexOrdering::new(self.by.iter().map(expression)) else {
            return Err(Error::defect("a column to sort by", "none"));
        };
        let partition: Arc<dyn PartitionStream> = Arc::new(Input::new(self.schema.clone(), batches));
        let input = StreamingTableExec::try_new(self.schema.clone(), vec![partition], None, None, false, None);
        let sort = SortExec::new(order, Arc::new(input.map_err(|reason| failed(&reason))?));
        let sorted = sort.execute(0, context.task_ctx()).map_err(|reason| failed(&reason))?;
        Ok(sorted.map(move |batch| self.rows(&batch.map_err(|reason| failed(&reason))?)))
    }
}

/// A context whose sorts stay within a memory budget.
fn context(memory: u64) -> std::result::Result<SessionContext, DataFusionError> {
    let bytes = usize::try_from(memory).unwrap_or(usize::MAX);
    let mut config = SessionConfig::new().with_target_partitions(1).with_batch_size(BATCH_ROWS);
    config.options_mut().execution.sort_spill_reservation_bytes = (bytes / 8).min(64 << 20);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)))
        .with_max_temp_directory_size(u64::MAX)
        .build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// The batches to sort, as DataFusion takes them; they can be taken once.
struct Input {
    schema: SchemaRef,
    stream: std::sync::Mutex<Option<SendableRecordBatchStream>>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

impl Input {
    fn new(schema: SchemaRef, batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static) -> Self {
        let batches = batches.map(|batch| batch.map_err(|error| DataFusionError::External(Box::new(error))));
        let stream: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema.clone(), batches));
        Self { schema, stream: std::sync::Mutex::new(Some(stream)) }
    }
}

impl PartitionStream for Input {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let taken = self.stream.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        taken.unwrap_or_else(|| Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), futures::stream::empty())))
    }
}

/// An error of reading comes back as it was; one of the sort is about its memory or its temporary files.
fn failed(reason: &DataFusionError) -> Error {
    if let DataFusionError::External(external) = reason.find_root()
        && let Some(error) = external.downcast_ref::<Error>()
    {
        return error.clone();
    }
    match reason.find_root() {
        DataFusionError::ResourcesExhausted(text) => Error::usage(
            "memory to bring segments together",
            format!("`{}`", text.lines().next().unwrap_or_default()),
            "give more memory (`--memory`), or sort the data by the segment key",
        ),
        _ => Error::usage(
            "room for temporary files, to bring segments together",
            format!("`{}`", short(reason)),
            "free some space in the temporary folder, or choose another one (TMPDIR)",
        ),
    }
}
