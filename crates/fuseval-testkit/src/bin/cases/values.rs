//! Values of case files as Arrow arrays, rounded to the stated type.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, LargeListArray, LargeStringArray,
    ListArray, NullArray, StringArray, new_empty_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::parse::string_to_timestamp_nanos;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, TimeUnit};
use serde_json::Value;

type Result<T> = std::result::Result<T, String>;

/// The Arrow type of a name.
pub fn data_type(name: &str) -> Result<DataType> {
    let unknown = || format!("unknown type `{name}`");
    let inside = |open: char, close: char| {
        let (_, rest) = name.split_once(open)?;
        Some(rest.strip_suffix(close)?.trim().to_string())
    };
    let plain = match name {
        "bool" | "boolean" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        "string" => DataType::Utf8,
        "large_string" => DataType::LargeUtf8,
        "string_view" => DataType::Utf8View,
        "date32" => DataType::Date32,
        "null" => DataType::Null,
        _ if name.starts_with("decimal") => {
            let inside = inside('(', ')').ok_or_else(unknown)?;
            let (digits, scale) = inside.split_once(',').ok_or_else(unknown)?;
            let digits: u8 = digits.trim().parse().map_err(|_| unknown())?;
            let scale: i8 = scale.trim().parse().map_err(|_| unknown())?;
            if digits > 38 { DataType::Decimal256(digits, scale) } else { DataType::Decimal128(digits, scale) }
        }
        _ if name.starts_with("dictionary<") => {
            let values = data_type(&inside('<', '>').ok_or_else(unknown)?)?;
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(values))
        }
        _ if name.starts_with("list<") => list(data_type(&inside('<', '>').ok_or_else(unknown)?)?),
        _ if name.starts_with("large_list<") => {
            let items = data_type(&inside('<', '>').ok_or_else(unknown)?)?;
            DataType::LargeList(Arc::new(Field::new_list_field(items, true)))
        }
        _ if name.starts_with("timestamp[") => {
            let inside = inside('[', ']').ok_or_else(unknown)?;
            let (unit, zone) =
                inside.split_once(',').map_or((inside.as_str(), None), |(unit, zone)| (unit, Some(zone)));
            let unit = match unit.trim() {
                "s" => TimeUnit::Second,
                "ms" => TimeUnit::Millisecond,
                "us" => TimeUnit::Microsecond,
                "ns" => TimeUnit::Nanosecond,
                _ => return Err(unknown()),
            };
            DataType::Timestamp(unit, zone.map(|zone| zone.trim().trim_start_matches("tz=").into()))
        }
        _ => return Err(unknown()),
    };
    Ok(plain)
}

fn list(items: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(items, true)))
}

/// The values as an array of a type.
pub fn array(data_type: &DataType, values: &[Value], dictionary: Option<&[Value]>) -> Result<ArrayRef> {
    match data_type {
        DataType::Null => Ok(Arc::new(NullArray::new(values.len()))),
        DataType::Boolean => {
            let values = values.iter().map(|value| match value {
                Value::Null => Ok(None),
                Value::Bool(value) => Ok(Some(*value)),
                other => Err(format!("the boolean {other}")),
            });
            Ok(Arc::new(values.collect::<Result<BooleanArray>>()?))
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let values = values.iter().map(|value| match value {
                Value::Null => Ok(None),
                other => crate::case::number(other).map(Some).ok_or_else(|| format!("the number {other}")),
            });
            cast(&(Arc::new(values.collect::<Result<Float64Array>>()?) as ArrayRef), data_type)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let values = values.iter().map(|value| match value {
                Value::Null => Ok(None),
                Value::String(text) => Ok(Some(text.as_str())),
                other => Err(format!("the text {other}")),
            });
            cast(&(Arc::new(values.collect::<Result<LargeStringArray>>()?) as ArrayRef), data_type)
        }
        DataType::Timestamp(unit, zone) => timestamps(values, *unit, zone.clone()),
        DataType::Dictionary(_, items) => encoded(items, values, dictionary),
        DataType::List(item) | DataType::LargeList(item) => lists(data_type, item.data_type(), values),
        // Integers and decimals, written as numbers or texts.
        _ => {
            let texts = values.iter().map(|value| match value {
                Value::Null => Ok(None),
                Value::String(text) => Ok(Some(text.clone())),
                Value::Number(number) => Ok(Some(number.to_string())),
                other => Err(format!("the number {other}")),
            });
            cast(&(Arc::new(texts.collect::<Result<StringArray>>()?) as ArrayRef), data_type)
        }
    }
}

