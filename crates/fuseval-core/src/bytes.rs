//! Little-endian, fixed-width, canonical bytes: what states and partials are written in. Reading never trusts a length.

use crate::{Error, Result};

/// Appends values to a growing buffer.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes written so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes written so far, borrowed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes one byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes 16 bits.
    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_le_bytes());
    }

    /// Writes 32 bits.
    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    /// Writes 64 bits.
    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// Writes the bits of a float.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Writes bytes as they are, without a length.
    pub fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    /// Writes a length of 64 bits and the bytes.
    pub fn block(&mut self, value: &[u8]) {
        self.u64(value.len() as u64);
        self.raw(value);
    }

    /// Writes a text as a block of UTF-8.
    pub fn text(&mut self, value: &str) {
        self.block(value.as_bytes());
    }
}

/// Takes values from the front of a byte slice; every read is checked.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of all of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes `len` bytes.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(len) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(damaged(format!("{len} more bytes"), format!("{} bytes", self.rest.len()))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.raw(N)?);
        Ok(out)
    }

    /// Takes one byte.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Takes 16 bits.
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Takes 32 bits.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Takes 64 bits.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Takes the bits of a float.
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Takes a count of items of at least `item_bytes` each: a count that the rest cannot hold is refused before anything
    /// is allocated for it.
    pub fn count(&mut self, item_bytes: usize) -> Result<usize> {
        let count = self.u64()?;
        let most = (self.rest.len() / item_bytes.max(1)) as u64;
        if count > most {
            return Err(damaged(format!("at most {most} items"), format!("a count of {count}")));
        }
        usize::try_from(count).map_err(|_| damaged("a count that fits this machine", count.to_string()))
    }

    /// Takes a block written by [`Writer::block`].
    pub fn block(&mut self) -> Result<&'a [u8]> {
        let len = self.count(1)?;
        self.raw(len)
    }

    /// Takes a text written by [`Writer::text`].
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.block()?).map_err(|_| damaged("text in UTF-8", "other bytes"))
    }

    /// Refuses bytes after the end of what was read.
    pub fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(damaged("the end of the bytes", format!("{} more", self.rest.len())))
    }
}

/// The error for bytes that are not what their kind and version say.
pub fn damaged(expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::partials(expected, found, "the bytes are damaged or not from fuseval; make this partial again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_was_written() {
        let mut out = Writer::new();
        out.u8(1);
        out.u16(2);
        out.u32(3);
        out.u64(4);
        out.f64(-0.0);
        out.text("käse");
        let bytes = out.into_bytes();
        let mut input = Reader::new(&bytes);
        assert_eq!(input.u8().unwrap(), 1);
        assert_eq!(input.u16().unwrap(), 2);
        assert_eq!(input.u32().unwrap(), 3);
        assert_eq!(input.u64().unwrap(), 4);
        assert_eq!(input.f64().unwrap().to_bits(), (-0.0f64).to_bits());
        assert_eq!(input.text().unwrap(), "käse");
        input.end().unwrap();
    }

    #[test]
    fn a_count_beyond_the_bytes_is_refused() {
        let mut out = Writer::new();
        out.u64(u64::MAX);
        let bytes = out.into_bytes();
        assert!(Reader::new(&bytes).count(8).is_err());
        assert!(Reader::new(&bytes).block().is_err());
    }
}
