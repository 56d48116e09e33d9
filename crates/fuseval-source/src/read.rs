//! Reading one file through DataFusion's readers: in order, one partition, only the columns that are needed.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use datafusion::common::DataFusionError;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileScanConfigBuilder, FileSource, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::path::Path;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use fuseval_core::{Error, Result};
use futures::StreamExt;

use crate::cast::cast;
use crate::csv;
use crate::expression::short;
use crate::file::{File, Format, Place};
use crate::options::DeclaredTypes;
use crate::session::BATCH_ROWS;

/// The bytes that a batch of wide rows should not exceed by much.
const BATCH_BYTES: u64 = 32 << 20;

/// Where a column of the table comes from.
enum Origin {
    /// A column of the batch.
    Stored(usize),
    /// A hive partition.
    Constant(Option<String>),
}

/// A file being read.
pub(crate) struct FileReader {
    stream: SendableRecordBatchStream,
    origins: Vec<Origin>,
    columns: Vec<(String, DataType)>,
}

/// Begins to read columns of a file, each to be delivered in the given type.
pub(crate) fn read(
    context: &SessionContext,
    file: &File,
    declared: &DeclaredTypes,
    columns: &[(String, DataType)],
) -> Result<FileReader> {
    let mut projection = Vec::new();
    let mut origins = Vec::new();
    let mut fields: Vec<Arc<Field>> = file.header.schema.fields().iter().cloned().collect();
    for (name, _) in columns {
        match file.place(name)? {
            Some(Place::Stored(position)) => {
                let data_type = file.data_type(name, Place::Stored(position), declared)?;
                if let Some(field) = fields.get_mut(position).filter(|_| file.format == Format::Csv) {
                    *field = Arc::new(Field::new(name, data_type, true));
                }
                origins.push(Origin::Stored(projection.len()));
                projection.push(position);
            }
            Some(Place::Partition(position)) => {
                let value = file.partitions.get(position).and_then(|(_, value)| value.clone());
                origins.push(Origin::Constant(value));
            }
            None => return Err(Error::defect(format!("column `{name}` in {}", file.shown), "none")),
        }
    }
    let batch_rows = batch_rows(file, &projection);
    let stream = open(context, file, Arc::new(Schema::new(fields)), projection, batch_rows)
        .map_err(|reason| unreadable(file, &reason))?;
    Ok(FileReader { stream, origins, columns: columns.to_vec() })
}

fn open(
    context: &SessionContext,
    file: &File,
    schema: Arc<Schema>,
    projection: Vec<usize>,
    batch_rows: usize,
) -> std::result::Result<SendableRecordBatchStream, DataFusionError> {
    let source: Arc<dyn FileSource> = match file.format {
        Format::Parquet => Arc::new(ParquetSource::new(schema).with_enable_page_index(false)),
        Format::Csv => Arc::new(CsvSource::new(schema)),
    };
    let mut location = PartitionedFile::new(String::new(), file.size);
    location.object_meta.location = Path::from_absolute_path(&file.path).map_err(|reason| external(&reason))?;
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
        .with_file(location)
        .with_batch_size(Some(batch_rows))
        .with_projection_indices(Some(projection))?
        .build();
    DataSourceExec::from_data_source(config).execute(0, context.task_ctx())
}

fn external(reason: &dyn std::error::Error) -> DataFusionError {
    DataFusionError::Execution(reason.to_string())
}

/// Fewer rows per batch where rows are wide, so that memory stays bounded.
fn batch_rows(file: &File, projection: &[usize]) -> usize {
    let width: u64 =
        projection.iter().filter_map(|position| file.widths.get(*position)).map(|width| u64::from(*width)).sum();
    usize::try_from(BATCH_BYTES / width.max(1)).unwrap_or(BATCH_ROWS).clamp(16, BATCH_ROWS)
}

impl FileReader {
    /// The next columns with their number of rows, after the last ones none.
    pub(crate) async fn next(&mut self, file: &File) -> Option<Result<(Vec<ArrayRef>, usize)>> {
        let batch = match self.stream.next().await? {
            Ok(batch) => batch,
            Err(reason) => return Some(Err(unreadable(file, &reason))),
        };
        let columns = self.origins.iter().zip(&self.columns).map(|(origin, (name, data_type))| {
            let array = origin.array(&batch)?;
            cast(&array, data_type).map_err(|error| error.at(format!("column `{name}`")))
        });
        Some(columns.collect::<Result<_>>().map(|columns| (columns, batch.num_rows())))
    }
}

impl Origin {
    fn array(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let rows = batch.num_rows();
        match self {
            Self::Constant(value) => {
                Ok(Arc::new(std::iter::repeat_n(value.as_deref(), rows).collect::<LargeStringArray>()))
            }
            Self::Stored(place) => {
                let column = batch.columns().get(*place).filter(|column| column.len() == rows);
                column.cloned().ok_or_else(|| Error::defect(format!("column {place} of a batch"), "none"))
            }
        }
    }
}

fn unreadable(file: &File, reason: &DataFusionError) -> Error {
    match (file.format, arrow_reason(reason)) {
        (Format::Csv, Some(reason)) => csv::malformed(reason, &file.header.schema),
        (Format::Csv, None) => {
            Error::data("a readable CSV file", format!("`{}`", short(reason)), "write the file again")
        }
        (Format::Parquet, _) => {
            Error::data("a readable Parquet file", format!("`{}`", short(reason)), "write the file again")
        }
    }
}

fn arrow_reason(reason: &DataFusionError) -> Option<&ArrowError> {
    match reason.find_root() {
        DataFusionError::ArrowError(reason, _) => Some(reason),
        _ => None,
    }
}
