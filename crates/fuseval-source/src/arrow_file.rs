//! Arrow IPC files: the file format (Feather V2) and the stream format, told by their first bytes.
//!
//! Messages are decoded by Arrow and found here: Arrow's readers take the lengths in a file at their word, and ask for so much
//! memory that the process ends where a file is damaged.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Endianness, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use datafusion::arrow::buffer::Buffer;
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

/// What stands before the length of a message since Arrow 0.15.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The longest buffer of a column that is decompressed: longer ones are damage.
const LONGEST_BUFFER: i64 = 1 << 32;

/// Where a message stands.
type Found = std::result::Result<Option<(Block, Buffer)>, ArrowError>;

/// The columns.
pub(crate) fn header(location: &Location, size: u64) -> Result<SchemaRef> {
    let failure = Failure::default();
    let read = location.open(&failure)?;
    let messages = Messages::open(read, size).map_err(|reason| failure.or(|| malformed(&reason)))?;
    if messages.blocks.is_none() && location.tail(size, 8)? != END_OF_STREAM {
        let help = "write the file again, and close the writer";
        return Err(Error::data("an Arrow IPC stream that is complete", "no mark at its end", help));
    }
    Ok(messages.schema)
}

/// The rows.
pub(crate) fn batches(
    read: Box<dyn ReadSeek>,
    size: u64,
    projection: Vec<usize>,
    batch_rows: usize,
) -> std::result::Result<Batches, ArrowError> {
    let messages = Messages::open(read, size)?;
    let decoder = FileDecoder::new(Arc::clone(&messages.schema), messages.version).with_projection(projection);
    let stored = Decoded { messages, decoder };
    Ok(Box::new(stored.flat_map(move |batch| slices(batch, batch_rows))))
}

/// The messages of a file that hold rows or dictionaries, in order.
struct Messages {
    read: Box<dyn ReadSeek>,
    size: u64,
    schema: SchemaRef,
    version: MetadataVersion,
    /// Where the messages stand, for the file format: dictionaries first.
    blocks: Option<std::vec::IntoIter<Block>>,
    /// Where the next message of a stream begins.
    position: u64,
}

impl Messages {
    fn open(mut read: Box<dyn ReadSeek>, size: u64) -> std::result::Result<Self, ArrowError> {
        let mut first = Vec::new();
        (&mut read).take(FILE.len() as u64).read_to_end(&mut first)?;
        if first.starts_with(FEATHER_V1) {
            return Err(damaged("a Feather V1 file, which is not Arrow"));
        }
        let (schema, version) = (Arc::new(arrow_schema::Schema::empty()), MetadataVersion::V5);
        let mut messages = Self { read, size, schema, version, blocks: None, position: 0 };
        if first.starts_with(FILE) {
            messages.open_file()?
        } else {
            messages.open_stream()?
        }
        Ok(messages)
    }

    fn open_file(&mut self) -> std::result::Result<(), ArrowError> {
        let end = self.bytes(self.size.saturating_sub(10), 10)?;
        let end: [u8; 10] = end.try_into().map_err(|_| damaged("no end"))?;
        let length = read_footer_length(end)? as u64;
        let start = self.size.checked_sub(10 + length).ok_or_else(|| damaged("a footer longer than the file"))?;
        let bytes = self.bytes(start, length)?;
        let footer = root_as_footer(&bytes).map_err(|reason| damaged(&format!("a footer with {reason}")))?;
        let schema = footer.schema().ok_or_else(|| damaged("a footer without schema"))?;
        self.set_schema(schema, footer.version())?;
        let batches = footer.recordBatches().ok_or_else(|| damaged("a footer without batches"))?;
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let blocks: Vec<Block> = dictionaries.chain(batches).copied().collect();
        self.blocks = Some(blocks.into_iter());
        Ok(())
    }

    fn open_stream(&mut self) -> std::result::Result<(), ArrowError> {
        let Some((block, buffer)) = self.next_of_stream()? else { return Err(damaged("no schema")) };
        let message = root_as_message(metadata(&block, &buffer)?).map_err(|_| damaged("a damaged message"))?;
        let schema = message.header_as_schema().ok_or_else(|| damaged("a first message without schema"))?;
        self.set_schema(schema, message.version())
    }

    fn set_schema(
        &mut self,
        schema: arrow_ipc::Schema<'_>,
        version: MetadataVersion,
    ) -> std::result::Result<(), ArrowError> {
        if schema.endianness() != Endianness::Little {
            return Err(damaged("values with the high byte first"));
        }
        self.schema = Arc::new(fb_to_schema(schema));
        self.version = version;
        Ok(())
    }

