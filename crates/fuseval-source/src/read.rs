//! Reading one file: in order, one partition, only the columns that are needed. Parquet goes through DataFusion's reader. Other
//! formats go through the readers of Arrow below it: DataFusion holds a whole remote Arrow file in memory, and ends without a
//! word after the first member of a compressed stream that has several.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use datafusion::common::DataFusionError;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{DefaultParquetFileReaderFactory, ParquetAccessPlan};
use datafusion::datasource::physical_plan::{FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::path::Path;
use datafusion::object_store::{Error as StoreError, ObjectStore};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use fuseval_core::{Error, Result};
use futures::StreamExt;

use crate::cast::cast;
use crate::content::{Failure, Location, guarded};
use crate::expression::short;
use crate::file::{File, Place};
use crate::format::Format;
use crate::options::DeclaredTypes;
use crate::session::BATCH_ROWS;
use crate::{arrow_file, avro, csv, ndjson};

/// The bytes that a batch of wide rows should not exceed by much.
const BATCH_BYTES: u64 = 32 << 20;

/// The bytes at the end of a remote Parquet file that are read first; most footers are shorter.
const FOOTER_BYTES: usize = 64 << 10;

/// Where a column of the table comes from.
enum Origin {
    /// A column of the batch.
    Stored(usize),
    /// A hive partition.
    Constant(Option<String>),
}

/// The batches of a file, in order.
pub(crate) type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

/// Where batches come from.
enum Input {
    DataFusion(SendableRecordBatchStream),
    Arrow(Box<ArrowInput>),
}

/// A file that is read by one of Arrow's readers.
struct ArrowInput {
    batches: Batches,
    failure: Failure,
    schema: Arc<Schema>,
    projection: Vec<usize>,
}

/// A file being read.
pub(crate) struct FileReader {
    input: Input,
    origins: Vec<Origin>,
    columns: Vec<(String, DataType)>,
    first_row: u64,
}

/// Begins to read columns of a file, each to be delivered in the given type. Of the wanted rows none is left out; others may
/// come with them.
pub(crate) fn read(
    context: &SessionContext,
    file: &File,
    declared: &DeclaredTypes,
    columns: &[(String, DataType)],
    wanted: &Range<u64>,
) -> Result<FileReader> {
    let mut projection = Vec::new();
    let mut origins = Vec::new();
    let mut fields: Vec<Arc<Field>> = file.header.schema.fields().iter().cloned().collect();
    for (name, _) in columns {
        match file.place(name)? {
            Some(Place::Stored(position)) => {
                let data_type = file.data_type(name, Place::Stored(position), declared)?;
                if let Some(field) = fields.get_mut(position).filter(|_| file.format.is_text()) {
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
    // A batch without columns does not tell its number of rows in every format.
    if projection.is_empty() && file.format != Format::Parquet {
        projection.extend((0..fields.len()).find(|position| file.has_type(*position)));
    }
    let batch_rows = batch_rows(file, &projection);
    let schema = Arc::new(Schema::new(fields));
    let (groups, first_row) = row_groups(file, wanted);
    let input = match file.format {
        Format::Parquet => Input::DataFusion(
            parquet(context, file, schema, projection, batch_rows, groups)
                .map_err(|reason| unreadable(file, &reason))?,
        ),
        _ => Input::Arrow(Box::new(ArrowInput::open(file, schema, projection, batch_rows)?)),
    };
    Ok(FileReader { input, origins, columns: columns.to_vec(), first_row })
}

impl ArrowInput {
    fn open(file: &File, schema: Arc<Schema>, projection: Vec<usize>, batch_rows: usize) -> Result<Self> {
        let failure = Failure::default();
        let decoded = || file.location.decoded(file.compression, &failure);
        let open = || -> Result<std::result::Result<Batches, ArrowError>> {
            Ok(match file.format {
                Format::Ndjson => ndjson::batches(decoded()?, &schema, &projection, batch_rows),
                Format::Arrow => {
                    arrow_file::batches(file.location.open(&failure)?, file.size, projection.clone(), batch_rows)
                }
                Format::Avro => avro::batches(decoded()?, projection.clone(), batch_rows),
                Format::Csv | Format::Parquet => {
                    csv::batches(decoded()?, Arc::clone(&schema), projection.clone(), batch_rows)
                }
            })
        };
        let batches = guarded(open, || Ok(Err(damaged())))?;
        let (batches, reason) = match batches {
            Ok(batches) => (batches, None),
            Err(reason) => (Box::new(std::iter::empty()) as Batches, Some(reason)),
        };
        let input = Self { batches, failure, schema, projection };
        match reason {
            Some(reason) => Err(input.malformed(file, &reason)),
            None => Ok(input),
        }
    }

    fn next(&mut self) -> Option<std::result::Result<RecordBatch, ArrowError>> {
        let next = guarded(|| self.batches.next(), || Some(Err(damaged())));
        if matches!(next, Some(Err(_))) {
            // What a reader gives after an error, it does not promise to be rows.
            self.batches = Box::new(std::iter::empty());
        }
        next
    }

    fn malformed(&self, file: &File, reason: &ArrowError) -> Error {
        self.failure.or(|| match file.format {
            Format::Csv | Format::Parquet => csv::malformed(reason, &self.schema),
            Format::Ndjson => {
                ndjson::malformed(reason, &file.location, file.compression, &self.schema, &self.projection)
            }
            Format::Arrow => arrow_file::malformed(reason),
            Format::Avro => avro::malformed(reason),
        })
    }
}

/// For a reader that panicked.
fn damaged() -> ArrowError {
    ArrowError::IpcError("bytes that no writer leaves".to_string())
}

fn parquet(
    context: &SessionContext,
    file: &File,
    schema: Arc<Schema>,
    projection: Vec<usize>,
    batch_rows: usize,
    groups: Option<ParquetAccessPlan>,
) -> std::result::Result<SendableRecordBatchStream, DataFusionError> {
    let mut source = ParquetSource::new(schema).with_enable_page_index(false);
    let mut location = PartitionedFile::new(String::new(), file.size);
    match &file.location {
        Location::Local(path) => {
            location.object_meta.location = Path::from_absolute_path(path).map_err(|reason| external(&reason))?;
        }
        Location::Remote(object) => {
            // A store with this one file, which is read as it was when the run began.
            location.object_meta.location = Path::from("file");
            let store = Arc::clone(object) as Arc<dyn ObjectStore>;
            let factory = Arc::new(DefaultParquetFileReaderFactory::new(store));
            source = source.with_parquet_file_reader_factory(factory).with_metadata_size_hint(FOOTER_BYTES);
        }
    }
    if let Some(groups) = groups {
        location = location.with_extension(groups);
    }
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file(location)
        .with_batch_size(Some(batch_rows))
        .with_projection_indices(Some(projection))?
        .build();
    DataSourceExec::from_data_source(config).execute(0, context.task_ctx())
}

/// Which row groups to read for the wanted rows, if not all, and the number of their first row.
fn row_groups(file: &File, wanted: &Range<u64>) -> (Option<ParquetAccessPlan>, u64) {
    let ends = &file.row_group_ends;
    let first = ends.partition_point(|end| *end <= wanted.start);
    let last = ends.partition_point(|end| *end < wanted.end);
    if first == 0 && last + 1 >= ends.len() {
        return (None, 0);
    }
    let mut groups = ParquetAccessPlan::new_none(ends.len());
    (first..=last).filter(|group| *group < ends.len()).for_each(|group| groups.scan(group));
    let first_row = first.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    (Some(groups), first_row)
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
    /// The number of the first row that comes.
    pub(crate) fn first_row(&self) -> u64 {
        self.first_row
    }

    /// The next columns with their number of rows, after the last ones none.
    pub(crate) async fn next(&mut self, file: &File) -> Option<Result<(Vec<ArrayRef>, usize)>> {
        let batch = match &mut self.input {
            Input::DataFusion(stream) => stream.next().await?.map_err(|reason| unreadable(file, &reason)),
            Input::Arrow(input) => input.next()?.map_err(|reason| input.malformed(file, &reason)),
        };
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
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
    match (&file.location, store_reason(reason)) {
        (Location::Remote(object), Some(reason)) => object.refused(reason),
        _ => Error::data("a readable Parquet file", format!("`{}`", short(reason)), "write the file again"),
    }
}

/// What a store answered, if that is why reading failed.
fn store_reason(reason: &DataFusionError) -> Option<&StoreError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(reason);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<StoreError>() {
            return Some(error);
        }
        if let Some(error) = error.downcast_ref::<Box<StoreError>>() {
            return Some(error);
        }
        cause = error.source();
    }
    None
}
