//! A clustered copy of a data set: all rows of a segment together, one bucket per row group, so that later runs need not bring
//! them together again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use fuseval_core::{Error, Result, Source};
use fuseval_engine::bucket::{Clustering, buckets};
use fuseval_source::{ParquetFile, SourceOptions};

use crate::{Progress, memory};

/// Row groups to a file.
const GROUPS: u64 = 256;

/// What to cluster, and how.
#[derive(Debug, Clone, Default)]
pub struct BucketOptions {
    /// Files, directories, globs and URLs.
    pub paths: Vec<String>,
    /// The columns of the segment key.
    pub by: Vec<String>,
    /// A SQL predicate: other rows are left out.
    pub filter: Option<String>,
    /// The number of rows from which a row group is cut at the next segment border.
    pub rows: usize,
    /// The bytes that may be held in memory; a share of the machine's if left out.
    pub memory: Option<u64>,
}

/// The default of [`BucketOptions::rows`]: row groups of a size that readers like.
pub const BUCKET_ROWS: usize = 1 << 16;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucketed {
    /// Rows.
    pub rows: u64,
    /// Segments.
    pub segments: u64,
    /// Row groups.
    pub buckets: u64,
    /// Files.
    pub files: u64,
}

/// Writes a clustered copy into a directory that is new or empty: rows ascend by the key, and keep their order where it is
/// equal. The directory gets its name when it is complete.
pub fn bucket(options: &BucketOptions, place: &Path, progress: &dyn Progress) -> Result<Bucketed> {
    let taken = || {
        let help = "choose another directory";
        Error::usage("a directory that is new or empty", "one with files", help).at(place.display().to_string())
    };
    if std::fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some()) || place.is_file() {
        return Err(taken());
    }
    let source = fuseval_source::open(SourceOptions {
        paths: options.paths.clone(),
        filter: options.filter.clone(),
        text_columns: options.by.clone(),
        ..SourceOptions::default()
    })?;
    let columns = source.columns();
    let fields = columns.iter().map(|name| Ok(Field::new(name, source.column_type(name)?, true)));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?));
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut out = Output {
        folder: place.with_file_name(format!(".{name}.{}.tmp", std::process::id())),
        schema,
        file: None,
        groups: 0,
        files: 0,
    };
    std::fs::create_dir_all(&out.folder).map_err(|reason| unwritable(&out.folder, &reason))?;
    progress.started(source.row_count(), 1, "columns");
    let clustering = Clustering { memory: memory::for_clustering(options.memory), part: None };
    let done = buckets(&source, &columns, &options.by, options.rows, clustering, |bucket| {
        progress.rows(bucket.source_rows);
        out.write(bucket.columns)
    });
    progress.ended();
    let (rows, buckets, segments) = done?;
    out.end_file()?;
    // An empty directory of this name gives way.
    let _ = std::fs::remove_dir(place);
    std::fs::rename(&out.folder, place).map_err(|reason| unwritable(place, &reason))?;
    Ok(Bucketed { rows, segments, buckets, files: out.files })
}

/// The files being written.
struct Output {
    folder: PathBuf,
    schema: SchemaRef,
    file: Option<ParquetFile>,
    /// Row groups of the file.
    groups: u64,
    files: u64,
}

impl Output {
    fn write(&mut self, columns: Vec<arrow_array::ArrayRef>) -> Result<()> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::defect("the columns of the data", error.to_string()))?;
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let path = self.folder.join(format!("part-{:05}.parquet", self.files));
                self.files += 1;
                none.insert(ParquetFile::create(&path, self.schema.clone())?)
            }
        };
        file.write(&batch)?;
        file.end_row_group()?;
        self.groups += 1;
        if self.groups >= GROUPS { self.end_file() } else { Ok(()) }
    }

    fn end_file(&mut self) -> Result<()> {
        self.groups = 0;
        self.file.take().map_or(Ok(()), ParquetFile::finish)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After the copy got its name there is nothing to remove; otherwise there is nobody to tell.
        self.file = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn unwritable(path: &Path, reason: &std::io::Error) -> Error {
    let help = "check the directory and the free space";
    Error::usage("a directory that can be written", reason.to_string().to_lowercase(), help)
        .at(path.display().to_string())
}