    /// The next message with its place, in bounds.
    fn next(&mut self) -> Found {
        let Some(blocks) = &mut self.blocks else { return self.next_of_stream() };
        let Some(block) = blocks.next() else { return Ok(None) };
        let lengths =
            (u64::try_from(block.offset()), u64::try_from(block.metaDataLength()), u64::try_from(block.bodyLength()));
        let (Ok(start), Ok(head), Ok(body)) = lengths else { return Err(damaged("a message of negative length")) };
        let bytes = self.bytes(start, head.saturating_add(body))?;
        Ok(Some((block, Buffer::from(bytes))))
    }

    fn next_of_stream(&mut self) -> Found {
        if self.position == self.size {
            return Ok(None);
        }
        let start = self.position;
        let mut head = self.bytes(start, 4)?;
        if head == CONTINUATION {
            head = self.bytes(start + 4, 4)?;
            self.position += 4;
        }
        self.position += 4;
        let length = i32::from_le_bytes(head.try_into().map_err(|_| damaged("no length"))?);
        let length = u64::try_from(length).map_err(|_| damaged("a message of negative length"))?;
        if length == 0 {
            return Ok(None);
        }
        let head = self.bytes(self.position, length)?;
        let message = root_as_message(&head).map_err(|reason| damaged(&format!("a message with {reason}")))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a body of negative length"))?;
        let head = self.position + length - start;
        let bytes = self.bytes(start, head.saturating_add(body))?;
        self.position = start + head + body;
        let head = i32::try_from(head).map_err(|_| damaged("a message that is too long"))?;
        Ok(Some((Block::new(0, head, message.bodyLength()), Buffer::from(bytes))))
    }

    /// Bytes of the file, which must have them.
    fn bytes(&mut self, start: u64, length: u64) -> std::result::Result<Vec<u8>, ArrowError> {
        if start.checked_add(length).is_none_or(|end| end > self.size) {
            return Err(damaged("a message beyond the end of the file"));
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged("a message that is too long"))?];
        self.read.seek(SeekFrom::Start(start))?;
        self.read.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// The metadata of a message, after their length.
fn metadata<'a>(block: &Block, buffer: &'a Buffer) -> std::result::Result<&'a [u8], ArrowError> {
    let start = if buffer.starts_with(&CONTINUATION) { 8 } else { 4 };
    let end = usize::try_from(block.metaDataLength()).unwrap_or_default();
    buffer.get(start..end).ok_or_else(|| damaged("a message without metadata"))
}

/// The batches of a file.
struct Decoded {
    messages: Messages,
    decoder: FileDecoder,
}

impl Decoded {
    fn batch(&mut self) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        while let Some((block, buffer)) = self.messages.next()? {
            let message = root_as_message(metadata(&block, &buffer)?).map_err(|_| damaged("a damaged message"))?;
            let dictionary = message.header_as_dictionary_batch();
            let batch =
                message.header_as_record_batch().or_else(|| dictionary.and_then(|dictionary| dictionary.data()));
            let batch = batch.ok_or_else(|| damaged("a message without rows"))?;
            if batch.compression().is_some() {
                let body = usize::try_from(block.metaDataLength()).unwrap_or_default();
                for part in batch.buffers().into_iter().flatten() {
                    let start = usize::try_from(part.offset()).ok().and_then(|start| start.checked_add(body));
                    let prefix = start.and_then(|start| buffer.get(start..)).and_then(|rest| rest.first_chunk());
                    let length = prefix.map_or(0, |prefix| i64::from_le_bytes(*prefix));
                    if part.length() > 0 && !(-1..=LONGEST_BUFFER).contains(&length) {
                        return Err(damaged("a compressed buffer of impossible length"));
                    }
                }
            }
            if message.header_type() == MessageHeader::DictionaryBatch {
                self.decoder.read_dictionary(&block, &buffer)?;
            } else if let Some(batch) = self.decoder.read_record_batch(&block, &buffer)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl Iterator for Decoded {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
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

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(what.to_string())
}

/// The error for a file that cannot be read.
pub(crate) fn malformed(reason: &ArrowError) -> Error {
    let text = match reason {
        ArrowError::IpcError(text) => text.clone(),
        other => format!("`{other}`"),
    };
    Error::data("a complete Arrow IPC file", text, "write the file again")
}
