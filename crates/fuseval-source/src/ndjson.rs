//! NDJSON files: one object per line. The columns are the keys of all objects in order of first appearance; a key that an
//! object lacks is null there. Values have the types that JSON gives them: integers, floats, texts, booleans, lists, objects.
//! The type of a column is the one that all its values have, over the whole file; integers beside floats are floats.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use datafusion::arrow::json::ReaderBuilder;
use fuseval_core::{Error, Result};

use crate::content::{Failure, Location};
use crate::format::Compression;
use crate::read::Batches;
use kinds::Kind;

mod kinds;

/// The longest line; one that is longer is no row.
const LONGEST_LINE: u64 = 256 << 20;

/// The columns, and for each its type or the reason why it has none.
pub(crate) fn inferred(location: &Location, compression: Compression) -> Result<(SchemaRef, Vec<Result<DataType>>)> {
    let failure = Failure::default();
    let mut lines = Lines::new(location.decoded(compression, &failure)?);
    let mut kinds = kinds::Columns::default();
    while let Some((number, line)) = lines.next_line().map_err(|reason| failure.or(|| unreadable(&reason)))? {
        kinds.add(line).map_err(|reason| no_object(line, &reason).at(format!("line {number}")))?;
    }
    if lines.number == 0 {
        return Err(Error::data("one JSON object per line", "an empty file", "leave the file out"));
    }
    let types: Vec<Result<DataType>> = kinds.columns().map(|(name, kind)| type_of(name, kind)).collect();
    let fields = kinds
        .columns()
        .zip(&types)
        .map(|((name, _), data_type)| Field::new(name, data_type.clone().unwrap_or(DataType::Null), true));
    Ok((Arc::new(Schema::new(fields.collect::<Vec<_>>())), types))
}

fn type_of(column: &str, kind: &Kind) -> Result<DataType> {
    data_type(kind).map_err(|(one, other)| {
        let help = format!("write one type, or declare the column as text: `types: {{{column}: text}}`");
        Error::data(format!("values of one type in column `{column}`"), format!("{one} and {other}"), help)
    })
}

/// The Arrow type of a kind, or two kinds that do not go together.
fn data_type(kind: &Kind) -> std::result::Result<DataType, (&'static str, &'static str)> {
    Ok(match kind {
        Kind::Null => DataType::Null,
        Kind::Bool => DataType::Boolean,
        Kind::Integer { .. } => kind.integer_type(),
        Kind::Float => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::List(item) => DataType::List(Arc::new(Field::new_list_field(data_type(item)?, true))),
        Kind::Object(columns) => {
            let fields = columns
                .columns()
                .map(|(name, kind)| data_type(kind).map(|data_type| Field::new(name, data_type, true)));
            DataType::Struct(fields.collect::<std::result::Result<Fields, _>>()?)
        }
        Kind::Mixed(one, other) => return Err((one, other)),
    })
}

/// The rows, with the types that the schema gives the columns.
pub(crate) fn batches(
    read: Box<dyn Read + Send>,
    schema: &Schema,
    projection: &[usize],
    batch_rows: usize,
) -> std::result::Result<Batches, ArrowError> {
    let builder = builder(schema, projection)?.with_batch_size(batch_rows);
    Ok(Box::new(builder.build(BufReader::with_capacity(1 << 18, read))?))
}

fn builder(schema: &Schema, projection: &[usize]) -> std::result::Result<ReaderBuilder, ArrowError> {
    // Numbers and booleans become text where a column is declared as text.
    Ok(ReaderBuilder::new(Arc::new(schema.project(projection)?)).with_coerce_primitive(true))
}

/// The error for a row that does not have the types: finds the row by reading the file once more, one line at a time.
pub(crate) fn malformed(
    reason: &ArrowError,
    location: &Location,
    compression: Compression,
    schema: &Schema,
    projection: &[usize],
) -> Error {
    let help = "correct the line, or declare the column as text";
    let error = |reason: &ArrowError| {
        let text = reason.to_string();
        let text = text.trim_start_matches("Json error: ").to_string();
        Error::data("values of the columns' types in every line", format!("`{text}`"), help)
    };
    let located = || -> Option<Error> {
        let mut lines = Lines::new(location.decoded(compression, &Failure::default()).ok()?);
        while let Some((number, line)) = lines.next_line().ok()? {
            let mut decoder = builder(schema, projection).ok()?.build_decoder().ok()?;
            if let Err(reason) = decoder.decode(line).and_then(|_| decoder.flush()) {
                return Some(error(&reason).at(format!("line {number}")));
            }
        }
        None
    };
    located().unwrap_or_else(|| error(reason))
}

fn no_object(line: &[u8], reason: &serde_json::Error) -> Error {
    let start = line.trim_ascii_start().first();
    let (found, help) = match start {
        Some(b'[') => ("a list".to_string(), "write its objects one per line, for example with `jq -c '.[]'`"),
        _ if reason.is_eof() => {
            ("an object that does not end on the line".to_string(), "write each object on one line (`jq -c .`)")
        }
        _ => {
            let text = reason.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            (format!("`{text}` at character {}", reason.column()), "correct the line; JSON has no NaN: write null")
        }
    };
    Error::data("one JSON object per line", found, help)
}

fn unreadable(reason: &std::io::Error) -> Error {
    Error::data("a readable NDJSON file", format!("`{reason}`"), "write the file again")
}

/// The lines of a file that are not blank.
struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The number of the line, from 1.
    number: u64,
}

impl<R: Read> Lines<R> {
    fn new(read: R) -> Self {
        Self { read: BufReader::with_capacity(1 << 18, read), line: Vec::new(), number: 0 }
    }

    fn next_line(&mut self) -> std::io::Result<Option<(u64, &[u8])>> {
        loop {
            self.line.clear();
            let length = (&mut self.read).take(LONGEST_LINE).read_until(b'\n', &mut self.line)?;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            if length as u64 == LONGEST_LINE {
                return Err(std::io::Error::other(format!("line {} is longer than 256 MiB", self.number)));
            }
            if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                return Err(std::io::Error::other("a byte order mark, which JSON does not have"));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some((self.number, &self.line)));
            }
        }
    }
}
