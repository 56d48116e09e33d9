//! Sources: rows in logical order, with the places they came from.

use arrow_array::ArrayRef;
use arrow_schema::DataType;

use crate::{Error, Result};

/// One column of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A column of the data (or a derived one) in the type common to all files; dictionary-encoded columns come decoded.
    Column(String),
    /// A SQL predicate over the columns: a boolean array in which null counts as false.
    Predicate(String),
}

/// What one pass over the data needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan {
    /// The columns, in the order in which they come back.
    pub requests: Vec<Request>,
}

/// A run of rows, as read and filtered.
#[derive(Debug, Clone)]
pub struct Rows {
    /// One array per request, all of the same length.
    pub columns: Vec<ArrayRef>,
    /// The file, as a place in [`Source::files`].
    pub file: usize,
    /// For each row its number in the file, from 0, before any filter.
    pub row_numbers: Vec<u64>,
    /// The place of the file's first row in the logical order of all rows before any filter.
    pub file_start: u64,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.row_numbers.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.row_numbers.is_empty()
    }
}

/// What tells whether a file is still the one that was read, for whoever resumes a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    /// The file as it is shown to people.
    pub shown: String,
    /// Its size in bytes.
    pub size: u64,
    /// A tag that changes when the content changes.
    pub content: String,
}

/// Where rows come from. Rows come in logical order: files in name order, rows as they stand in the file; rows that the
/// source's filter removes are counted in the row numbers and not delivered.
pub trait Source: Send + Sync {
    /// The files in logical order, as they are shown to people.
    fn files(&self) -> &[String];

    /// The files that are read, in logical order, each with what changes when its content changes.
    fn identities(&self) -> Vec<FileIdentity>;

    /// The names of all columns, derived ones last.
    fn columns(&self) -> Vec<String>;

    /// The type of a column, common to all files. An error names the nearest column, or the files whose types do not fit
    /// together or which lack it.
    fn column_type(&self, column: &str) -> Result<DataType>;

    /// Checks a predicate without reading rows.
    fn check_predicate(&self, sql: &str) -> Result<()>;

    /// The number of rows before the filter, where the files' metadata tell it.
    fn row_count(&self) -> Option<u64>;

    /// The row group of a row, for formats that have them; both from 0.
    fn row_group(&self, file: usize, row_number: u64) -> Option<u64>;

    /// Reads all rows once, in logical order, in runs of any size.
    fn scan(&self, scan: &Scan) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send>>;

    /// The place of a row in words: file, row group, row (counted from 0).
    fn place(&self, file: usize, row_number: u64) -> String {
        let name = self.files().get(file).map_or("data", String::as_str);
        match self.row_group(file, row_number) {
            Some(group) => format!("{name}: row group {group}, row {row_number}"),
            None => format!("{name}: row {row_number}"),
        }
    }
}

/// The error for a column that was named and that no file has.
pub fn no_such_column(column: &str, columns: &[String]) -> Error {
    Error::usage(
        "a column of the data",
        format!("`{column}`"),
        crate::nearest::suggestion(column, columns.iter().map(String::as_str)),
    )
}
