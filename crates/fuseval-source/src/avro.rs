//! Avro files: blocks of rows after a header with their schema.

use std::io::{BufReader, Read};

use arrow_avro::reader::{Reader, ReaderBuilder};
use arrow_schema::{ArrowError, SchemaRef};
use fuseval_core::{Error, Result};

use crate::content::{Failure, Location};
use crate::read::Batches;

/// The columns. Every block ends with the mark of its file, so a file that does not was cut off in a block; the reader would
/// take that for the end of the rows.
pub(crate) fn header(location: &Location, size: u64) -> Result<SchemaRef> {
    let failure = Failure::default();
    let read = location.open(&failure)?;
    let reader = opened(read, ReaderBuilder::new()).map_err(|reason| failure.or(|| malformed(&reason)))?;
    let mark = reader.avro_header().sync();
    if location.tail(size, mark.len() as u64)?.as_ref() != mark.as_slice() {
        let help = "write the file again";
        return Err(Error::data("a complete Avro file", "a block without its end", help));
    }
    Ok(reader.schema())
}

/// The rows.
pub(crate) fn batches(
    read: Box<dyn Read + Send>,
    projection: Vec<usize>,
    batch_rows: usize,
) -> std::result::Result<Batches, ArrowError> {
    let builder = ReaderBuilder::new().with_projection(projection).with_batch_size(batch_rows);
    Ok(Box::new(opened(read, builder)?))
}

fn opened<R: Read>(read: R, builder: ReaderBuilder) -> std::result::Result<Reader<BufReader<R>>, ArrowError> {
    builder.build(BufReader::with_capacity(1 << 18, read))
}

/// The error for a file that cannot be read.
pub(crate) fn malformed(reason: &ArrowError) -> Error {
    Error::data("a complete Avro file", format!("`{reason}`"), "write the file again")
}