/// A cast that refuses what does not fit.
pub fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array.as_ref(), to, &options).map_err(|error| error.to_string())
}

/// Instants as texts such as `2024-03-09T23:30:00Z`, or as numbers of the unit.
fn timestamps(values: &[Value], unit: TimeUnit, zone: Option<Arc<str>>) -> Result<ArrayRef> {
    let per_second = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let numbers = values.iter().map(|value| match value {
        Value::Null => Ok(None),
        Value::Number(number) => number.as_i64().map(Some).ok_or_else(|| format!("the instant {number}")),
        Value::String(text) => match (text.parse::<i64>(), string_to_timestamp_nanos(text)) {
            (Ok(number), _) => Ok(Some(number)),
            (_, Ok(nanoseconds)) => Ok(Some(nanoseconds.div_euclid(1_000_000_000 / per_second))),
            (_, Err(error)) => Err(error.to_string()),
        },
        other => Err(format!("the instant {other}")),
    });
    let numbers: arrow_array::Int64Array = numbers.collect::<Result<_>>()?;
    // From the number to the instant nothing is computed, whatever the zone.
    let data = numbers.into_data().into_builder().data_type(DataType::Timestamp(unit, zone));
    data.build().map(arrow_array::make_array).map_err(|error| error.to_string())
}

/// A dictionary in the order given, or in order of appearance.
fn encoded(items: &DataType, values: &[Value], dictionary: Option<&[Value]>) -> Result<ArrayRef> {
    let mut entries: Vec<Value> = dictionary.map(<[Value]>::to_vec).unwrap_or_default();
    let mut keys = Vec::new();
    for value in values {
        if value.is_null() {
            keys.push(None);
            continue;
        }
        let place = match entries.iter().position(|entry| entry == value) {
            Some(place) => place,
            None if dictionary.is_some() => return Err(format!("{value} is not in the dictionary")),
            None => {
                entries.push(value.clone());
                entries.len() - 1
            }
        };
        keys.push(Some(i32::try_from(place).map_err(|error| error.to_string())?));
    }
    let entries = array(items, &entries, None)?;
    DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), entries)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| error.to_string())
}

fn lists(data_type: &DataType, items: &DataType, values: &[Value]) -> Result<ArrayRef> {
    let mut all = Vec::new();
    let mut lengths = Vec::new();
    let mut valid = Vec::new();
    for value in values {
        let list = match value {
            Value::Null => &[],
            Value::Array(list) => list.as_slice(),
            other => return Err(format!("the list {other}")),
        };
        all.extend(list.iter().cloned());
        lengths.push(list.len());
        valid.push(!value.is_null());
    }
    let array = if all.is_empty() { new_empty_array(items) } else { array(items, &all, None)? };
    let nulls = Some(NullBuffer::from(valid));
    match data_type {
        DataType::LargeList(field) => {
            LargeListArray::try_new(field.clone(), OffsetBuffer::from_lengths(lengths), array, nulls)
                .map(|array| Arc::new(array) as ArrayRef)
        }
        _ => {
            let field = Arc::new(Field::new_list_field(items.clone(), true));
            ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), array, nulls)
                .map(|array| Arc::new(array) as ArrayRef)
        }
    }
    .map_err(|error| error.to_string())
}
