//! A file of a store as bytes to read in order or by place. What comes next is asked for ahead.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use bytes::{Buf, Bytes};
use fuseval_core::{Error, Result};

use super::object::{Object, PART};
use crate::content::Failure;

/// The bytes that are asked for first, and after each jump; then twice as many each time.
const FIRST: u64 = 64 << 10;

/// Reads a file of a store.
pub(crate) struct RemoteReader {
    object: Arc<Object>,
    failure: Failure,
    /// Where the next byte to be read lies.
    position: u64,
    /// Bytes from there on.
    chunk: Bytes,
    /// What was asked for ahead.
    ahead: Option<(Range<u64>, Receiver<Result<Bytes>>)>,
    length: u64,
}

impl RemoteReader {
    pub(crate) fn new(object: Arc<Object>, failure: Failure) -> Self {
        Self { object, failure, position: 0, chunk: Bytes::new(), ahead: None, length: FIRST }
    }

    /// The bytes that follow the position, at least one.
    fn fetch(&mut self) -> Result<Bytes> {
        let start = self.position;
        let (range, receiver) = match self.ahead.take() {
            Some((range, receiver)) if range.start == start => (range, receiver),
            _ => self.request(start)?,
        };
        // Not after the first request: whoever looks at a header wants no more.
        if self.length > 2 * FIRST && range.end < self.object.size() {
            self.ahead = Some(self.request(range.end)?);
        }
        receiver.recv().map_err(|_| Error::defect("the end of a request", "a task that stopped"))?
    }

    fn request(&mut self, start: u64) -> Result<(Range<u64>, Receiver<Result<Bytes>>)> {
        let range = start..self.object.size().min(start + self.length);
        self.length = PART.min(self.length * 2);
        Ok((range.clone(), self.object.range_later(range)?))
    }
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.chunk.is_empty() && self.position < self.object.size() && !buffer.is_empty() {
            self.chunk = self.fetch().map_err(|error| {
                let text = error.to_string();
                self.failure.keep(error);
                std::io::Error::other(text)
            })?;
        }
        let length = buffer.len().min(self.chunk.len());
        if let Some(place) = buffer.get_mut(..length) {
            self.chunk.copy_to_slice(place);
        }
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for RemoteReader {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let target = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.object.size().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        let target = target.ok_or_else(|| std::io::Error::other("a place before the start of the file"))?;
        let skipped = target.checked_sub(self.position).and_then(|skipped| usize::try_from(skipped).ok());
        match skipped.filter(|skipped| *skipped <= self.chunk.len()) {
            Some(skipped) => self.chunk.advance(skipped),
            None => {
                self.chunk = Bytes::new();
                self.length = FIRST;
            }
        }
        self.position = target;
        Ok(target)
    }
}
