//! The type that a column has in common over all files. Only widenings that keep every value are applied; the one
//! exception, 64-bit integers beside floats, is checked value by value when rows are read (see `cast`).
//!
//! Consumers see fewer types than files have: text of any kind is `LargeUtf8` (its 64-bit offsets cannot overflow when
//! batches are joined), bytes are `LargeBinary`, decimals are `Decimal128` up to 38 digits, dictionaries are decoded.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

/// The common type of a column's types in different files, if there is a safe one. The order of the types does not matter.
pub(crate) fn common_type<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Option<DataType> {
    let mut plain: Vec<DataType> = Vec::new();
    for data_type in types {
        let data_type = plain_type(data_type);
        if data_type != DataType::Null && !plain.contains(&data_type) {
            plain.push(data_type);
        }
    }
    match plain.as_slice() {
        [] => Some(DataType::Null),
        [only] => Some(only.clone()),
        several => numbers(several).or_else(|| times(several)).or_else(|| lists(several)),
    }
}

/// The type in which values of a type are delivered.
fn plain_type(data_type: &DataType) -> DataType {
    use DataType::{
        Binary, BinaryView, Decimal32, Decimal64, Decimal128, Decimal256, Dictionary, FixedSizeList, LargeBinary,
        LargeList, LargeUtf8, List, Timestamp, Utf8, Utf8View,
    };
    match data_type {
        Dictionary(_, values) => plain_type(values),
        Utf8 | Utf8View => LargeUtf8,
        Binary | BinaryView => LargeBinary,
        Decimal32(digits, scale) | Decimal64(digits, scale) => Decimal128(*digits, *scale),
        Decimal256(digits, scale) if *digits <= 38 => Decimal128(*digits, *scale),
        Timestamp(unit, Some(zone)) if matches!(zone.as_ref(), "Z" | "+00:00" | "Etc/UTC") => {
            Timestamp(*unit, Some("UTC".into()))
        }
        List(item) => List(plain_item(item)),
        LargeList(item) => LargeList(plain_item(item)),
        FixedSizeList(item, length) => FixedSizeList(plain_item(item), *length),
        other => other.clone(),
    }
}

fn plain_item(item: &FieldRef) -> FieldRef {
    list_item(plain_type(item.data_type()))
}

fn list_item(data_type: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(data_type, true))
}

/// What the numeric types of a column need together.
#[derive(Default)]
struct Numbers {
    /// Bits of the widest signed and unsigned integer without the sign bit, and of the widest float's mantissa.
    signed: u32,
    unsigned: u32,
    mantissa: u32,
    /// Digits before and after the point of the widest decimal.
    decimal: Option<(i32, i32)>,
    boolean: bool,
}

/// Booleans, integers, floats and decimals together.
fn numbers(types: &[DataType]) -> Option<DataType> {
    let mut all = Numbers::default();
    for data_type in types {
        match data_type {
            DataType::Boolean => all.boolean = true,
            DataType::Int8 => all.signed = all.signed.max(7),
            DataType::Int16 => all.signed = all.signed.max(15),
            DataType::Int32 => all.signed = all.signed.max(31),
            DataType::Int64 => all.signed = all.signed.max(63),
            DataType::UInt8 => all.unsigned = all.unsigned.max(8),
            DataType::UInt16 => all.unsigned = all.unsigned.max(16),
            DataType::UInt32 => all.unsigned = all.unsigned.max(32),
            DataType::UInt64 => all.unsigned = all.unsigned.max(64),
            DataType::Float16 => all.mantissa = all.mantissa.max(11),
            DataType::Float32 => all.mantissa = all.mantissa.max(24),
            DataType::Float64 => all.mantissa = all.mantissa.max(53),
            DataType::Decimal128(digits, scale) | DataType::Decimal256(digits, scale) => {
                let (digits, scale) = (i32::from(*digits), i32::from(*scale));
                let (whole, fraction) = all.decimal.unwrap_or((0, scale));
                all.decimal = Some((whole.max(digits - scale), fraction.max(scale)));
            }
            _ => return None,
        }
    }
    let bits = all.signed.max(all.unsigned);
    match all {
        Numbers { decimal: Some(_), boolean: true, .. } => None,
        Numbers { decimal: Some(_), mantissa: 1.., .. } => None,
        Numbers { decimal: Some((whole, fraction)), .. } => decimal(whole.max(integer_digits(bits)), fraction.max(0)),
        Numbers { mantissa: mantissa @ 1.., .. } => Some(match bits.max(mantissa) {
            ..=11 => DataType::Float16,
            12..=24 => DataType::Float32,
            _ => DataType::Float64,
        }),
        Numbers { unsigned: 0, signed, .. } => Some(signed_type(signed)),
        Numbers { signed: 0, unsigned, .. } => Some(unsigned_type(unsigned)),
        Numbers { unsigned: 64, .. } => decimal(integer_digits(64), 0),
        Numbers { .. } => Some(signed_type(bits)),
    }
}

