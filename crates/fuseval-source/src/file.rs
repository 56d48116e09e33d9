//! One file of the data set: its columns, their types, and what its metadata tell about its rows.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_schema::{DataType, SchemaRef};
use fuseval_core::source::FileIdentity;
use fuseval_core::{Error, Result};

use crate::content::{Location, guarded};
use crate::format::{Compression, Format, KNOWN};
use crate::options::DeclaredTypes;
use crate::paths::{FoundFile, unreadable};
use crate::{arrow_file, avro, csv, footer, ndjson};

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
    pub(crate) location: Location,
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    pub(crate) header: Arc<Header>,
    /// Hive partitions with their values.
    pub(crate) partitions: Vec<(String, Option<String>)>,
    /// For each row group of a Parquet file the number of the row after its last one.
    pub(crate) row_group_ends: Vec<u64>,
    /// For each stored column of a Parquet file its bytes per row, about.
    pub(crate) widths: Vec<u32>,
    pub(crate) size: u64,
    /// The time of change of a file of this machine.
    modified: Option<SystemTime>,
    /// The hash of a footer, which changes with what it describes.
    footer: Option<String>,
    inferred: OnceLock<Inferred>,
    /// The number of rows, once they have been read to the end.
    counted: OnceLock<u64>,
}

/// For each column of a text file the type that all of its values have, where there is one.
type Inferred = Result<Vec<Result<DataType>>>;

