//! A table of a run that may be killed: written in parts, which the ledger knows, and put together at the end.

use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use fuseval_core::Result;
use fuseval_engine::predictions::TableSink;
use fuseval_source::{ParquetFile, each_batch};

use crate::ledger::Ledger;
use crate::table_file::TableFile;

/// A table in the making.
pub(crate) struct PartedTable<'a> {
    ledger: &'a Ledger,
    name: &'static str,
    schema: SchemaRef,
    target: PathBuf,
    /// The part that is open, and its place.
    current: Option<(ParquetFile, PathBuf)>,
    next: u64,
    since: Instant,
}

impl<'a> PartedTable<'a> {
    /// The table of this name, to be found at `target` in the end.
    pub(crate) fn new(ledger: &'a Ledger, name: &'static str, schema: SchemaRef, target: &Path) -> Self {
        let next = ledger.table(name).next;
        Self { ledger, name, schema, target: target.to_path_buf(), current: None, next, since: Instant::now() }
    }

    /// The first bucket that is not in it.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Completes the part that is open, so that it is not lost.
    pub(crate) fn close(&mut self) -> Result<()> {
        let Some((file, path)) = self.current.take() else { return Ok(()) };
        file.finish()?;
        self.since = Instant::now();
        self.ledger.add_part(self.name, &path, self.next)
    }

    /// Puts the parts together.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.close()?;
        let mut table = TableFile::create(&self.target, self.schema.clone())?;
        for part in self.ledger.table(self.name).files {
            each_batch(&part, |batch| table.write(batch))?;
        }
        table.finish()
    }
}

impl TableSink for PartedTable<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        // A part that cannot be written is given up, and never taken for one that is whole.
        let (mut file, path) = match self.current.take() {
            Some(current) => current,
            None => {
                let path = self.ledger.next_part(self.name);
                (ParquetFile::create(&path, self.schema.clone())?, path)
            }
        };
        file.write(batch)?;
        self.current = Some((file, path));
        Ok(())
    }

    fn written(&mut self, next: u64) -> Result<()> {
        self.next = next;
        if self.since.elapsed() >= self.ledger.interval() { self.close() } else { Ok(()) }
    }
}