fn signed_type(bits: u32) -> DataType {
    match bits {
        ..=7 => DataType::Int8,
        8..=15 => DataType::Int16,
        16..=31 => DataType::Int32,
        _ => DataType::Int64,
    }
}

fn unsigned_type(bits: u32) -> DataType {
    match bits {
        ..=8 => DataType::UInt8,
        9..=16 => DataType::UInt16,
        17..=32 => DataType::UInt32,
        _ => DataType::UInt64,
    }
}

/// The decimal digits that integers of so many bits need.
fn integer_digits(bits: u32) -> i32 {
    match bits {
        0 => 0,
        1..=8 => 3,
        9..=16 => 5,
        17..=32 => 10,
        33..=63 => 19,
        _ => 20,
    }
}

fn decimal(whole: i32, fraction: i32) -> Option<DataType> {
    let scale = i8::try_from(fraction).ok()?;
    match u8::try_from((whole + fraction).max(1)).ok()? {
        digits @ ..=38 => Some(DataType::Decimal128(digits, scale)),
        digits @ 39..=76 => Some(DataType::Decimal256(digits, scale)),
        _ => None,
    }
}

/// Timestamps of one zone in the finest unit; dates together.
fn times(types: &[DataType]) -> Option<DataType> {
    let dates = |data_type: &DataType| matches!(data_type, DataType::Date32 | DataType::Date64);
    if types.iter().all(dates) {
        return Some(DataType::Date64);
    }
    let mut common: Option<(TimeUnit, Option<Arc<str>>)> = None;
    for data_type in types {
        let DataType::Timestamp(unit, zone) = data_type else { return None };
        let finest = match common {
            Some((_, ref known)) if known != zone => return None,
            Some((finest, _)) if finest > *unit => finest,
            _ => *unit,
        };
        common = Some((finest, zone.clone()));
    }
    common.map(|(unit, zone)| DataType::Timestamp(unit, zone))
}

/// Lists of items that have a common type: the same kind of list if it is one, else the kind that holds them all.
fn lists(types: &[DataType]) -> Option<DataType> {
    let mut items = Vec::new();
    for data_type in types {
        match data_type {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                items.push(item.data_type());
            }
            _ => return None,
        }
    }
    let item = list_item(common_type(items)?);
    let length = |data_type: &DataType| match data_type {
        DataType::FixedSizeList(_, length) => Some(*length),
        _ => None,
    };
    let first = types.first().and_then(length);
    if let Some(size) = first.filter(|_| types.iter().all(|data_type| length(data_type) == first)) {
        return Some(DataType::FixedSizeList(item, size));
    }
    if types.iter().any(|data_type| matches!(data_type, DataType::LargeList(_))) {
        return Some(DataType::LargeList(item));
    }
    Some(DataType::List(item))
}

#[cfg(test)]
mod tests;