impl File {
    /// Reads what the file's metadata tell: the footer of Parquet, the header of Arrow and Avro, the header line of CSV. The
    /// keys of NDJSON are known when all of it was read. `likely` is a header that the file may share.
    pub(crate) fn open(found: FoundFile, likely: Option<Arc<Header>>) -> Result<Self> {
        let shown = found.shown;
        let Some((format, compression)) = Format::of(&shown) else {
            let help = format!("give files of a supported format: {KNOWN}");
            return Err(Error::data("a file name that ends in its format", format!("`{shown}`"), help));
        };
        let location = found.location;
        let (size, modified) = match &location {
            Location::Local(path) => {
                let metadata = std::fs::metadata(path).map_err(|reason| unreadable(path, &reason))?;
                (metadata.len(), metadata.modified().ok())
            }
            Location::Remote(object) => (object.size(), None),
        };
        let mut summary = footer::Summary::default();
        let inferred = OnceLock::new();
        let mut read = || -> Result<()> {
            match format {
                Format::Parquet => summary = footer::read(&location, size)?,
                Format::Csv => summary.schema = csv::header(&location, compression)?,
                Format::Arrow => summary.schema = arrow_file::header(&location, size)?,
                Format::Avro => summary.schema = avro::header(&location, size)?,
                Format::Ndjson => {
                    let (schema, types) = ndjson::inferred(&location, compression)?;
                    summary.schema = schema;
                    let _ = inferred.set(Ok(types));
                }
            }
            Ok(())
        };
        let damaged = || {
            let found = "bytes that no writer leaves";
            Err(Error::data(format!("a complete {} file", format.name()), found, "write the file again"))
        };
        located(guarded(&mut read, damaged), &shown)?;
        let header = match likely {
            Some(likely) if likely.schema == summary.schema => likely,
            _ => Arc::new(Header::new(summary.schema)),
        };
        Ok(Self {
            shown,
            location,
            format,
            compression,
            header,
            partitions: found.partitions,
            row_group_ends: summary.row_group_ends,
            widths: summary.widths,
            size,
            modified,
            footer: summary.hash,
            inferred,
            counted: OnceLock::new(),
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
            (Place::Stored(position), Format::Csv) => match declared.get(column) {
                Some(data_type) => Ok(data_type),
                None => self.inferred_type(position),
            },
            // Values of JSON have types of their own; segments and items need not be texts.
            (Place::Stored(position), Format::Ndjson) => match declared.by_name(column) {
                Some(data_type) => Ok(data_type),
                None => self.inferred_type(position),
            },
            (Place::Stored(position), _) => Ok(self.header.schema.field(position).data_type().clone()),
        }
    }

    /// The type that all values of a column of text have. The file is read once for all columns, when the first is asked for.
    fn inferred_type(&self, position: usize) -> Result<DataType> {
        let types = self.inferred().as_ref().map_err(Clone::clone)?;
        let data_type = types.get(position).cloned().unwrap_or(Ok(DataType::Null));
        data_type.map_err(|error| error.at(self.shown.clone()))
    }

    fn inferred(&self) -> &Inferred {
        self.inferred.get_or_init(|| {
            let types = csv::inferred_types(&self.location, self.compression);
            located(types, &self.shown).map(|types| types.into_iter().map(Ok).collect())
        })
    }

    /// Whether a column can be read: not if its values were found to be of several types.
    pub(crate) fn has_type(&self, position: usize) -> bool {
        match self.inferred.get() {
            Some(Ok(types)) => types.get(position).is_some_and(Result::is_ok),
            _ => true,
        }
    }

    /// Whether the file must be read to tell the type of a column.
    pub(crate) fn is_unread(&self, column: &str, declared: &DeclaredTypes) -> bool {
        let is_stored = self.header.positions.contains_key(column);
        self.format == Format::Csv && is_stored && self.inferred.get().is_none() && declared.get(column).is_none()
    }

    /// Reads the file to tell the types of its columns, unless that was done.
    pub(crate) fn infer(&self) {
        self.inferred();
    }

    /// The number of rows, where the metadata tell it.
    pub(crate) fn row_count(&self) -> Option<u64> {
        match self.format {
            Format::Parquet => Some(self.row_group_ends.last().copied().unwrap_or(0)),
            _ => None,
        }
    }

    /// Notes the number of rows, when the file has been read to its end.
    pub(crate) fn counted(&self, rows: u64) {
        self.counted.get_or_init(|| rows);
    }

    /// The number of rows, where the metadata tell it or the file has been read.
    pub(crate) fn known_rows(&self) -> Option<u64> {
        self.row_count().or_else(|| self.counted.get().copied())
    }

    /// The row group of a row.
    pub(crate) fn row_group(&self, row: u64) -> Option<u64> {
        let group = self.row_group_ends.partition_point(|end| *end <= row);
        (group < self.row_group_ends.len()).then_some(group as u64)
    }

    /// Refuses a file that was written again after it was opened: its columns and row numbers may be others.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let path = match &self.location {
            Location::Local(path) => path,
            Location::Remote(object) => return object.check_unchanged(),
        };
        let now = std::fs::metadata(path).map_err(|reason| unreadable(path, &reason))?;
        if now.len() == self.size && now.modified().ok() == self.modified {
            return Ok(());
        }
        let expected = "the file as it was when the run began";
        let help = "run again when nothing writes to the data";
        Err(Error::data(expected, "another size or time of change", help).at(self.shown.clone()))
    }

    /// What stays the same as long as the content does.
    pub(crate) fn identity(&self) -> FileIdentity {
        let content = match (&self.footer, &self.location) {
            (Some(hash), _) => format!("footer:{hash}"),
            (None, Location::Remote(object)) => object.version(),
            (None, Location::Local(_)) => modified_tag(self.modified),
        };
        FileIdentity { shown: self.shown.clone(), size: self.size, content }
    }
}

/// A time of change as a tag.
pub(crate) fn modified_tag(modified: Option<SystemTime>) -> String {
    let time = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("modified:{}", time.map_or(0, |time| time.as_nanos()))
}

/// Names the file in an error, unless it is named already.
fn located<T>(result: Result<T>, shown: &str) -> Result<T> {
    result.map_err(|error| {
        let is_named = error.place() == shown || error.problem().contains(&format!("`{shown}`"));
        if is_named { error } else { error.at(shown) }
    })
}
