//! Arrays cast to the common type of their column, exactly or not at all.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use fuseval_core::{Error, Result};

/// Integers up to here are floats as well.
const EXACT: u64 = 1 << 53;

/// The array in another type. An error where a value does not exist in that type.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    if array.data_type() == &DataType::Null {
        return Ok(new_null_array(to, array.len()));
    }
    if !is_exact(array.as_ref(), to) {
        let found = format!("integers above 2^53 that {to} cannot hold");
        return Err(Error::data(format!("values that all exist as {to}, the common type of the files"), found, HELP));
    }
    // Not "safe": the safe cast turns what does not fit into nulls without a word.
    let options = CastOptions { safe: false, ..Default::default() };
    cast_with_options(array.as_ref(), to, &options).map_err(|reason| {
        let expected = format!("values that all exist as {to}, the common type of the files");
        Error::data(expected, format!("`{reason}`"), HELP)
    })
}

const HELP: &str = "write the column with one type in all files";

/// Whether all integers of an array stay what they are as floats; true for other casts, which check themselves.
fn is_exact(array: &dyn Array, to: &DataType) -> bool {
    match (array.data_type(), to) {
        (DataType::Int64, DataType::Float64) => {
            array.as_primitive::<Int64Type>().iter().flatten().all(|value| value.unsigned_abs() <= EXACT)
        }
        (DataType::UInt64, DataType::Float64) => {
            array.as_primitive::<UInt64Type>().iter().flatten().all(|value| value <= EXACT)
        }
        (DataType::Dictionary(..), _) => is_exact(array.as_any_dictionary().values().as_ref(), to),
        (DataType::List(_), DataType::List(item) | DataType::LargeList(item)) => {
            is_exact(array.as_list::<i32>().values().as_ref(), item.data_type())
        }
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            is_exact(array.as_list::<i64>().values().as_ref(), item.data_type())
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(item, _) | DataType::List(item)) => {
            is_exact(array.as_fixed_size_list().values().as_ref(), item.data_type())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::Int64Array;

    use super::*;

    #[test]
    fn integers_that_floats_cannot_hold_are_refused() {
        let fits: ArrayRef = Arc::new(Int64Array::from(vec![Some(1 << 53), None, Some(-1)]));
        assert_eq!(cast(&fits, &DataType::Float64).unwrap().null_count(), 1);
        let large: ArrayRef = Arc::new(Int64Array::from(vec![(1 << 53) + 1]));
        assert_eq!(
            cast(&large, &DataType::Float64).unwrap_err().to_string(),
            "expected values that all exist as Float64, the common type of the files, found integers above 2^53 that \
             Float64 cannot hold; write the column with one type in all files"
        );
    }
}
