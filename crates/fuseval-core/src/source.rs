//! Sources: rows in logical order, with the places they came from.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The columns, in the order in which they come back.
    pub requests: Vec<Request>,
    /// Only the rows at these places of the logical order.
    pub places: Range<u64>,
    /// Whether rows come by key, not in logical order.
    pub cluster: Option<Cluster>,
}

impl Scan {
    /// All rows in logical order.
    pub fn new(requests: Vec<Request>) -> Self {
        Self { requests, places: 0..u64::MAX, cluster: None }
    }

    /// Only the rows at some places.
    #[must_use]
    pub fn at(mut self, places: Range<u64>) -> Self {
        self.places = places;
        self
    }
}

impl Default for Scan {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// Rows brought together by key: ascending by the columns of the key, and in logical order where these are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The columns of the key, as places in the requests.
    pub by: Vec<usize>,
    /// The bytes that bringing rows together may hold in memory; the rest goes to temporary files.
    pub memory: u64,
    /// Only the rows that it keeps; all if there is none.
    pub kept: Option<KeyFilter>,
}

/// Which rows to keep, by the columns of their keys.
type Keeps = dyn Fn(&[ArrayRef]) -> Result<BooleanArray> + Send + Sync;

/// Keeps some of the rows by their keys.
#[derive(Clone)]
pub struct KeyFilter(Arc<Keeps>);

impl KeyFilter {
    /// Of a function from the columns of the key to the rows that are kept.
    pub fn new(keeps: impl Fn(&[ArrayRef]) -> Result<BooleanArray> + Send + Sync + 'static) -> Self {
        Self(Arc::new(keeps))
    }

    /// The rows that are kept.
    pub fn kept(&self, key: &[ArrayRef]) -> Result<BooleanArray> {
        (self.0)(key)
    }
}

impl std::fmt::Debug for KeyFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyFilter")
    }
}

impl PartialEq for KeyFilter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for KeyFilter {}

/// Numbers of rows. Mostly they follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbers {
    /// From one number up to another.
    Range(Range<u64>),
    /// These.
    List(Vec<u64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Range(0..0)
    }
}

impl From<Vec<u64>> for Numbers {
    fn from(list: Vec<u64>) -> Self {
        match list.first() {
            // Without an early end, so that the compiler vectorises it.
            Some(first) if list.iter().zip(*first..).fold(true, |all, (number, next)| all & (*number == next)) => {
                Self::Range(*first..*first + list.len() as u64)
            }
            None => Self::default(),
            Some(_) => Self::List(list),
        }
    }
}

impl Numbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(range) => (range.end - range.start) as usize,
            Self::List(list) => list.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a row, 0 where there is no such row.
    pub fn get(&self, row: usize) -> u64 {
        match self {
            Self::Range(range) => range.start + row as u64,
            Self::List(list) => list.get(row).copied().unwrap_or_default(),
        }
    }

    /// The last number.
    pub fn last(&self) -> Option<u64> {
        self.len().checked_sub(1).map(|last| self.get(last))
    }

    /// Each number in turn.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The numbers of some of the rows.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Range(range) => Self::Range(range.start + rows.start as u64..range.start + rows.end as u64),
            Self::List(list) => list.get(rows).unwrap_or_default().to_vec().into(),
        }
    }

    /// The same numbers, each so much higher.
    #[must_use]
    pub fn shifted(self, by: u64) -> Self {
        match self {
            Self::Range(range) => Self::Range(range.start + by..range.end + by),
            Self::List(list) => Self::List(list.into_iter().map(|number| number + by).collect()),
        }
    }

    /// Appends the numbers of further rows.
    pub fn append(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, other) if other.is_empty() => {}
            (this, other) if this.is_empty() => *this = other.clone(),
            (Self::Range(range), Self::Range(next)) if range.end == next.start => range.end = next.end,
            (Self::List(list), other) => list.extend(other.iter()),
            (this, other) => *this = Self::List(this.iter().chain(other.iter()).collect()),
        }
    }

    /// Where the numbers ascend: the rows whose numbers lie in a range.
    fn rows_in(&self, numbers: &Range<u64>) -> Range<usize> {
        match self {
            Self::Range(own) => {
                let bound = |at: u64| (at.clamp(own.start, own.end) - own.start) as usize;
                bound(numbers.start)..bound(numbers.end)
            }
            Self::List(list) => {
                let bound = |at: u64| list.partition_point(|number| *number < at);
                bound(numbers.start)..bound(numbers.end)
            }
        }
    }
}

/// A run of rows, as read and filtered.
#[derive(Debug, Clone)]
pub struct Rows {
    /// One array per request, all of the same length.
    pub columns: Vec<ArrayRef>,
    /// For each row its place in the logical order of all rows, before any filter.
    pub places: Numbers,
    /// In a scan by key, for each row how many rows before it in the logical order pass the filter. Elsewhere rows come in
    /// this order, and whoever reads them can count.
    pub ordinals: Option<Numbers>,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Those of the rows that lie at some places, for rows in logical order.
    #[must_use]
    pub fn at(self, places: &Range<u64>) -> Self {
        let rows = self.places.rows_in(places);
        if rows == (0..self.len()) {
            return self;
        }
        Self {
            columns: self.columns.iter().map(|column| column.slice(rows.start, rows.len())).collect(),
            places: self.places.slice(rows),
            ordinals: None,
        }
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
/// source's filter removes are counted in the places and not delivered.
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

    /// Reads rows once, in runs of any size: in logical order, or by key where the scan asks for it.
    fn scan(&self, scan: &Scan) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send>>;

    /// A place of the logical order in words: file, row group, row (counted from 0).
    fn place(&self, place: u64) -> String;
}

/// The error for a column that was named and that no file has.
pub fn no_such_column(column: &str, columns: &[String]) -> Error {
    Error::usage(
        "a column of the data",
        format!("`{column}`"),
        crate::nearest::suggestion(column, columns.iter().map(String::as_str)),
    )
}
