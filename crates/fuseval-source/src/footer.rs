//! The footer of a Parquet file: columns, row groups, and the width of each column.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use fuseval_core::{Error, Result};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::content::Location;

/// What the metadata of a file tell.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) schema: SchemaRef,
    /// For each row group the number of the row after its last one.
    pub(crate) row_group_ends: Vec<u64>,
    /// For each column its decoded bytes per row, about.
    pub(crate) widths: Vec<u32>,
    /// The hash of the bytes of the footer.
    pub(crate) hash: Option<String>,
}

impl Default for Summary {
    fn default() -> Self {
        Self { schema: Arc::new(Schema::empty()), row_group_ends: Vec::new(), widths: Vec::new(), hash: None }
    }
}

/// The bytes at the end of a file that are asked for first; most footers are shorter.
const FIRST: u64 = 64 << 10;

/// The bytes after a footer: its length, and the mark of the format.
const END: usize = 8;

/// Reads the footer of a file of the given size.
pub(crate) fn read(location: &Location, size: u64) -> Result<Summary> {
    let mut reader = ParquetMetaDataReader::new();
    let mut tail = location.tail(size, FIRST)?;
    loop {
        match reader.try_parse_sized(&tail, size) {
            Ok(()) => break,
            Err(ParquetError::NeedMoreData(needed)) if needed > tail.len() => {
                tail = location.tail(size, needed as u64)?;
            }
            Err(reason) => return Err(incomplete(&reason)),
        }
    }
    let metadata = reader.finish().map_err(|reason| incomplete(&reason))?;
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
    Ok(Summary { schema: Arc::new(schema), row_group_ends, widths, hash: hash(&tail) })
}

/// The hash of a footer, given the end of its file.
fn hash(tail: &[u8]) -> Option<String> {
    let (rest, end) = tail.split_at_checked(tail.len().checked_sub(END)?)?;
    let length = u32::from_le_bytes(*end.first_chunk()?);
    let footer = rest.get(rest.len().checked_sub(usize::try_from(length).ok()?)?..)?;
    Some(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(footer)))
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
