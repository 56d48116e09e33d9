//! CSV files: a header line, commas, double quotes. An empty field is null, in quotes or not; everything else in a text
//! column is text as written (`NA`, `007`). The type of other columns is the one that all values of the file have.

use std::io::{BufReader, Read};
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use datafusion::arrow::csv::reader::{Format, ReaderBuilder};
use fuseval_core::{Error, Result};

use crate::content::{Failure, Location};
use crate::format::Compression;
use crate::read::Batches;

/// The columns of the header line, all of them text.
pub(crate) fn header(location: &Location, compression: Compression) -> Result<SchemaRef> {
    let schema = infer(location, compression, Some(0))?;
    if schema.fields().is_empty() {
        return Err(Error::data("a header line with the names of the columns", "an empty file", "add the header line"));
    }
    let fields: Vec<Field> =
        schema.fields().iter().map(|field| Field::new(field.name(), DataType::Utf8, true)).collect();
    Ok(Arc::new(Schema::new(fields)))
}

/// The type of each column over the whole file; null for a column without values.
pub(crate) fn inferred_types(location: &Location, compression: Compression) -> Result<Vec<DataType>> {
    let schema = infer(location, compression, None)?;
    Ok(schema.fields().iter().map(|field| field.data_type().clone()).collect())
}

fn infer(location: &Location, compression: Compression, rows: Option<usize>) -> Result<Schema> {
    let failure = Failure::default();
    let read = location.decoded(compression, &failure)?;
    let format = Format::default().with_header(true);
    let inferred = format.infer_schema(BufReader::with_capacity(1 << 18, read), rows);
    inferred.map(|(schema, _)| schema).map_err(|reason| failure.or(|| malformed(&reason, &Schema::empty())))
}

/// The rows, with the types that the schema gives the columns.
pub(crate) fn batches(
    read: Box<dyn Read + Send>,
    schema: SchemaRef,
    projection: Vec<usize>,
    batch_rows: usize,
) -> std::result::Result<Batches, ArrowError> {
    let builder = ReaderBuilder::new(schema).with_header(true).with_batch_size(batch_rows).with_projection(projection);
    Ok(Box::new(builder.build_buffered(BufReader::with_capacity(1 << 16, read))?))
}

/// The error for a line that cannot be read. Lines are counted from 1, the header line included.
pub(crate) fn malformed(reason: &ArrowError, columns: &Schema) -> Error {
    match reason {
        ArrowError::CsvError(text) => {
            Error::data("CSV rows with one field per column", format!("`{text}`"), "correct the line")
        }
        ArrowError::ParseError(text) => {
            let found = misfit(text, columns).unwrap_or_else(|| format!("`{text}`"));
            let help = "correct the line, or declare the column as text";
            Error::data("a value of the column's type in every CSV row", found, help)
        }
        other => Error::data("a readable CSV file", format!("`{other}`"), "write the file again"),
    }
}

/// The reader's "Error while parsing value '1x' as type 'Int64' for column 1 at line 2. Row data: …", where both numbers
/// count from 0, with the name of the column instead.
fn misfit(text: &str, columns: &Schema) -> Option<String> {
    let (value, rest) = text.strip_prefix("Error while parsing value ")?.rsplit_once(" for column ")?;
    let (column, rest) = rest.split_once(" at line ")?;
    let line: usize = rest.split('.').next()?.parse().ok()?;
    let column = columns.fields().get(column.parse::<usize>().ok()?)?.name();
    let (value, data_type) = value.rsplit_once(" as type ")?;
    let (value, data_type) = (value.trim_matches('\''), data_type.trim_matches('\''));
    Some(format!("`{value}` instead of {data_type} in column `{column}`, line {}", line + 1))
}
