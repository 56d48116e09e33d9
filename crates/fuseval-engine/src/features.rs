//! Columns as features: each value converted to the element type that the model declares, or refused.
//!
//! A conversion must keep the value: integers must fit, a float must be whole to become an integer, an integer must be exact
//! to become a float. Only float64 (and decimal) to float32 rounds, since that is what a model of float32 means by its input.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericListArray, Int64Array, LargeStringArray, OffsetSizeTrait, UInt64Array,
};
use arrow_schema::DataType;
use fuseval_core::tensor::Values;
use fuseval_core::{Element, Error, Result, Tensor};

use crate::columns::{cast, floats, numbers, type_name};
use crate::plan::FeaturePlace;
use crate::specification::Scalar;

/// Whether a column of this type can feed an input of this element type, if its values fit.
pub(crate) fn is_convertible(data_type: &DataType, element: Element) -> bool {
    let text = matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match element {
        Element::Text => text || *data_type == DataType::Null,
        Element::Bool => data_type.is_integer() || matches!(data_type, DataType::Boolean | DataType::Null),
        _ => data_type.is_numeric() || matches!(data_type, DataType::Boolean | DataType::Null),
    }
}

/// A constant as a tensor of one row.
pub(crate) fn constant(value: &Scalar, element: Element, width: usize) -> Result<Tensor> {
    let wrong = || {
        let found = match value {
            Scalar::Integer(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Bool(truth) => truth.to_string(),
            Scalar::Text(text) => format!("`{text}`"),
        };
        Error::usage(
            format!("a value of type {}", element.name()),
            found,
            "write a value that the input of the model can hold",
        )
    };
    let integer = match value {
        Scalar::Integer(number) => Some(*number),
        Scalar::Number(number) => whole(*number),
        Scalar::Bool(truth) => Some(i64::from(*truth)),
        Scalar::Text(_) => None,
    };
    let number = match value {
        Scalar::Integer(number) => Some(*number as f64),
        Scalar::Number(number) => Some(*number),
        Scalar::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Scalar::Text(_) => None,
    };
    let values = match (element, value) {
        (Element::Text, Scalar::Text(text)) => Values::Text(vec![text.clone(); width]),
        (Element::Bool, Scalar::Bool(truth)) => Values::Bool(vec![*truth; width]),
        (Element::F32, _) => {
            let single = number
                .map(|number| (number, number as f32))
                .filter(|(number, single)| single.is_finite() || !number.is_finite());
            Values::F32(vec![single.ok_or_else(wrong)?.1; width])
        }
        (Element::F64, _) => Values::F64(vec![number.ok_or_else(wrong)?; width]),
        (Element::I64, _) => Values::I64(vec![integer.ok_or_else(wrong)?; width]),
        (Element::I32, _) => {
            let integer = integer.and_then(|number| i32::try_from(number).ok());
            Values::I32(vec![integer.ok_or_else(wrong)?; width])
        }
        _ => return Err(wrong()),
    };
    Tensor::new(values, width)
}

/// The integer that a float is, if it is one.
fn whole(number: f64) -> Option<i64> {
    const TWO_63: f64 = (1u64 << 63) as f64;
    (number.fract() == 0.0 && (-TWO_63..TWO_63).contains(&number)).then_some(number as i64)
}

/// A value that cannot be converted, with its row.
pub(crate) struct Unfit {
    pub(crate) row: usize,
    pub(crate) error: Error,
}

/// A column of floats without nulls as a float64 tensor, which is what a score column is; `None` for anything else.
fn plain_floats(array: &ArrayRef, feature: &FeaturePlace) -> std::result::Result<Option<(Tensor, u64)>, Unfit> {
    if feature.element != Element::F64 || feature.width != 1 || feature.fill_null.is_some() {
        return Ok(None);
    }
    let whole = |error: Error| Unfit { row: 0, error };
    let floats = match array.data_type() {
        DataType::Float32 | DataType::Float64 => floats(array).map_err(whole)?,
        _ => None,
    };
    let Some(values) = floats else { return Ok(None) };
    let missing = values.iter().filter(|value| value.is_nan()).count() as u64;
    Ok(Some((Tensor::new(Values::F64(values), 1).map_err(whole)?, missing)))
}

/// The values of a feature as a tensor of its own, and how many rows had a null or NaN in it. An error names the row.
pub(crate) fn values(array: &ArrayRef, feature: &FeaturePlace) -> std::result::Result<(Tensor, u64), Unfit> {
    if let Some(plain) = plain_floats(array, feature)? {
        return Ok(plain);
    }
    let (values, width) = flat(array, feature)?;
    let at = |place: usize, error: Error| Unfit { row: place / width.max(1), error };
    let null = feature.fill_null.as_ref().map(|value| constant(value, feature.element, 1)).transpose();
    let null = null.map_err(|error| at(0, error))?;
    let missing = |place: usize| {
        at(
            place,
            Error::data(
                format!("a value of type {} in feature `{}`", feature.element.name(), feature.name),
                "null",
                format!(
                    "give a value for nulls: `model: {{fill_null: {{{}: VALUE}}}}`, or filter the rows out",
                    feature.name
                ),
            ),
        )
    };
    let unfit = |place: usize, found: String| {
        at(
            place,
            Error::data(
                format!("a value of type {} in feature `{}`", feature.element.name(), feature.name),
                found,
                "change the value, or map the input to another column",
            ),
        )
    };
    let whole_error = |error: Error| at(0, error);
    let mut nulls = Nulls { width: width.max(1), ..Nulls::default() };
    let converted = match feature.element {
        Element::F32 if *values.data_type() == DataType::Float32 => {
            let fill = null.as_ref().map(first_f32).unwrap_or(f32::NAN);
            let array = values.as_primitive::<Float32Type>();
            let mut out = Vec::with_capacity(array.len());
            for (place, value) in array.iter().enumerate() {
                let value = value.unwrap_or(f32::NAN);
                nulls.note(place, value.is_nan());
                out.push(if value.is_nan() { fill } else { value });
            }
            Values::F32(out)
        }
        Element::F32 | Element::F64 => {
            let fill = null.as_ref().map(first_number).unwrap_or(f64::NAN);
            let integer = values.data_type().is_integer();
            let exact = if feature.element == Element::F32 { 1i64 << 24 } else { 1 << 53 };
            let mut out = Vec::with_capacity(values.len());
            for (place, value) in numbers(&values).map_err(whole_error)?.into_iter().enumerate() {
                let value = value.unwrap_or(f64::NAN);
                nulls.note(place, value.is_nan());
                let value = if value.is_nan() { fill } else { value };
                // Above these sizes neighbouring integers share one float; whether this one is exact is looked at closely.
                if integer && value.abs() >= exact as f64 && !integer_survives(&values, place, feature.element) {
                    return Err(unfit(
                        place,
                        format!("the integer {} which it cannot hold exactly", integer_text(&values, place)),
                    ));
                }
                if feature.element == Element::F32 && value.is_finite() && (value as f32).is_infinite() {
                    return Err(unfit(place, value.to_string()));
                }
                out.push(value);
            }
            if feature.element == Element::F32 {
                Values::F32(out.into_iter().map(|value| value as f32).collect())
            } else {
                Values::F64(out)
            }
        }
        Element::I32 | Element::I64 => {
            let fill = null.as_ref().map(first_integer);
            let least = if feature.element == Element::I32 { i64::from(i32::MIN) } else { i64::MIN };
            let most = if feature.element == Element::I32 { i64::from(i32::MAX) } else { i64::MAX };
            let mut out = Vec::with_capacity(values.len());
            for (place, value) in integers(&values).map_err(whole_error)?.into_iter().enumerate() {
                let value = match value {
                    Whole::Null => {
                        nulls.note(place, true);
                        fill.ok_or_else(|| missing(place))?
                    }
                    Whole::Value(value) if (least..=most).contains(&value) => value,
                    Whole::Value(value) => {
                        return Err(unfit(place, format!("{value} of type {}", type_name(values.data_type()))));
                    }
                    Whole::Unfit(found) => {
                        return Err(unfit(place, format!("{found} of type {}", type_name(values.data_type()))));
                    }
                };
                out.push(value);
            }
            if feature.element == Element::I32 {
                Values::I32(out.into_iter().map(|value| value as i32).collect())
            } else {
                Values::I64(out)
            }
        }
        Element::Bool => {
            let fill = null.as_ref().map(first_integer);
            let mut out = Vec::with_capacity(values.len());
            for (place, value) in integers(&values).map_err(whole_error)?.into_iter().enumerate() {
                out.push(match value {
                    Whole::Null => {
                        nulls.note(place, true);
                        fill.ok_or_else(|| missing(place))? == 1
                    }
                    Whole::Value(value @ (0 | 1)) => value == 1,
                    Whole::Value(value) => return Err(unfit(place, value.to_string())),
                    Whole::Unfit(found) => return Err(unfit(place, found)),
                });
            }
            Values::Bool(out)
        }
        Element::Text => {
            let fill = null.as_ref().and_then(first_text);
            let texts = cast(&values, &DataType::LargeUtf8).map_err(whole_error)?;
            let texts: &LargeStringArray = texts.as_string();
            let mut out = Vec::with_capacity(texts.len());
            for (place, text) in texts.iter().enumerate() {
                nulls.note(place, text.is_none());
                out.push(text.or(fill).ok_or_else(|| missing(place))?.to_string());
            }
            Values::Text(out)
        }
    };
    let tensor = Tensor::new(converted, feature.width).map_err(whole_error)?;
    Ok((tensor, nulls.rows))
}

/// Counts rows with a missing value; the places of a row follow each other.
#[derive(Default)]
struct Nulls {
    width: usize,
    last_row: Option<usize>,
    rows: u64,
}

impl Nulls {
    fn note(&mut self, place: usize, missing: bool) {
        let row = place / self.width;
        if missing && self.last_row != Some(row) {
            self.last_row = Some(row);
            self.rows += 1;
        }
    }
}

/// The single values of a column, `width` to a row: a list column laid flat. A list that is null is so many nulls.
fn flat(array: &ArrayRef, feature: &FeaturePlace) -> std::result::Result<(ArrayRef, usize), Unfit> {
    let width = feature.width;
    let (values, ranges): (&ArrayRef, Vec<Range<usize>>) = match array.data_type() {
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let start = |row| usize::try_from(list.value_offset(row)).unwrap_or_default();
            let length = usize::try_from(list.value_length()).unwrap_or_default();
            (list.values(), (0..list.len()).map(|row| start(row)..start(row) + length).collect())
        }
        DataType::List(_) => (array.as_list::<i32>().values(), ranges(array.as_list::<i32>())),
        DataType::LargeList(_) => (array.as_list::<i64>().values(), ranges(array.as_list::<i64>())),
        _ => return Ok((array.clone(), 1)),
    };
    let mut places: Vec<Option<u64>> = Vec::with_capacity(array.len() * width);
    for (row, range) in ranges.into_iter().enumerate() {
        if array.is_null(row) {
            places.extend(std::iter::repeat_n(None, width));
        } else if range.len() == width {
            places.extend(range.map(|place| Some(place as u64)));
        } else {
            let expected = format!("{width} values in the list of feature `{}`", feature.name);
            let error =
                Error::data(expected, range.len().to_string(), "store lists of the length that the model takes");
            return Err(Unfit { row, error });
        }
    }
    let values = arrow_select::take::take(values, &UInt64Array::from(places), None)
        .map_err(|error| Unfit { row: 0, error: Error::defect("the values of lists", error.to_string()) })?;
    Ok((values, width))
}

