//! Tests of the common type, as a table.
#![allow(clippy::unwrap_used)]

use DataType::{
    Boolean, Date32, Date64, Decimal128, Decimal256, Float16, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8,
    Null, Timestamp, UInt8, UInt32, UInt64, Utf8, Utf8View,
};

use super::*;

struct Case {
    types: Vec<DataType>,
    common: Option<DataType>,
}

fn case(types: &[DataType], common: impl Into<Option<DataType>>) -> Case {
    Case { types: types.to_vec(), common: common.into() }
}

fn dictionary(values: DataType) -> DataType {
    DataType::Dictionary(Box::new(Int32), Box::new(values))
}

fn list(item: DataType) -> DataType {
    DataType::List(list_item(item))
}

fn cases() -> Vec<Case> {
    let seconds = |zone: Option<&str>| Timestamp(TimeUnit::Second, zone.map(Into::into));
    let nanos = |zone: Option<&str>| Timestamp(TimeUnit::Nanosecond, zone.map(Into::into));
    let fixed = |item, length| DataType::FixedSizeList(list_item(item), length);
    vec![
        case(&[], Null),
        case(&[Null, Int8], Int8),
        case(&[Boolean, Int8], Int8),
        case(&[Boolean, Int64, Float64], Float64),
        case(&[Int8, Int64], Int64),
        case(&[UInt8, Int8], Int16),
        case(&[UInt32, Int8], Int64),
        case(&[UInt8, UInt32], UInt32),
        case(&[UInt64, Int64], Decimal128(20, 0)),
        case(&[UInt64, Int64, Float64], Float64),
        case(&[Int8, Float16], Float16),
        case(&[Int16, Float32], Float32),
        case(&[Int32, Float32], Float64),
        case(&[Float16, Float32], Float32),
        case(&[Decimal128(9, 2), Decimal128(38, 2)], Decimal128(38, 2)),
        case(&[Decimal128(9, 2), Decimal128(10, 5)], Decimal128(12, 5)),
        case(&[Decimal128(38, 0), Decimal128(38, 10)], Decimal256(48, 10)),
        case(&[Decimal128(9, 2), Int64], Decimal128(21, 2)),
        case(&[Decimal128(9, 2), Float64], None),
        case(&[Decimal128(9, 2), Boolean], None),
        case(&[DataType::Decimal32(9, 2)], Decimal128(9, 2)),
        case(&[Utf8, Utf8View, LargeUtf8, dictionary(Utf8), Null], LargeUtf8),
        case(&[dictionary(Int8), Int64], Int64),
        case(&[Int64, Utf8], None),
        case(&[seconds(None), nanos(None)], nanos(None)),
        case(&[seconds(Some("UTC")), nanos(Some("+00:00"))], nanos(Some("UTC"))),
        case(&[seconds(Some("UTC")), seconds(None)], None),
        case(&[Date32, Date64], Date64),
        case(&[Date32, seconds(None)], None),
        case(&[list(Float32), list(Float64)], list(Float64)),
        case(&[fixed(Float32, 2), fixed(Float64, 2)], fixed(Float64, 2)),
        case(&[fixed(Float32, 2), fixed(Float32, 3)], list(Float32)),
        case(&[DataType::LargeList(list_item(Float32)), list(Float64)], DataType::LargeList(list_item(Float64))),
        case(&[list(Float32), Float32], None),
    ]
}

#[test]
fn common_type_is_safe_and_does_not_depend_on_the_order() {
    for Case { types, common } in cases() {
        assert_eq!(common_type(&types), common, "{types:?}");
        assert_eq!(common_type(types.iter().rev()), common, "{types:?} reversed");
    }
}

#[test]
fn every_value_is_kept_where_the_reader_can_cast() {
    for Case { types, common } in cases() {
        let Some(common) = common else { continue };
        for data_type in types {
            assert!(arrow_cast::can_cast_types(&data_type, &common), "{data_type} to {common}");
        }
    }
}
