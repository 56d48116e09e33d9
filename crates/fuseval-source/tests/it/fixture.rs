//! Small files, and rows as text.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{Schema, SchemaRef};
use fuseval_core::source::Request;
use fuseval_core::{Result, Scan, Source};
use fuseval_source::{FileSource, SourceOptions, open};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

/// A directory for one test.
pub fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// One row group: named columns, all of them nullable.
pub fn group(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

pub fn int(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

pub fn float(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

pub fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

pub fn optional_text(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Writes a Parquet file with the given row groups.
pub fn parquet(path: impl AsRef<Path>, groups: &[RecordBatch]) {
    parquet_of(path, groups[0].schema(), groups);
}

/// As `parquet`, for files that may have no row group.
pub fn parquet_of(path: impl AsRef<Path>, schema: SchemaRef, groups: &[RecordBatch]) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, None).unwrap();
    for group in groups {
        writer.write(group).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// The schema of a row group.
pub fn schema(group: &RecordBatch) -> Arc<Schema> {
    group.schema()
}

pub fn options(path: impl AsRef<Path>) -> SourceOptions {
    SourceOptions { paths: vec![path.as_ref().to_str().unwrap().to_string()], ..Default::default() }
}

pub fn opened(path: impl AsRef<Path>) -> FileSource {
    open(options(path)).unwrap()
}

/// File names without the directory of the test.
pub fn names(source: &FileSource, directory: &TempDir) -> Vec<String> {
    source.files().iter().map(|file| in_test(file, directory)).collect()
}

/// A text without the directory of the test.
pub fn in_test(text: &str, directory: &TempDir) -> String {
    text.replace(&format!("{}/", directory.path().display()), "").replace(&directory.path().display().to_string(), ".")
}

/// The message of an error without the directory of the test.
pub fn message<T>(result: Result<T>, directory: &TempDir) -> String {
    match result {
        Ok(_) => "no error".to_string(),
        Err(error) => in_test(&error.to_string(), directory),
    }
}

pub fn columns(names: &[&str]) -> Vec<Request> {
    names.iter().map(|name| Request::Column(name.to_string())).collect()
}

pub fn predicate(sql: &str) -> Request {
    Request::Predicate(sql.to_string())
}

/// All rows as `file/row: values`.
pub fn rows(source: &FileSource, requests: Vec<Request>) -> Result<Vec<String>> {
    let format = FormatOptions::default().with_null("null");
    let mut lines = Vec::new();
    for rows in source.scan(&Scan::new(requests))? {
        let rows = rows?;
        for column in &rows.columns {
            assert_eq!(column.len(), rows.len());
        }
        let formatters: Vec<_> =
            rows.columns.iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &format).unwrap()).collect();
        for (row, place) in rows.places.iter().enumerate() {
            let values: Vec<String> = formatters.iter().map(|column| column.value(row).to_string()).collect();
            lines.push(format!("{}: {}", file_and_row(source, place), values.join(" ")));
        }
    }
    Ok(lines)
}

/// A place of the logical order as `file/row`.
pub fn file_and_row(source: &FileSource, place: u64) -> String {
    let text = source.place(place);
    let file = source.files().iter().position(|file| text.starts_with(&format!("{file}: "))).unwrap();
    format!("{file}/{}", text.rsplit(' ').next().unwrap())
}

/// The values of all rows, without their places.
pub fn values(source: &FileSource, names: &[&str]) -> Vec<String> {
    let lines = rows(source, columns(names)).unwrap();
    lines.iter().map(|line| line.split_once(": ").unwrap().1.to_string()).collect()
}