fn ranges<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Vec<Range<usize>> {
    let borders = list.value_offsets().windows(2);
    borders
        .map(|pair| pair.first().map_or(0, |from| from.as_usize())..pair.last().map_or(0, |to| to.as_usize()))
        .collect()
}

/// A value on its way to an integer.
enum Whole {
    Null,
    Value(i64),
    Unfit(String),
}

fn integers(array: &ArrayRef) -> Result<Vec<Whole>> {
    let data_type = array.data_type();
    if *data_type == DataType::Boolean {
        let array: &BooleanArray = array.as_boolean();
        return Ok(array
            .iter()
            .map(|value| value.map_or(Whole::Null, |value| Whole::Value(i64::from(value))))
            .collect());
    }
    if data_type.is_integer() && *data_type != DataType::UInt64 {
        let array = cast(array, &DataType::Int64)?;
        let array: &Int64Array = array.as_primitive::<Int64Type>();
        return Ok(array.iter().map(|value| value.map_or(Whole::Null, Whole::Value)).collect());
    }
    if *data_type == DataType::UInt64 {
        let texts = cast(array, &DataType::LargeUtf8)?;
        let texts: &LargeStringArray = texts.as_string();
        let parse = |text: &str| text.parse().map_or_else(|_| Whole::Unfit(text.to_string()), Whole::Value);
        return Ok(texts.iter().map(|text| text.map_or(Whole::Null, parse)).collect());
    }
    // A NaN in a column of floats stands for a missing value, as null does.
    let convert = |value: Option<f64>| match value {
        None => Whole::Null,
        Some(value) if value.is_nan() => Whole::Null,
        Some(value) => whole(value).map_or_else(|| Whole::Unfit(value.to_string()), Whole::Value),
    };
    Ok(numbers(array)?.into_iter().map(convert).collect())
}

