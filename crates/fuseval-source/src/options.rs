//! What a source is opened with: paths, the SQL of filter and derived columns, and the types of CSV columns.

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType, TimeUnit};
use fuseval_core::nearest::suggestion;
use fuseval_core::{Error, Result};

/// What to read, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions {
    /// Files, directories and globs, absolute or relative to the working directory; or URLs of files, prefixes and globs.
    pub paths: Vec<String>,
    /// A SQL predicate; rows for which it is false or null are left out.
    pub filter: Option<String>,
    /// Names and SQL of derived columns; each may use the ones before it.
    pub derive: Vec<(String, String)>,
    /// CSV columns that are text whatever they look like: segments, slices, items.
    pub text_columns: Vec<String>,
    /// Columns of CSV, NDJSON and hive partitions with their type: `text`, `int`, `float`, `bool`, `timestamp`, `date`.
    pub types: Vec<(String, String)>,
    /// Columns of lists, all of one length within a row: each place of the lists becomes a row.
    pub explode: Vec<String>,
    /// What must be there.
    pub expect: Expected,
}

/// The files that must be there. Others may be there too, unless their number is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// How many files there are, no more and no fewer.
    pub files: Option<u64>,
    /// Names of partitions or files, or globs for them: at least one file for each.
    pub names: Vec<String>,
}

/// The names of the types in [`SourceOptions::types`].
const TYPES: &[(&str, DataType)] = &[
    ("text", DataType::Utf8),
    ("int", DataType::Int64),
    ("float", DataType::Float64),
    ("bool", DataType::Boolean),
    ("timestamp", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ("date", DataType::Date32),
];

/// The types that columns of text files are declared to have.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeclaredTypes {
    text: HashSet<String>,
    types: HashMap<String, DataType>,
}

impl DeclaredTypes {
    /// Reads the declarations of the options.
    pub(crate) fn new(text_columns: &[String], types: &[(String, String)]) -> Result<Self> {
        let mut declared = HashMap::new();
        for (column, name) in types {
            let Some((_, data_type)) = TYPES.iter().find(|(known, _)| known == name) else {
                let help = suggestion(name, TYPES.iter().map(|(known, _)| *known));
                return Err(
                    Error::usage("the name of a type", format!("`{name}`"), help).at(format!("type of `{column}`"))
                );
            };
            declared.insert(column.clone(), data_type.clone());
        }
        Ok(Self { text: text_columns.iter().cloned().collect(), types: declared })
    }

    /// The declared type of a column; a type by name goes before the text of segments, slices and items.
    pub(crate) fn get(&self, column: &str) -> Option<DataType> {
        let text = || self.text.contains(column).then_some(DataType::Utf8);
        self.types.get(column).cloned().or_else(text)
    }

    /// The type that is given to a column by name.
    pub(crate) fn by_name(&self, column: &str) -> Option<DataType> {
        self.types.get(column).cloned()
    }

    /// The columns whose type is given by name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }
}
