//! Conversions keep the value or are refused, with the row and both types.

use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{
    BooleanArray, Decimal128Array, FixedSizeListArray, Float32Array, Float64Array, Int32Array, ListArray, StringArray,
    UInt64Array,
};

use super::*;

fn feature(element: Element, width: usize, fill_null: Option<Scalar>) -> FeaturePlace {
    FeaturePlace { name: "x".to_string(), column: 0, input: 0, offset: 0, width, element, fill_null }
}

/// The converted values and the rows with a missing one, or the row and the message.
fn converted(array: impl Array + 'static, element: Element) -> std::result::Result<(Values, u64), (usize, String)> {
    let array: ArrayRef = Arc::new(array);
    match values(&array, &feature(element, 1, None)) {
        Ok((tensor, missing)) => Ok((tensor.values().clone(), missing)),
        Err(unfit) => Err((unfit.row, unfit.error.problem())),
    }
}

fn refused(array: impl Array + 'static, element: Element, row: usize, found: &str) {
    let expected = format!("expected a value of type {} in feature `x`, found {found}", element.name());
    assert_eq!(converted(array, element), Err((row, expected)));
}

#[test]
fn values_that_fit_are_kept() {
    let int = || Int64Array::from(vec![3, -1]);
    assert_eq!(converted(int(), Element::I32), Ok((Values::I32(vec![3, -1]), 0)));
    assert_eq!(converted(int(), Element::F32), Ok((Values::F32(vec![3.0, -1.0]), 0)));
    assert_eq!(converted(Float64Array::from(vec![2.0, -0.0]), Element::I64), Ok((Values::I64(vec![2, 0]), 0)));
    assert_eq!(converted(Float64Array::from(vec![0.1]), Element::F32), Ok((Values::F32(vec![0.1]), 0)));
    assert_eq!(converted(Float32Array::from(vec![0.1]), Element::F64), Ok((Values::F64(vec![f64::from(0.1f32)]), 0)));
    assert_eq!(converted(BooleanArray::from(vec![true, false]), Element::I32), Ok((Values::I32(vec![1, 0]), 0)));
    assert_eq!(converted(Int32Array::from(vec![1, 0]), Element::Bool), Ok((Values::Bool(vec![true, false]), 0)));
    assert_eq!(
        converted(UInt64Array::from(vec![u64::from(u32::MAX)]), Element::I64),
        Ok((Values::I64(vec![4_294_967_295]), 0))
    );
    let decimal = Decimal128Array::from(vec![150, 10]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(converted(decimal, Element::F64), Ok((Values::F64(vec![1.5, 0.1]), 0)));
    let texts = StringArray::from(vec!["a", "ü"]);
    assert_eq!(converted(texts, Element::Text), Ok((Values::Text(vec!["a".to_string(), "ü".to_string()]), 0)));
    let exact = Int64Array::from(vec![1 << 24, 1 << 25]);
    assert_eq!(converted(exact, Element::F32), Ok((Values::F32(vec![16_777_216.0, 33_554_432.0]), 0)));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    refused(Int64Array::from(vec![0, 2_147_483_648]), Element::I32, 1, "2147483648 of type int64");
    refused(Float64Array::from(vec![2.5]), Element::I64, 0, "2.5 of type float64");
    refused(UInt64Array::from(vec![u64::MAX]), Element::I64, 0, "18446744073709551615 of type uint64");
    refused(
        Int64Array::from(vec![1, (1 << 24) + 1]),
        Element::F32,
        1,
        "the integer 16777217 which it cannot hold exactly",
    );
    refused(
        Int64Array::from(vec![(1 << 53) + 1]),
        Element::F64,
        0,
        "the integer 9007199254740993 which it cannot hold exactly",
    );
    refused(Float64Array::from(vec![1e300]), Element::F32, 0, &1e300.to_string());
    refused(Int32Array::from(vec![2]), Element::Bool, 0, "2");
}

#[test]
fn a_missing_value_is_nan_in_a_float_and_an_error_elsewhere() {
    let (values, missing) = converted(Float32Array::from(vec![Some(0.5), None, Some(f32::NAN)]), Element::F32).unwrap();
    let Values::F32(values) = values else { panic!("another type") };
    assert!(values[0] == 0.5 && values[1].is_nan() && values[2].is_nan());
    assert_eq!(missing, 2);
    refused(Int64Array::from(vec![Some(1), None]), Element::I64, 1, "null");
    refused(Float64Array::from(vec![f64::NAN]), Element::I64, 0, "null");
    refused(BooleanArray::from(vec![None]), Element::Bool, 0, "null");
    refused(StringArray::from(vec![None::<&str>]), Element::Text, 0, "null");
}

#[test]
fn fill_null_takes_the_place_of_missing_values() {
    let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let filled = |element, value| {
        values(&array, &feature(element, 1, Some(value)))
            .ok()
            .map(|(tensor, missing)| (tensor.values().clone(), missing))
    };
    assert_eq!(filled(Element::I64, Scalar::Number(7.0)), Some((Values::I64(vec![1, 7]), 1)));
    assert_eq!(filled(Element::F32, Scalar::Number(0.5)), Some((Values::F32(vec![1.0, 0.5]), 1)));
    assert_eq!(filled(Element::Bool, Scalar::Bool(false)), Some((Values::Bool(vec![true, false]), 1)));
    assert_eq!(filled(Element::I64, Scalar::Number(0.5)), None);
}

#[test]
fn lists_are_rows_of_values_and_must_have_their_length() {
    let rows = vec![Some(vec![Some(1.0), Some(2.0)]), Some(vec![Some(3.0), None])];
    let fixed: ArrayRef = Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows.clone(), 2));
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows));
    for array in [fixed, list] {
        // A slice begins inside the values.
        for (array, first, missing) in [(array.clone(), 1.0, 1), (array.slice(1, 1), 3.0, 1)] {
            let Ok((tensor, rows)) = values(&array, &feature(Element::F32, 2, None)) else { panic!("refused") };
            assert_eq!((tensor.rows(), tensor.width(), rows), (array.len(), 2, missing));
            let Values::F32(values) = tensor.values() else { panic!("another type") };
            assert_eq!(values[0], first);
        }
    }
    let ragged: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(vec![
        Some(vec![Some(1.0); 2]),
        Some(vec![Some(1.0); 3]),
    ]));
    let Err(unfit) = values(&ragged, &feature(Element::F32, 2, None)) else { panic!("taken") };
    assert_eq!(
        (unfit.row, unfit.error.problem().as_str()),
        (1, "expected 2 values in the list of feature `x`, found 3")
    );
}

