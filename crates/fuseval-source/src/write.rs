//! Writing a Parquet file, for predictions: complete under its name, or not there at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use fuseval_core::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Rows per row group; what is not written yet waits in memory.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// A Parquet file being written. It gets its name when it is finished; dropped before, it leaves nothing behind.
#[derive(Debug)]
pub struct ParquetFile {
    path: PathBuf,
    temporary: PathBuf,
    schema: SchemaRef,
    writer: Option<ArrowWriter<File>>,
}

impl ParquetFile {
    /// Begins a file that will be found at `path`. What is there stays until [`finish`](Self::finish) replaces it.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<Self> {
        let Some(name) = path.file_name() else {
            let help = "name a file";
            return Err(Error::data("a path for a file", format!("`{}`", path.display()), help));
        };
        // A hidden name beside the final one: on the same file system, and not read as data.
        let temporary = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(|reason| unwritable(path, &reason))?;
        let mut created = Self { path: path.to_path_buf(), temporary, schema: schema.clone(), writer: None };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        let writer = ArrowWriter::try_new(file, schema, Some(properties));
        created.writer = Some(writer.map_err(|reason| unwritable(path, &reason))?);
        Ok(created)
    }

    /// Adds rows of the schema the file was created with.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.schema().fields() != self.schema.fields() {
            return Err(Error::defect(format!("rows of {}", self.schema), format!("rows of {}", batch.schema())));
        }
        match &mut self.writer {
            Some(writer) => writer.write(batch).map_err(|reason| unwritable(&self.path, &reason)),
            None => Err(Error::defect("a file that is open for writing", "a closed one")),
        }
    }

    /// Ends the row group that rows were added to.
    pub fn end_row_group(&mut self) -> Result<()> {
        match &mut self.writer {
            Some(writer) => writer.flush().map_err(|reason| unwritable(&self.path, &reason)),
            None => Err(Error::defect("a file that is open for writing", "a closed one")),
        }
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            return Err(Error::defect("a file that is open for writing", "a closed one"));
        };
        let file = writer.into_inner().map_err(|reason| unwritable(&self.path, &reason))?;
        file.sync_all().map_err(|reason| unwritable(&self.path, &reason))?;
        std::fs::rename(&self.temporary, &self.path).map_err(|reason| unwritable(&self.path, &reason))
    }
}

/// Reads a Parquet file that was written here, batch by batch.
pub fn each_batch(path: &Path, mut f: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        let help = "start the run anew";
        Error::data("a readable Parquet file", format!("`{reason}`"), help).at(path.display().to_string())
    };
    let file = File::open(path).map_err(|reason| unreadable(&reason))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
    for batch in reader.map_err(|reason| unreadable(&reason))? {
        f(&batch.map_err(|reason| unreadable(&reason))?)?;
    }
    Ok(())
}

impl Drop for ParquetFile {
    fn drop(&mut self) {
        // After `finish` there is nothing to remove; otherwise there is nobody to tell.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

fn unwritable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    let help = "check the directory and the free space";
    Error::usage("an output file that can be written", format!("`{reason}`"), help).at(path.display().to_string())
}
