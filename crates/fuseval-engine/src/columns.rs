//! Arrow arrays as the engine uses them: numbers for labels and weights, canonical texts for keys.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, Int64Array, LargeStringArray, UInt64Array};
use arrow_schema::DataType;
use fuseval_core::{Error, Result};

/// Whether labels and weights can have this type.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Boolean | DataType::Null)
}

/// Whether keys can have this type.
pub(crate) fn is_scalar(data_type: &DataType) -> bool {
    !data_type.is_nested()
        && !matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_))
}

/// The values as floats, null as `None`: integers and decimals become the nearest float, truth values 0 and 1.
pub(crate) fn numbers(array: &ArrayRef) -> Result<Vec<Option<f64>>> {
    let decimal = matches!(
        array.data_type(),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..)
    );
    if decimal {
        // By way of their digits: dividing by a power of ten would round twice.
        let digits = cast(array, &DataType::LargeUtf8)?;
        let digits: &LargeStringArray = digits.as_string();
        return Ok(digits.iter().map(|text| text.and_then(|text| text.parse().ok())).collect());
    }
    let floats = cast(array, &DataType::Float64)?;
    Ok(floats.as_primitive::<Float64Type>().iter().collect())
}

/// The values as floats where none is null; `None` where one is, and for decimals, which go by way of their digits.
pub(crate) fn floats(array: &ArrayRef) -> Result<Option<Vec<f64>>> {
    let plain = array.data_type().is_integer() || array.data_type().is_floating();
    if array.null_count() > 0 || !plain {
        return Ok(None);
    }
    Ok(Some(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().values().to_vec()))
}

/// The name of a type in messages: the README's words where it has one.
pub(crate) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_string(),
        other => other.to_string().to_lowercase(),
    }
}

/// A cast that never turns a value into null.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
    arrow_cast::cast_with_options(array, to, &options).map_err(|error| {
        Error::data(
            format!("values that fit {to}"),
            format!("{} ({error})", type_name(array.data_type())),
            "change the column or its type",
        )
    })
}

/// The canonical texts of a key column: text as it is, integers in decimal, floats with the fewest digits that name them
/// (7, not 7.0, so that they agree with integers), everything else as Arrow prints it.
pub(crate) enum KeyColumn {
    Text(LargeStringArray),
    Signed(Int64Array),
    Unsigned(UInt64Array),
    Single(Float32Array),
    Double(Float64Array),
    /// A column without a type holds nothing but so many nulls.
    Null(usize),
}