#[test]
fn a_list_that_is_null_is_missing_values() {
    let rows = vec![Some(vec![Some(1.0), Some(2.0)]), None];
    let array: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows));
    let Ok((tensor, missing)) = values(&array, &feature(Element::F32, 2, Some(Scalar::Number(0.5)))) else {
        panic!("refused")
    };
    assert_eq!((tensor.values(), missing), (&Values::F32(vec![1.0, 2.0, 0.5, 0.5]), 1));
}

#[test]
fn constants_must_have_the_type_of_the_input() {
    assert!(
        constant(&Scalar::Number(1.5), Element::F32, 3).is_ok_and(|tensor| tensor.width() == 3 && tensor.rows() == 1)
    );
    assert!(constant(&Scalar::Number(1.5), Element::I64, 1).is_err());
    assert!(constant(&Scalar::Number(3e9), Element::I32, 1).is_err());
    assert!(constant(&Scalar::Text("a".to_string()), Element::F64, 1).is_err());
    assert!(constant(&Scalar::Number(1.0), Element::Text, 1).is_err());
    assert!(constant(&Scalar::Number(1e39), Element::F32, 1).is_err());
    let odd = (1i64 << 53) + 1;
    assert!(
        constant(&Scalar::Integer(odd), Element::I64, 1).is_ok_and(|tensor| *tensor.values() == Values::I64(vec![odd]))
    );
}
