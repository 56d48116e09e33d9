//! Data of cases as files: Parquet with its row groups, CSV where it can carry the values.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::tables::{Generator, Table, is_text};
use crate::values::cast;

type Result<T> = std::result::Result<T, String>;

/// Writes the tables into a folder, with the names they have.
pub fn parquet(folder: &Path, tables: &[Table]) -> Result<()> {
    for table in tables {
        match table {
            Table::Text { name, text, .. } => put(&folder.join(name), text)?,
            Table::Rows { name, schema, groups } => {
                let path = folder.join(named(name, "parquet"));
                row_groups(create(&path)?, schema, groups).map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// Writes rows by formula as one Parquet file.
pub fn generated(folder: &Path, generator: &Generator) -> Result<()> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = create(&folder.join("data.parquet"))?;
    let mut writer =
        ArrowWriter::try_new(file, generator.schema(), Some(properties)).map_err(|error| error.to_string())?;
    for run in generator.runs() {
        writer.write(&run?).map_err(|error| error.to_string())?;
    }
    writer.close().map(|_| ()).map_err(|error| error.to_string())
}

fn named(name: &str, format: &str) -> String {
    let stem = name.strip_suffix(".parquet").unwrap_or(name);
    format!("{stem}.{format}")
}

fn put(path: &Path, text: &str) -> Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| error.to_string())?;
    std::fs::write(path, text).map_err(|error| error.to_string())
}

fn create(path: &Path) -> Result<File> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| error.to_string())?;
    File::create(path).map_err(|error| error.to_string())
}

/// A file with these row groups, also those without rows, which `ArrowWriter` would leave out.
fn row_groups(file: File, schema: &SchemaRef, groups: &[RecordBatch]) -> parquet::errors::Result<()> {
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    add_encoded_arrow_schema_to_metadata(schema, &mut properties);
    let description = ArrowSchemaConverter::new().convert(schema)?;
    let mut writer = SerializedFileWriter::new(file, description.root_schema_ptr(), Arc::new(properties))?;
    let factory = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
    for (place, group) in groups.iter().enumerate() {
        let mut columns = factory.create_column_writers(place)?.into_iter();
        let mut out = writer.next_row_group()?;
        for (field, array) in schema.fields().iter().zip(group.columns()) {
            for (leaf, mut column) in compute_leaves(field, array)?.iter().zip(&mut columns) {
                column.write(leaf)?;
                column.close()?.append_to_row_group(&mut out)?;
            }
        }
        out.close()?;
    }
    writer.close().map(|_| ())
}

/// The tables as CSV files; `None` where CSV cannot carry the values: lists, decimals, empty texts (which would come back as
/// null), integers beyond 64 bits with sign, and a row that is one null.
pub fn csv(folder: &Path, tables: &[Table]) -> Result<Option<()>> {
    for table in tables {
        match table {
            Table::Text { name, text, .. } => put(&folder.join(name), text)?,
            Table::Rows { name, schema, groups } => {
                let Some(text) = csv_text(schema, groups)? else { return Ok(None) };
                put(&folder.join(named(name, "csv")), &text)?;
            }
        }
    }
    Ok(Some(()))
}

fn csv_text(schema: &SchemaRef, groups: &[RecordBatch]) -> Result<Option<String>> {
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    let mut out = names.join(",") + "\n";
    for group in groups {
        let mut columns = Vec::new();
        for column in group.columns() {
            let Some(column) = fields(column)? else { return Ok(None) };
            if group.num_columns() == 1 && column.iter().any(Option::is_none) {
                return Ok(None);
            }
            columns.push(column);
        }
        for row in 0..group.num_rows() {
            let fields: Vec<&str> = columns.iter().map(|column| column[row].as_deref().unwrap_or_default()).collect();
            out.push_str(&fields.join(","));
            out.push('\n');
        }
    }
    Ok(Some(out))
}

/// The fields of a column, null for none.
fn fields(column: &ArrayRef) -> Result<Option<Vec<Option<String>>>> {
    let data_type = column.data_type();
    let fields: Vec<Option<String>> = match data_type {
        DataType::Null => vec![None; column.len()],
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let wide = cast(column, &DataType::Float64)?;
            let written = |value: f64| format!("{value:?}");
            wide.as_primitive::<Float64Type>().iter().map(|value| value.map(written)).collect()
        }
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Date32 => shown(column)?,
        // As the instant in UTC.
        DataType::Timestamp(unit, _) => shown(&cast(column, &DataType::Timestamp(*unit, None))?)?,
        other if is_text(other) => {
            let texts = cast(column, &DataType::LargeUtf8)?;
            let Some(texts) = texts.as_any().downcast_ref::<LargeStringArray>() else { return Ok(None) };
            if texts.iter().flatten().any(str::is_empty) {
                return Ok(None);
            }
            texts.iter().map(|text| text.map(quoted)).collect()
        }
        _ => return Ok(None),
    };
    let beyond = |field: &Option<String>| field.as_deref().is_some_and(|field| field.parse::<i64>().is_err());
    if data_type == &DataType::UInt64 && fields.iter().any(beyond) {
        return Ok(None);
    }
    Ok(Some(fields))
}

fn shown(column: &ArrayRef) -> Result<Vec<Option<String>>> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options).map_err(|error| error.to_string())?;
    Ok((0..column.len()).map(|row| column.is_valid(row).then(|| formatter.value(row).to_string())).collect())
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_string()
    }
}

/// The columns that are text, for CSV files whose texts look like numbers.
pub fn text_columns(tables: &[Table]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for table in tables {
        let Table::Rows { schema, .. } = table else { continue };
        let texts = schema.fields().iter().filter(|field| is_text(field.data_type())).map(|field| field.name().clone());
        columns.extend(texts);
    }
    columns.sort();
    columns.dedup();
    columns
}
