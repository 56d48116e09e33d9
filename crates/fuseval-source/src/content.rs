//! The bytes of a file, wherever it is: as a stream, by range, decompressed. What goes wrong while they are read is kept
//! aside, as parsers pass on no more than its text.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use fuseval_core::{Error, Result};

use crate::format::Compression;
use crate::paths::unreadable;
use crate::remote::{Object, RemoteReader};

/// Where a file is.
#[derive(Debug, Clone)]
pub(crate) enum Location {
    /// On this machine: the absolute path.
    Local(PathBuf),
    /// In an object store, or on a web server.
    Remote(Arc<Object>),
}

/// Bytes to read in order and by place.
pub(crate) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The error that ended reading, if there was one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure(Arc<OnceLock<Error>>);

impl Failure {
    /// Keeps the first error.
    pub(crate) fn keep(&self, error: Error) {
        let _ = self.0.set(error);
    }

    /// The error, or another one if the bytes are not to blame.
    pub(crate) fn or(&self, other: impl FnOnce() -> Error) -> Error {
        self.0.get().cloned().unwrap_or_else(other)
    }
}

impl Location {
    /// The bytes as they are stored.
    pub(crate) fn open(&self, failure: &Failure) -> Result<Box<dyn ReadSeek>> {
        match self {
            Self::Local(path) => Ok(Box::new(File::open(path).map_err(|reason| unreadable(path, &reason))?)),
            Self::Remote(object) => Ok(Box::new(RemoteReader::new(Arc::clone(object), failure.clone()))),
        }
    }

    /// The decompressed bytes.
    pub(crate) fn decoded(&self, compression: Compression, failure: &Failure) -> Result<Box<dyn Read + Send>> {
        let stored = self.open(failure)?;
        if compression == Compression::None {
            return Ok(Box::new(Watched { read: stored, compression, failure: failure.clone() }));
        }
        let read =
            compression.decoded(Box::new(stored)).map_err(|reason| failure.or(|| broken(compression, &reason)))?;
        Ok(Box::new(Watched { read, compression, failure: failure.clone() }))
    }

    /// The last bytes of a file of a known size.
    pub(crate) fn tail(&self, size: u64, length: u64) -> Result<Bytes> {
        let from = size.saturating_sub(length);
        match self {
            Self::Remote(object) => object.range_now(from..size),
            Self::Local(path) => {
                let read = || -> std::io::Result<Vec<u8>> {
                    let mut file = File::open(path)?;
                    file.seek(SeekFrom::Start(from))?;
                    let mut bytes = Vec::new();
                    file.take(size - from).read_to_end(&mut bytes)?;
                    Ok(bytes)
                };
                read().map(Bytes::from).map_err(|reason| unreadable(path, &reason))
            }
        }
    }
}

/// Runs a decoder of others, some of which panic on bytes that no writer leaves; then the file is damaged.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T, damaged: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode)).unwrap_or_else(|_| damaged())
}

/// Keeps the reason for which bytes could not be read or decompressed.
struct Watched<R> {
    read: R,
    compression: Compression,
    failure: Failure,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.read.read(buffer).inspect_err(|reason| {
            if reason.kind() != std::io::ErrorKind::Interrupted {
                self.failure.keep(broken(self.compression, reason));
            }
        })
    }
}

fn broken(compression: Compression, reason: &std::io::Error) -> Error {
    match compression {
        Compression::None => Error::data("a file that can be read", format!("`{reason}`"), "check the disk"),
        _ => {
            let expected = format!("a complete {} file", compression.name());
            Error::data(expected, format!("`{reason}`"), "write the file again, or decompress it to see where it ends")
        }
    }
}