fn integer_text(array: &ArrayRef, place: usize) -> String {
    crate::columns::KeyColumn::new(array)
        .map_or_else(|_| String::new(), |keys| keys.with_text(place, |text| text.unwrap_or_default().to_string()))
}

/// Whether the integer at a place is the same after it has become a float.
fn integer_survives(array: &ArrayRef, place: usize, element: Element) -> bool {
    let Ok(value) = integer_text(array, place).parse::<i128>() else { return true };
    match element {
        Element::F32 => (value as f32) as i128 == value,
        _ => (value as f64) as i128 == value,
    }
}

fn first_f32(tensor: &Tensor) -> f32 {
    match tensor.values() {
        Values::F32(values) => values.first().copied().unwrap_or(f32::NAN),
        _ => f32::NAN,
    }
}

fn first_number(tensor: &Tensor) -> f64 {
    match tensor.values() {
        Values::F32(values) => values.first().copied().map_or(f64::NAN, f64::from),
        Values::F64(values) => values.first().copied().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

fn first_integer(tensor: &Tensor) -> i64 {
    match tensor.values() {
        Values::I32(values) => values.first().copied().map_or(0, i64::from),
        Values::I64(values) => values.first().copied().unwrap_or(0),
        Values::Bool(values) => values.first().copied().map_or(0, i64::from),
        _ => 0,
    }
}

fn first_text(tensor: &Tensor) -> Option<&str> {
    match tensor.values() {
        Values::Text(values) => values.first().map(String::as_str),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
