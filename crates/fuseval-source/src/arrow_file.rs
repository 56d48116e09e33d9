//! Arrow IPC files: the file format (Feather V2) and the stream format, told by their first bytes.

use std::io::{BufReader, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use fuseval_core::{Error, Result};

use crate::content::{Failure, Location, ReadSeek};
use crate::read::Batches;

/// The first bytes of the file format.
const FILE: &[u8] = b"ARROW1";

/// The first bytes of the format that Feather had before it was Arrow's.
const FEATHER_V1: &[u8] = b"FEA1";

/// The last bytes of the stream format. Writers may leave them out; then nothing tells a whole stream from one that was cut
/// off between two batches, so they are asked for.
const END_OF_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The columns.
pub(crate) fn header(location: &Location, size: u64) -> Result<SchemaRef> {
    let failure = Failure::default();
    let mut read = location.open(&failure)?;
    let first = first_bytes(&mut read).map_err(|reason| failure.or(|| malformed(&reason)))?;
    if first.starts_with(FEATHER_V1) {
        let help = "write the file again with a current version of Arrow";
        return Err(Error::data("an Arrow IPC file (Feather V2)", "a Feather V1 file", help));
    }
    let schema = if first.starts_with(FILE) {
        FileReader::try_new(read, None).map(|reader| reader.schema())
    } else {
        StreamReader::try_new(BufReader::new(read), None).map(|reader| reader.schema())
    };
    if schema.is_ok() && !first.starts_with(FILE) && location.tail(size, 8)? != END_OF_STREAM {
        let help = "write the file again, and close the writer";
        return Err(Error::data("an Arrow IPC stream that is complete", "no mark at its end", help));
    }
    schema.map_err(|reason| failure.or(|| malformed(&reason)))
}

/// The rows.
pub(crate) fn batches(
    mut read: Box<dyn ReadSeek>,
    projection: Vec<usize>,
    batch_rows: usize,
) -> std::result::Result<Batches, ArrowError> {
    let stored: Batches = if first_bytes(&mut read)?.starts_with(FILE) {
        Box::new(FileReader::try_new(BufReader::with_capacity(1 << 18, read), Some(projection))?)
    } else {
        Box::new(StreamReader::try_new(BufReader::with_capacity(1 << 18, read), Some(projection))?)
    };
    Ok(Box::new(stored.flat_map(move |batch| slices(batch, batch_rows))))
}

fn first_bytes(read: &mut Box<dyn ReadSeek>) -> std::result::Result<Vec<u8>, ArrowError> {
    let mut first = Vec::new();
    read.take(FILE.len() as u64).read_to_end(&mut first)?;
    read.seek(SeekFrom::Start(0))?;
    Ok(first)
}

/// A batch as it was written, in runs of rows that are not too long.
fn slices(
    batch: std::result::Result<RecordBatch, ArrowError>,
    rows: usize,
) -> Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send> {
    match batch {
        Ok(batch) => {
            let starts = (0..batch.num_rows()).step_by(rows.max(1));
            Box::new(starts.map(move |start| Ok(batch.slice(start, rows.min(batch.num_rows() - start)))))
        }
        Err(reason) => Box::new(std::iter::once(Err(reason))),
    }
}

/// The error for a file that cannot be read.
pub(crate) fn malformed(reason: &ArrowError) -> Error {
    Error::data("a complete Arrow IPC file", format!("`{reason}`"), "write the file again")
}