impl KeyColumn {
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Self::Text(cast(array, &DataType::LargeUtf8)?.as_string().clone())
            }
            other if other.is_signed_integer() => {
                Self::Signed(cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
            }
            other if other.is_unsigned_integer() => {
                Self::Unsigned(cast(array, &DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
            }
            DataType::Float16 | DataType::Float32 => {
                Self::Single(cast(array, &DataType::Float32)?.as_primitive::<Float32Type>().clone())
            }
            DataType::Float64 => Self::Double(array.as_primitive::<Float64Type>().clone()),
            DataType::Null => Self::Null(array.len()),
            _ => Self::Text(cast(array, &DataType::LargeUtf8)?.as_string().clone()),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Text(array) => array.is_null(row),
            Self::Signed(array) => array.is_null(row),
            Self::Unsigned(array) => array.is_null(row),
            Self::Single(array) => array.is_null(row),
            Self::Double(array) => array.is_null(row),
            Self::Null(_) => true,
        }
    }

    /// Calls `f` with the canonical text of a row, or with `None` for null.
    pub(crate) fn with_text<T>(&self, row: usize, f: impl FnOnce(Option<&str>) -> T) -> T {
        if self.is_null(row) {
            return f(None);
        }
        match self {
            Self::Null(_) => f(None),
            Self::Text(array) => f(Some(array.value(row))),
            Self::Signed(array) => {
                let value = array.value(row);
                with_digits(value.unsigned_abs(), value < 0, f)
            }
            Self::Unsigned(array) => with_digits(array.value(row), false, f),
            // Adding zero turns −0 into 0.
            Self::Single(array) => f(Some(&(array.value(row) + 0.0).to_string())),
            Self::Double(array) => f(Some(&(array.value(row) + 0.0).to_string())),
        }
    }

    /// Calls `f` with each row, from the second on, whose key differs from that of the row before, in order.
    pub(crate) fn each_change(&self, f: impl FnMut(usize)) {
        fn changes<T: PartialEq>(values: &[T], mut f: impl FnMut(usize)) {
            for (row, pair) in (1..).zip(values.windows(2)) {
                if pair.first() != pair.last() {
                    f(row);
                }
            }
        }
        match self {
            Self::Signed(array) if array.null_count() == 0 => changes(array.values(), f),
            Self::Unsigned(array) if array.null_count() == 0 => changes(array.values(), f),
            _ => (1..self.len()).filter(|row| !self.same(row - 1, *row)).for_each(f),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(array) => array.len(),
            Self::Signed(array) => array.len(),
            Self::Unsigned(array) => array.len(),
            Self::Single(array) => array.len(),
            Self::Double(array) => array.len(),
            Self::Null(rows) => *rows,
        }
    }

    /// Whether two rows hold the same key.
    pub(crate) fn same(&self, a: usize, b: usize) -> bool {
        if self.is_null(a) || self.is_null(b) {
            return self.is_null(a) && self.is_null(b);
        }
        match self {
            Self::Text(array) => array.value(a) == array.value(b),
            Self::Signed(array) => array.value(a) == array.value(b),
            Self::Unsigned(array) => array.value(a) == array.value(b),
            _ => self.with_text(a, |a| self.with_text(b, |b| a == b)),
        }
    }
}

/// Calls `f` with an integer in decimal, without a string of its own: there may be millions of keys.
fn with_digits<T>(magnitude: u64, negative: bool, f: impl FnOnce(Option<&str>) -> T) -> T {
    // 20 digits and a sign.
    let mut text = [0u8; 21];
    let mut start = text.len();
    let mut rest = magnitude;
    loop {
        start -= 1;
        if let Some(place) = text.get_mut(start) {
            *place = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if negative {
        start -= 1;
        if let Some(place) = text.get_mut(start) {
            *place = b'-';
        }
    }
    f(text.get(start..).and_then(|digits| std::str::from_utf8(digits).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use arrow_array::Int8Array;

    #[test]
    fn integers_have_their_decimal_text() {
        for value in [0i64, 7, -7, 10, -100, i64::MAX, i64::MIN] {
            let array: ArrayRef = Arc::new(Int64Array::from(vec![value]));
            assert!(KeyColumn::new(&array).unwrap().with_text(0, |text| text == Some(&value.to_string())), "{value}");
        }
        let array: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert!(KeyColumn::new(&array).unwrap().with_text(0, |text| text == Some("18446744073709551615")));
    }

    #[test]
    fn numbers_that_are_equal_have_one_text() {
        let arrays: [ArrayRef; 4] = [
            Arc::new(Int8Array::from(vec![Some(7), None])),
            Arc::new(UInt64Array::from(vec![Some(7), None])),
            Arc::new(Float32Array::from(vec![Some(7.0), None])),
            Arc::new(Float64Array::from(vec![Some(7.0), None])),
        ];
        for array in arrays {
            let keys = KeyColumn::new(&array).unwrap();
            assert!(keys.with_text(0, |text| text == Some("7")), "{}", array.data_type());
            assert!(keys.with_text(1, |text| text.is_none()));
            assert!(keys.same(0, 0) && keys.same(1, 1) && !keys.same(0, 1));
        }
        let untyped: ArrayRef = Arc::new(arrow_array::NullArray::new(2));
        let keys = KeyColumn::new(&untyped).unwrap();
        assert!(keys.with_text(0, |text| text.is_none()) && keys.same(0, 1));
        let tenth: ArrayRef = Arc::new(Float32Array::from(vec![0.1, -0.0, 0.0]));
        let keys = KeyColumn::new(&tenth).unwrap();
        assert!(keys.with_text(0, |text| text == Some("0.1")));
        assert!(keys.same(1, 2));
    }
}
