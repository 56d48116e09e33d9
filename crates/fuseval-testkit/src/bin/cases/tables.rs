//! The data of a case in memory: files of row groups, or rows made by formulas, a run at a time.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::{take, take_record_batch};

use crate::case::{Column, Content, Data, Generated, Input};
use crate::formula::{Formula, Value};
use crate::values::{array, cast, data_type};

type Result<T> = std::result::Result<T, String>;

/// A file of the data set.
#[derive(Clone)]
pub enum Table {
    /// Row groups of a Parquet file.
    Rows { name: String, schema: SchemaRef, groups: Vec<RecordBatch> },
    /// A file with its text; of a CSV file the types to read it with.
    Text { name: String, text: String, types: Vec<(String, String)> },
}

/// Rows by formula.
pub struct Generator {
    pub rows: u64,
    schema: SchemaRef,
    formulas: Vec<Formula>,
    /// Rows of a run.
    pub run: u64,
}

/// The data of a case.
pub enum Tables {
    Files(Vec<Table>),
    /// Too many rows, or too much text, to hold.
    Large(Generator),
}

/// Above so many rows data are not held.
const MANY_ROWS: u64 = 1_000_000;
/// The bytes of a run.
const RUN_BYTES: u64 = 32 << 20;
const RUN_ROWS: u64 = 1 << 17;

/// Makes the data of a case.
pub fn tables(input: &Input) -> Result<Tables> {
    match &input.data {
        Data::Columns(columns) => {
            let batch = batch(columns)?;
            Ok(Tables::Files(vec![Table::Rows {
                name: "data".to_string(),
                schema: batch.schema(),
                groups: vec![batch],
            }]))
        }
        Data::Files(files) => {
            let files = files.iter().map(|file| match &file.content {
                Content::Parquet { schema, groups } => parquet(&file.name, schema, groups),
                Content::Csv { text, schema } => {
                    Ok(Table::Text { name: file.name.clone(), text: text.clone(), types: schema.clone() })
                }
                Content::Raw { text } => {
                    Ok(Table::Text { name: file.name.clone(), text: text.clone(), types: Vec::new() })
                }
            });
            Ok(Tables::Files(files.collect::<Result<_>>()?))
        }
        Data::Generator { rows, columns } => {
            let generator = Generator::new(*rows, columns)?;
            if generator.rows > MANY_ROWS || generator.run < RUN_ROWS {
                return Ok(Tables::Large(generator));
            }
            let groups = generator.runs().collect::<Result<Vec<_>>>()?;
            Ok(Tables::Files(vec![Table::Rows { name: "data".to_string(), schema: generator.schema.clone(), groups }]))
        }
    }
}

fn batch(columns: &[Column]) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for column in columns {
        let data_type = data_type(&column.data_type)?;
        let array = array(&data_type, &column.values, column.dictionary.as_deref())
            .map_err(|error| format!("column `{}`: {error}", column.name))?;
        fields.push(Field::new(&column.name, data_type, true));
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|error| error.to_string())
}

fn parquet(name: &str, schema: &[(String, String)], groups: &[Vec<Column>]) -> Result<Table> {
    let groups = groups.iter().map(|group| batch(group)).collect::<Result<Vec<_>>>()?;
    let schema = match groups.first() {
        Some(first) => first.schema(),
        None => {
            let fields = schema.iter().map(|(name, word)| Ok(Field::new(name, data_type(word)?, true)));
            Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?))
        }
    };
    // All groups of a file have the columns of the first, in its order.
    let groups = groups.into_iter().map(|group| {
        let columns = schema.fields().iter().map(|field| group.column_by_name(field.name()).cloned());
        let columns = columns.collect::<Option<Vec<_>>>().ok_or("row groups with different columns")?;
        let options = RecordBatchOptions::new().with_row_count(Some(group.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|error| error.to_string())
    });
    let groups = groups.collect::<Result<Vec<_>>>()?;
    Ok(Table::Rows { name: name.to_string(), schema, groups })
}

