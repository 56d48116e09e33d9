//! One type per column over all files.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeListArray, Float32Array, Int8Array,
    LargeStringArray, ListArray, NullArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{DataType, TimeUnit};
use fuseval_core::Source;
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::fixture::*;

fn dictionary(values: &[&str]) -> ArrayRef {
    Arc::new(values.iter().copied().collect::<DictionaryArray<Int32Type>>())
}

#[test]
fn safe_widenings_are_applied_by_name() {
    // Case 074.
    let directory = directory();
    let day = |name: &str| directory.path().join(name);
    let float32: ArrayRef = Arc::new(Float32Array::from(vec![0.75, 0.25]));
    let first = group(vec![("score", float32), ("label", int(&[1, 0])), ("segment", text(&["a", "b"]))]);
    let nulls: ArrayRef = Arc::new(NullArray::new(2));
    let second = group(vec![("label", float(&[0.0, 1.0])), ("score", float(&[0.5, 0.9])), ("segment", nulls)]);
    let bools: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let third = group(vec![("segment", dictionary(&["b", "a"])), ("label", bools), ("score", float(&[0.4, 0.1]))]);
    parquet(day("day1.parquet"), &[first]);
    parquet(day("day2.parquet"), &[second]);
    parquet(day("day3.parquet"), &[third]);
    let source = opened(directory.path());
    let expected = ["0.75 1.0 a", "0.25 0.0 b", "0.5 0.0 null", "0.9 1.0 null", "0.4 1.0 b", "0.1 0.0 a"];
    assert_eq!(values(&source, &["score", "label", "segment"]), expected);
    assert_eq!(source.column_type("score").unwrap(), DataType::Float64);
    assert_eq!(source.column_type("label").unwrap(), DataType::Float64);
    assert_eq!(source.column_type("segment").unwrap(), DataType::LargeUtf8);
}

#[test]
fn types_without_a_safe_common_one_are_refused() {
    let directory = directory();
    parquet(directory.path().join("a.parquet"), &[group(vec![("label", int(&[1])), ("s", float(&[0.5]))])]);
    parquet(directory.path().join("b.parquet"), &[group(vec![("label", text(&["1"])), ("s", float(&[0.5]))])]);
    let source = opened(directory.path());
    assert_eq!(
        message(source.column_type("label"), &directory),
        "column `label`: expected types that have a safe common type, found Int64 in a.parquet and Utf8 in b.parquet; \
         write the files with the same type"
    );
    assert_eq!(values(&source, &["s"]), ["0.5", "0.5"]);
}

#[test]
fn a_column_missing_from_one_file_is_refused_when_asked_for() {
    // Case 073.
    let directory = directory();
    let first = group(vec![("score", float(&[0.2])), ("weight", float(&[1.0]))]);
    parquet(directory.path().join("d1.parquet"), &[first]);
    parquet(directory.path().join("d2.parquet"), &[group(vec![("score", float(&[0.6]))])]);
    let source = opened(directory.path());
    let expected = "d2.parquet: expected the column `weight`, as in d1.parquet, found no such column; add the column to \
                    the file, or leave the file out";
    assert_eq!(message(source.column_type("weight"), &directory), expected);
    assert_eq!(message(rows(&source, columns(&["weight"])), &directory), expected);
    assert_eq!(message(source.check_predicate("weight > 0"), &directory), expected);
    assert_eq!(values(&source, &["score"]), ["0.2", "0.6"]);
}

#[test]
fn dictionaries_are_decoded_with_those_of_their_row_group() {
    // Case 068.
    let directory = directory();
    let rows = |country| group(vec![("country", country)]);
    let (first, second) = (dictionary(&["FR", "DE", "FR", "DE"]), dictionary(&["IT", "FR", "IT"]));
    parquet(directory.path().join("a.parquet"), &[rows(first), rows(second)]);
    parquet(directory.path().join("b.parquet"), &[rows(text(&["DE"]))]);
    let source = opened(directory.path());
    assert_eq!(values(&source, &["country"]), ["FR", "DE", "FR", "DE", "IT", "FR", "IT", "DE"]);
    let filtered = fuseval_source::SourceOptions { filter: Some("country = 'FR'".into()), ..options(directory.path()) };
    let source = fuseval_source::open(filtered).unwrap();
    assert_eq!(rows_of(&source), ["0/0: FR", "0/2: FR", "0/5: FR"]);
}

