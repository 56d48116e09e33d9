//! Arrow arrays as the engine uses them: numbers for labels and weights, canonical texts for keys.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, LargeStringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
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

/// A cast that never turns a value into null.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
    arrow_cast::cast_with_options(array, to, &options).map_err(|error| {
        Error::data(
            format!("values that fit {to}"),
            format!("{} ({error})", array.data_type()),
            "change the column or its type",
        )
    })
}

/// The canonical texts of a key column: text as it is, integers in decimal, everything else as Arrow prints it.
pub(crate) enum KeyColumn {
    Text(LargeStringArray),
    Signed(ArrayRef),
    Unsigned(ArrayRef),
    Other(ArrayRef),
}

impl KeyColumn {
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Self::Text(cast(array, &DataType::LargeUtf8)?.as_string().clone())
            }
            other if other.is_signed_integer() => Self::Signed(cast(array, &DataType::Int64)?),
            other if other.is_unsigned_integer() => Self::Unsigned(cast(array, &DataType::UInt64)?),
            _ => Self::Other(array.clone()),
        })
    }

    /// Calls `f` with the canonical text of a row, or with `None` for null.
    pub(crate) fn with_text<T>(&self, row: usize, f: impl FnOnce(Option<&str>) -> T) -> T {
        match self {
            Self::Text(array) => f((!array.is_null(row)).then(|| array.value(row))),
            Self::Signed(array) | Self::Unsigned(array) | Self::Other(array) if array.is_null(row) => f(None),
            Self::Signed(array) => f(Some(&array.as_primitive::<Int64Type>().value(row).to_string())),
            Self::Unsigned(array) => f(Some(&array.as_primitive::<UInt64Type>().value(row).to_string())),
            Self::Other(array) => {
                let options = FormatOptions::default();
                let text =
                    ArrayFormatter::try_new(array, &options).and_then(|format| format.value(row).try_to_string());
                f(text.ok().as_deref())
            }
        }
    }

    /// Whether two rows hold the same key.
    pub(crate) fn same(&self, a: usize, b: usize) -> bool {
        match self {
            Self::Text(array) => {
                array.is_null(a) == array.is_null(b) && (array.is_null(a) || array.value(a) == array.value(b))
            }
            Self::Signed(array) | Self::Unsigned(array) | Self::Other(array)
                if array.is_null(a) || array.is_null(b) =>
            {
                array.is_null(a) && array.is_null(b)
            }
            Self::Signed(array) => {
                let array = array.as_primitive::<Int64Type>();
                array.value(a) == array.value(b)
            }
            Self::Unsigned(array) => {
                let array = array.as_primitive::<UInt64Type>();
                array.value(a) == array.value(b)
            }
            Self::Other(_) => self.with_text(a, |a| self.with_text(b, |b| a == b)),
        }
    }
}
