//! The files as one table: the union of their columns by name, and one type for each column that is asked for.
//!
//! A column that nobody asks for may be missing or have another type in some files; one that is asked for may not.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::DataType;
use fuseval_core::source::no_such_column;
use fuseval_core::{Error, Result};

use crate::explode::item_type;
use crate::file::{File, Header, Place};
use crate::format::Format;
use crate::options::DeclaredTypes;
use crate::parallel::in_parallel;
use crate::paths::FoundFile;
use crate::types::common_type;

/// The files of the data set, in logical order.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) files: Vec<File>,
    pub(crate) declared: DeclaredTypes,
    /// Columns of lists whose items become rows.
    pub(crate) explode: Vec<String>,
    names: Vec<String>,
    known: HashSet<String>,
}

/// The first file that has a column with a type of its own.
struct Witness<'a> {
    file: &'a File,
    data_type: DataType,
}

impl Table {
    /// Reads the metadata of the files.
    pub(crate) fn open(found: &[FoundFile], declared: DeclaredTypes, explode: &[String]) -> Result<Self> {
        let likely: Mutex<Option<Arc<Header>>> = Mutex::default();
        let mut files = in_parallel(found, |found| {
            let header = likely.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let file = File::open(found.clone(), header)?;
            *likely.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&file.header));
            Ok(file)
        })?;
        share_headers(&mut files);
        let names = union_of_names(&files);
        let known: HashSet<String> = names.iter().cloned().collect();
        if let Some(column) = declared.named().filter(|column| !known.contains(*column)).min() {
            return Err(no_such_column(column, &names).at("types"));
        }
        let table = Self { files, declared, explode: explode.to_vec(), names, known };
        // A column that is missing, or that holds no lists, is an error even if nobody asks for it: it decides what a row is.
        table.explode.iter().try_for_each(|column| table.column_type(column).map(|_| ()))?;
        Ok(table)
    }

    /// The names of all columns of all files, in order of appearance; hive partitions last.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether any file has the column.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.known.contains(column)
    }

    /// The type of a column in all files, of the items for a column of lists whose items become rows.
    pub(crate) fn column_type(&self, column: &str) -> Result<DataType> {
        let stored = self.stored_type(column)?;
        if self.explode.iter().any(|exploded| exploded == column) { item_type(column, &stored) } else { Ok(stored) }
    }

    /// The type in which a column is read from all files.
    pub(crate) fn stored_type(&self, column: &str) -> Result<DataType> {
        // Files whose values must be read for their types are read at the same time, not one after the other.
        let unread: Vec<&File> = self.files.iter().filter(|file| file.is_unread(column, &self.declared)).collect();
        in_parallel(&unread, |file| {
            file.infer();
            Ok(())
        })?;
        let mut distinct: Vec<Witness<'_>> = Vec::new();
        let mut missing = None;
        let mut previous: Option<&File> = None;
        for file in &self.files {
            let same_columns = previous.is_some_and(|known| Arc::ptr_eq(&known.header, &file.header));
            previous = Some(file);
            let Some(place) = file.place(column)? else {
                missing = missing.or(Some(file));
                continue;
            };
            // Most data sets have one schema; types of columns of text belong to the file, not to the header.
            if same_columns && !file.format.is_text() && matches!(place, Place::Stored(_)) {
                continue;
            }
            let data_type = file.data_type(column, place, &self.declared)?;
            if !distinct.iter().any(|witness| witness.data_type == data_type) {
                distinct.push(Witness { file, data_type });
            }
        }
        match (distinct.first(), missing) {
            (None, _) => Err(no_such_column(column, &self.names)),
            (Some(has), Some(lacks)) => {
                let expected = format!("the column `{column}`, as in {}", has.file.shown);
                let help = "add the column to the file, or leave the file out";
                Err(Error::data(expected, "no such column", help).at(lacks.shown.clone()))
            }
            (Some(_), None) => common_type(distinct.iter().map(|witness| &witness.data_type))
                .ok_or_else(|| no_common_type(column, &distinct)),
        }
    }
}

/// Names both files and both types of the first two that do not fit together.
fn no_common_type(column: &str, distinct: &[Witness<'_>]) -> Error {
    let pairs =
        distinct.iter().enumerate().flat_map(|(i, one)| distinct.iter().skip(i + 1).map(move |other| (one, other)));
    let unfit = pairs.clone().find(|(one, other)| common_type([&one.data_type, &other.data_type]).is_none());
    let Some((one, other)) = unfit.or_else(|| pairs.last()) else {
        return Error::defect(format!("a type of column `{column}`"), "none");
    };
    let found = format!("{} in {} and {} in {}", one.data_type, one.file.shown, other.data_type, other.file.shown);
    let has = |format: Format| distinct.iter().any(|witness| witness.file.format == format);
    let help = match [Format::Csv, Format::Ndjson].into_iter().find(|format| has(*format)) {
        Some(text) => {
            let text = text.name();
            format!("declare the type of `{column}` for the {text} files, or write the files with the same type")
        }
        None => "write the files with the same type".to_string(),
    };
    Error::data("types that have a safe common type", found, help).at(format!("column `{column}`"))
}

/// Files in a row with equal columns share one header.
fn share_headers(files: &mut [File]) {
    let mut previous: Option<Arc<Header>> = None;
    for file in files {
        match &previous {
            Some(known) if known.schema == file.header.schema => file.header = Arc::clone(known),
            _ => previous = Some(Arc::clone(&file.header)),
        }
    }
}

fn union_of_names(files: &[File]) -> Vec<String> {
    let mut names = Vec::new();
    let mut known = HashSet::new();
    let mut previous: Option<&File> = None;
    for file in files {
        if !previous.is_some_and(|known| Arc::ptr_eq(&known.header, &file.header)) {
            let stored = file.header.schema.fields().iter().map(|field| field.name());
            names.extend(stored.filter(|name| known.insert(name.to_string())).cloned());
        }
        previous = Some(file);
    }
    let keys = files.iter().flat_map(|file| file.partitions.iter().map(|(key, _)| key));
    names.extend(keys.filter(|name| known.insert(name.to_string())).cloned());
    names
}
