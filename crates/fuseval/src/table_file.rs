//! A table on its way to a file: Parquet, or CSV where the name ends so. Complete under its name, or not there at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::SchemaRef;
use fuseval_core::{Error, Result};
use fuseval_engine::predictions::TableSink;
use fuseval_source::ParquetFile;

/// The name that stands for standard output.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// A table being written.
pub(crate) enum TableFile {
    Parquet(Box<ParquetFile>),
    Csv(Box<CsvFile>),
}

/// A CSV file under a temporary name, on its way to its place or to standard output.
pub(crate) struct CsvFile {
    path: PathBuf,
    to_output: bool,
    temporary: Option<PathBuf>,
    writer: Option<csv::Writer<File>>,
}

impl TableFile {
    /// Refuses a path whose format is not known, before anything is done.
    pub(crate) fn check(path: &Path) -> Result<()> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("parquet" | "csv") => Ok(()),
            None if path.as_os_str() == STANDARD_OUTPUT => Ok(()),
            _ => Err(unknown_format(path)),
        }
    }

    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let is_output = path.as_os_str() == STANDARD_OUTPUT;
        match extension.as_deref() {
            Some("parquet") => Ok(Self::Parquet(Box::new(ParquetFile::create(path, schema)?))),
            Some("csv") => Ok(Self::Csv(Box::new(CsvFile::create(path, &schema, false)?))),
            None if is_output => Ok(Self::Csv(Box::new(CsvFile::create(path, &schema, true)?))),
            _ => Err(unknown_format(path)),
        }
    }

    /// Completes the file and gives it its name.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Parquet(file) => file.finish(),
            Self::Csv(file) => file.finish(),
        }
    }
}

fn unknown_format(path: &Path) -> Error {
    let help = "name it for example `segments.parquet`";
    Error::usage("a file that ends in .parquet or .csv", format!("`{}`", path.display()), help)
}

impl TableSink for TableFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(file) => file.write(batch),
            Self::Csv(file) => file.write(batch),
        }
    }

    fn written(&mut self, _next: u64) -> Result<()> {
        Ok(())
    }
}

impl CsvFile {
    fn create(path: &Path, schema: &SchemaRef, to_output: bool) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // What goes to standard output waits in a file too: it cannot be taken back, should the run begin again.
        let temporary = match to_output {
            true => std::env::temp_dir().join(format!("fuseval-{}.csv", std::process::id())),
            false => path.with_file_name(format!(".{name}.{}.tmp", std::process::id())),
        };
        let out = File::create(&temporary).map_err(|reason| unwritable(path, &reason))?;
        let writer = Some(csv::Writer::from_writer(out));
        let mut file = Self { path: path.to_path_buf(), to_output, temporary: Some(temporary), writer };
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        file.record(&names)?;
        Ok(file)
    }

    fn record<T: AsRef<[u8]>>(&mut self, cells: &[T]) -> Result<()> {
        match &mut self.writer {
            Some(writer) => writer.write_record(cells).map_err(|reason| unwritable(&self.path, &reason)),
            None => Err(Error::defect("a file that is open for writing", "a closed one")),
        }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let options = FormatOptions::default();
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::defect("columns that can be shown", error.to_string()))?;
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            self.record(&cells)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if let Some(mut writer) = self.writer.take() {
            writer.flush().map_err(|reason| unwritable(&self.path, &reason))?;
        }
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if self.to_output {
            let copied = File::open(temporary).and_then(|mut file| std::io::copy(&mut file, &mut std::io::stdout()));
            return match copied {
                Err(reason) if reason.kind() != std::io::ErrorKind::BrokenPipe => Err(unwritable(&self.path, &reason)),
                _ => Ok(()),
            };
        }
        std::fs::rename(temporary, &self.path).map_err(|reason| unwritable(&self.path, &reason))?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for CsvFile {
    fn drop(&mut self) {
        // After `finish` there is nothing to remove; otherwise there is nobody to tell.
        if let Some(temporary) = &self.temporary {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

fn unwritable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    let help = "check the directory and the free space";
    Error::usage("an output file that can be written", format!("`{reason}`"), help).at(path.display().to_string())
}
