//! One file of the data set: its columns, their types, and what its metadata tell about its rows.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use arrow_schema::{DataType, SchemaRef};
use fuseval_core::nearest::listed;
use fuseval_core::{Error, Result};

use crate::options::DeclaredTypes;
use crate::paths::{FoundFile, unreadable};
use crate::{csv, footer};

/// The formats that are read, told by the end of the file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
}

impl Format {
    /// The format of a file name, in any case.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_string_lossy().to_lowercase().as_str() {
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The columns that are stored in a file; files with equal columns share one header.
#[derive(Debug, PartialEq)]
pub(crate) struct Header {
    /// Names and types; the types of CSV columns are all text here.
    pub(crate) schema: SchemaRef,
    positions: HashMap<String, usize>,
    doubled: HashSet<String>,
}

impl Header {
    pub(crate) fn new(schema: SchemaRef) -> Self {
        let mut positions = HashMap::new();
        let mut doubled = HashSet::new();
        for (position, field) in schema.fields().iter().enumerate() {
            if positions.insert(field.name().clone(), position).is_some() {
                doubled.insert(field.name().clone());
            }
        }
        Self { schema, positions, doubled }
    }
}

/// Where a file has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A stored column, by position.
    Stored(usize),
    /// A hive partition, by position.
    Partition(usize),
}

/// A file of the data set.
#[derive(Debug)]
pub(crate) struct File {
    /// The path as shown to people.
    pub(crate) shown: String,
    /// The absolute path.
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) header: Arc<Header>,
    /// Hive partitions with their values.
    pub(crate) partitions: Vec<(String, Option<String>)>,
    /// For each row group of a Parquet file the number of the row after its last one.
    pub(crate) row_group_ends: Vec<u64>,
    /// For each stored column of a Parquet file its bytes per row, about.
    pub(crate) widths: Vec<u32>,
    pub(crate) size: u64,
    modified: Option<SystemTime>,
    inferred: OnceLock<Result<Vec<DataType>>>,
}

impl File {
    /// Reads what the file's metadata tell: the footer of Parquet, the header line of CSV.
    pub(crate) fn open(found: FoundFile, previous: Option<&Self>) -> Result<Self> {
        let shown = found.shown;
        let Some(format) = Format::of(&found.path) else {
            let help = format!("give files of a supported format: {}", listed(&["parquet", "csv"]));
            return Err(Error::data("a file name that ends in its format", format!("`{shown}`"), help));
        };
        let metadata = std::fs::metadata(&found.path).map_err(|reason| unreadable(&found.path, &reason))?;
        let summary = match format {
            Format::Parquet => footer::read(&found.path).map_err(|error| error.at(shown.clone()))?,
            Format::Csv => footer::Summary {
                schema: csv::header(&found.path).map_err(|error| error.at(shown.clone()))?,
                ..Default::default()
            },
        };
        let header = match previous {
            Some(previous) if previous.header.schema == summary.schema => Arc::clone(&previous.header),
            _ => Arc::new(Header::new(summary.schema)),
        };
        Ok(Self {
            shown,
            path: found.canonical,
            format,
            header,
            partitions: found.partitions,
            row_group_ends: summary.row_group_ends,
            widths: summary.widths,
            size: metadata.len(),
            modified: metadata.modified().ok(),
            inferred: OnceLock::new(),
        })
    }

    /// Where the file has a column. A stored column goes before a hive partition of the same name: what stands in the row
    /// is the nearer witness.
    pub(crate) fn place(&self, column: &str) -> Result<Option<Place>> {
        if self.header.doubled.contains(column) {
            let help = "rename one of them";
            let error = Error::data(format!("one column `{column}`"), "more than one of that name", help);
            return Err(error.at(self.shown.clone()));
        }
        if let Some(position) = self.header.positions.get(column) {
            return Ok(Some(Place::Stored(*position)));
        }
        Ok(self.partitions.iter().position(|(key, _)| key == column).map(Place::Partition))
    }

    /// The type of the column at a place, as the file has it.
    pub(crate) fn data_type(&self, column: &str, place: Place, declared: &DeclaredTypes) -> Result<DataType> {
        match (place, self.format) {
            (Place::Partition(_), _) => Ok(declared.get(column).unwrap_or(DataType::Utf8)),
            (Place::Stored(position), Format::Parquet) => Ok(self.header.schema.field(position).data_type().clone()),
            (Place::Stored(position), Format::Csv) => match declared.get(column) {
                Some(data_type) => Ok(data_type),
                None => self.inferred_type(position),
            },
        }
    }

    /// The type that all values of a CSV column have. The file is read once for all columns, when the first is asked for.
    fn inferred_type(&self, position: usize) -> Result<DataType> {
        let inferred =
            self.inferred.get_or_init(|| csv::inferred_types(&self.path).map_err(|error| error.at(self.shown.clone())));
        let types = inferred.as_ref().map_err(Clone::clone)?;
        Ok(types.get(position).cloned().unwrap_or(DataType::Null))
    }

    /// The number of rows, where the metadata tell it.
    pub(crate) fn row_count(&self) -> Option<u64> {
        match self.format {
            Format::Parquet => Some(self.row_group_ends.last().copied().unwrap_or(0)),
            Format::Csv => None,
        }
    }

    /// The row group of a row.
    pub(crate) fn row_group(&self, row: u64) -> Option<u64> {
        let group = self.row_group_ends.partition_point(|end| *end <= row);
        (group < self.row_group_ends.len()).then_some(group as u64)
    }

    /// Refuses a file that was written again after it was opened: its columns and row numbers may be others.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let now = std::fs::metadata(&self.path).map_err(|reason| unreadable(&self.path, &reason))?;
        if now.len() == self.size && now.modified().ok() == self.modified {
            return Ok(());
        }
        let expected = "the file as it was when the run began";
        let help = "run again when nothing writes to the data";
        Err(Error::data(expected, "another size or time of change", help).at(self.shown.clone()))
    }
}