impl Generator {
    fn new(rows: u64, columns: &[Generated]) -> Result<Self> {
        let mut fields = Vec::new();
        let mut formulas = Vec::new();
        let mut width = 1;
        for column in columns {
            fields.push(Field::new(&column.name, data_type(&column.data_type)?, true));
            let formula = Formula::parse(&column.formula)?;
            width += match formula.value(0)? {
                Value::Text(text) => text.len() as u64,
                _ => 8,
            };
            formulas.push(formula);
        }
        let run = (RUN_BYTES / width).clamp(16, RUN_ROWS);
        Ok(Self { rows, schema: Arc::new(Schema::new(fields)), formulas, run })
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// All rows, a run at a time.
    pub fn runs(&self) -> impl Iterator<Item = Result<RecordBatch>> + '_ {
        let starts = (0..self.rows).step_by(usize::try_from(self.run).unwrap_or(1));
        starts.map(|start| self.rows(start, (start + self.run).min(self.rows)))
    }

    fn rows(&self, from: u64, to: u64) -> Result<RecordBatch> {
        let columns = self.schema.fields().iter().zip(&self.formulas).map(|(field, formula)| {
            generated(formula, field.data_type(), from..to)
                .map_err(|error| format!("column `{}`: {error}", field.name()))
        });
        RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_>>()?).map_err(|error| error.to_string())
    }
}

/// The values of a formula in some rows.
fn generated(formula: &Formula, data_type: &DataType, rows: Range<u64>) -> Result<ArrayRef> {
    let length = usize::try_from(rows.end - rows.start).map_err(|error| error.to_string())?;
    if formula.is_constant() {
        let one = array(data_type, &[json(&formula.value(0)?)], None)?;
        let repeated = UInt32Array::from_value(0, length);
        return take(one.as_ref(), &repeated, None).map_err(|error| error.to_string());
    }
    // Numbers take the short way; the cast rounds to the type, or refuses.
    let wide: ArrayRef = match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            let wrong = |value: Value| format!("the integer {}", value.repr());
            let values = formula.values(rows).map(|value| match value? {
                Value::None => Ok(None),
                value => value.int().and_then(|int| i64::try_from(int).ok()).map(Some).ok_or_else(|| wrong(value)),
            });
            Arc::new(values.collect::<Result<Int64Array>>()?)
        }
        DataType::Float32 | DataType::Float64 => {
            let values = formula.values(rows).map(|value| match value? {
                Value::None => Ok(None),
                value => value.float().map(Some).ok_or_else(|| format!("the float {}", value.repr())),
            });
            Arc::new(values.collect::<Result<Float64Array>>()?)
        }
        _ => {
            let values = formula.values(rows).map(|value| value.map(|value| json(&value)));
            return array(data_type, &values.collect::<Result<Vec<_>>>()?, None);
        }
    };
    cast(&wide, data_type)
}

/// A value of a formula as a case file would write it.
fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::None => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => match i64::try_from(*number) {
            Ok(number) => number.into(),
            Err(_) => number.to_string().into(),
        },
        Value::Float(number) if number.is_finite() => (*number).into(),
        Value::Float(number) => number.to_string().into(),
        Value::Text(text) => text.to_string().into(),
        Value::List(items) => items.iter().map(json).collect::<Vec<_>>().into(),
    }
}

/// How rows are laid out anew; the answer may not depend on it.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    /// In files of so many rows, in row groups of so many rows.
    Cut { file: usize, group: usize },
    /// Last row first.
    Reversed,
}

/// The rows of one table in another layout.
pub fn laid_out(table: &Table, layout: Layout) -> Result<Vec<Table>> {
    let Table::Rows { schema, groups, .. } = table else { return Err("a text is not laid out anew".to_string()) };
    let all = concat_batches(schema, groups).map_err(|error| error.to_string())?;
    let rows = all.num_rows();
    let named = |name: String, groups: Vec<RecordBatch>| Table::Rows { name, schema: schema.clone(), groups };
    match layout {
        Layout::Reversed => {
            let order = UInt32Array::from_iter_values((0..rows as u32).rev());
            let reversed = take_record_batch(&all, &order).map_err(|error| error.to_string())?;
            Ok(vec![named("data".to_string(), vec![reversed])])
        }
        Layout::Cut { file, group } => {
            let starts = (0..rows.max(1)).step_by(file.max(1));
            let files = starts.enumerate().map(|(number, start)| {
                let end = (start + file).min(rows);
                let groups = (start..end).step_by(group.max(1));
                let groups = groups.map(|from| all.slice(from, group.min(end - from))).collect();
                // Names in the order of the rows.
                named(format!("part-{number:05}"), groups)
            });
            Ok(files.collect())
        }
    }
}

/// Whether a type is text of some kind.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
