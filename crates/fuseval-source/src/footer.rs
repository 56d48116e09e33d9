//! The footer of a Parquet file: columns, row groups, and the width of each column.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use fuseval_core::{Error, Result};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::paths::unreadable;

/// What the metadata of a file tell.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) schema: SchemaRef,
    /// For each row group the number of the row after its last one.
    pub(crate) row_group_ends: Vec<u64>,
    /// For each column its decoded bytes per row, about.
    pub(crate) widths: Vec<u32>,
}

impl Default for Summary {
    fn default() -> Self {
        Self { schema: Arc::new(Schema::empty()), row_group_ends: Vec::new(), widths: Vec::new() }
    }
}

/// Reads the footer.
pub(crate) fn read(path: &Path) -> Result<Summary> {
    let file = std::fs::File::open(path).map_err(|reason| unreadable(path, &reason))?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|reason| incomplete(&reason))?;
    let description = metadata.file_metadata();
    let schema = parquet_to_arrow_schema(description.schema_descr(), description.key_value_metadata())
        .map_err(|reason| incomplete(&reason))?;
    let mut rows = 0;
    let ends = metadata.row_groups().iter().map(|group| {
        rows += u64::try_from(group.num_rows()).unwrap_or(0);
        rows
    });
    let row_group_ends = ends.collect();
    let widths = widths(&metadata, schema.fields().len(), rows);
    Ok(Summary { schema: Arc::new(schema), row_group_ends, widths })
}

/// The decoded bytes per row of each column. Text in a dictionary is counted as long as it is once decoded, where the
/// writer has left that number.
fn widths(metadata: &ParquetMetaData, columns: usize, rows: u64) -> Vec<u32> {
    let schema = metadata.file_metadata().schema_descr();
    let mut bytes = vec![0_u64; columns];
    for group in metadata.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let decoded = chunk.unencoded_byte_array_data_bytes().unwrap_or(0).max(chunk.uncompressed_size());
            if let Some(sum) = bytes.get_mut(schema.get_column_root_idx(leaf)) {
                *sum = sum.saturating_add(u64::try_from(decoded).unwrap_or(0));
            }
        }
    }
    bytes.iter().map(|sum| u32::try_from(sum / rows.max(1)).unwrap_or(u32::MAX)).collect()
}

fn incomplete(reason: &ParquetError) -> Error {
    let reason = match reason {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    Error::data("a complete Parquet file", format!("`{reason}`"), "write the file again")
}