fn rows_of(source: &fuseval_source::FileSource) -> Vec<String> {
    rows(source, columns(&["country"])).unwrap()
}

#[test]
fn null_and_empty_text_differ() {
    // Case 064.
    let directory = directory();
    let countries = optional_text(&[Some("de"), None, Some(""), Some("null")]);
    parquet(directory.path().join("a.parquet"), &[group(vec![("country", countries)])]);
    let source = opened(directory.path());
    let scan = fuseval_core::Scan::new(columns(&["country"]));
    let found = source.scan(&scan).unwrap().next().unwrap().unwrap();
    let column = found.columns[0].as_any().downcast_ref::<LargeStringArray>().unwrap();
    assert_eq!(column.iter().collect::<Vec<_>>(), [Some("de"), None, Some(""), Some("null")]);
    let lines =
        rows(&source, vec![predicate("country IS NULL"), predicate("country = ''"), predicate("country > 'a'")]);
    let expected = ["0/0: false false true", "0/1: true false false", "0/2: false true false", "0/3: false false true"];
    assert_eq!(lines.unwrap(), expected);
}

#[test]
fn decimals_keep_their_values_whatever_stores_them() {
    // Case 031: INT32, INT64, FIXED_LEN_BYTE_ARRAY and BYTE_ARRAY.
    let directory = directory();
    let unscaled = [250_i128, 10, 399, -125];
    for digits in [9, 18, 38] {
        let scores = Decimal128Array::from(unscaled.to_vec()).with_precision_and_scale(digits, 2).unwrap();
        parquet(directory.path().join(format!("{digits}.parquet")), &[group(vec![("score", Arc::new(scores))])]);
    }
    let schema = Arc::new(parse_message_type("message m { required binary score (DECIMAL(9, 2)); }").unwrap());
    let file = std::fs::File::create(directory.path().join("bytes.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let bytes: Vec<ByteArray> =
        unscaled.iter().map(|value| ByteArray::from(value.to_be_bytes()[14..].to_vec())).collect();
    column.typed::<ByteArrayType>().write_batch(&bytes, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let source = opened(directory.path());
    assert_eq!(source.column_type("score").unwrap(), DataType::Decimal128(38, 2));
    let expected: Vec<&str> = ["2.50", "0.10", "3.99", "-1.25"].repeat(4);
    assert_eq!(values(&source, &["score"]), expected);
    assert_eq!(rows(&source, vec![predicate("score > 2.5")]).unwrap()[2], "0/2: true");
}

#[test]
fn unsigned_beside_signed_64_bit_integers_are_decimals() {
    let directory = directory();
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
    parquet(directory.path().join("a.parquet"), &[group(vec![("id", large)])]);
    parquet(directory.path().join("b.parquet"), &[group(vec![("id", int(&[i64::MIN]))])]);
    assert_eq!(values(&opened(directory.path()), &["id"]), ["18446744073709551615", "-9223372036854775808"]);
}

#[test]
fn an_integer_that_a_float_cannot_hold_is_refused() {
    let directory = directory();
    parquet(directory.path().join("a.parquet"), &[group(vec![("x", float(&[0.5]))])]);
    parquet(directory.path().join("b.parquet"), &[group(vec![("x", int(&[1]))]), group(vec![("x", int(&[i64::MAX]))])]);
    assert_eq!(
        message(rows(&opened(directory.path()), columns(&["x"])), &directory),
        "b.parquet: row group 1: column `x`: expected values that all exist as Float64, the common type of the files, \
         found integers above 2^53 that Float64 cannot hold; write the column with one type in all files"
    );
}

#[test]
fn lists_get_the_wider_item() {
    let directory = directory();
    let narrow = ListArray::from_iter_primitive::<arrow_array::types::Float32Type, _, _>(vec![
        Some(vec![Some(0.5), None]),
        None,
    ]);
    let fixed = FixedSizeListArray::from_iter_primitive::<arrow_array::types::Float64Type, _, _>(
        vec![Some(vec![Some(0.1), Some(0.2)])],
        2,
    );
    parquet(directory.path().join("a.parquet"), &[group(vec![("x", Arc::new(narrow))])]);
    parquet(directory.path().join("b.parquet"), &[group(vec![("x", Arc::new(fixed))])]);
    assert_eq!(values(&opened(directory.path()), &["x"]), ["[0.5, null]", "null", "[0.1, 0.2]"]);
}

#[test]
fn instants_are_the_same_in_any_unit() {
    // Case 077; INT96 carries no zone and therefore stands in a data set of its own.
    let directory = directory();
    let millis = [1_710_027_000_000_i64, 1_710_029_400_000];
    let in_millis = TimestampMillisecondArray::from(millis.to_vec()).with_timezone("UTC");
    let nanos: Vec<i64> = millis.iter().map(|value| value * 1_000_000).collect();
    let in_nanos = TimestampNanosecondArray::from(nanos.clone()).with_timezone("+00:00");
    parquet(directory.path().join("utc/a.parquet"), &[group(vec![("ts", Arc::new(in_millis))])]);
    parquet(directory.path().join("utc/b.parquet"), &[group(vec![("ts", Arc::new(in_nanos))])]);
    parquet(
        directory.path().join("wall/a.parquet"),
        &[group(vec![("ts", Arc::new(TimestampMillisecondArray::from(millis.to_vec())))])],
    );
    int96(&directory.path().join("wall/b.parquet"), &nanos);
    for name in ["utc", "wall"] {
        let derive = vec![("day".to_string(), "CAST(ts AS DATE)".to_string())];
        let options = fuseval_source::SourceOptions { derive, ..options(directory.path().join(name)) };
        let source = fuseval_source::open(options).unwrap();
        let DataType::Timestamp(unit, zone) = source.column_type("ts").unwrap() else { panic!("no timestamp") };
        assert_eq!(unit, TimeUnit::Nanosecond);
        assert_eq!(zone.as_deref(), (name == "utc").then_some("UTC"));
        let days = ["2024-03-09", "2024-03-10", "2024-03-09", "2024-03-10"];
        assert_eq!(values(&source, &["day"]), days);
        let late = predicate("ts >= '2024-03-10'");
        assert_eq!(rows(&source, vec![late]).unwrap(), ["0/0: false", "0/1: true", "1/0: false", "1/1: true"]);
    }
}

/// Writes timestamps as Spark did for long: nanoseconds of the day and a Julian day.
fn int96(path: &std::path::Path, nanos: &[i64]) {
    const DAY: i64 = 86_400_000_000_000;
    let schema = Arc::new(parse_message_type("message m { required int96 ts; }").unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<Int96> = nanos
        .iter()
        .map(|nanos| {
            let of_day = (nanos % DAY) as u64;
            let mut value = Int96::new();
            value.set_data(of_day as u32, (of_day >> 32) as u32, (nanos / DAY + 2_440_588) as u32);
            value
        })
        .collect();
    column.typed::<Int96Type>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn columns_of_one_name_are_refused_when_asked_for() {
    let directory = directory();
    let bytes: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    std::fs::write(directory.path().join("a.csv"), "x,x,y\n1,2,3\n").unwrap();
    parquet(directory.path().join("b.parquet"), &[group(vec![("y", bytes)])]);
    let source = opened(directory.path());
    assert_eq!(values(&source, &["y"]), ["3", "1"]);
    assert_eq!(
        message(source.column_type("x"), &directory),
        "a.csv: expected one column `x`, found more than one of that name; rename one of them"
    );
}
