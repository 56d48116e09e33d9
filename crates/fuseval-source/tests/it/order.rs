//! Logical order and row numbers.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, LargeStringArray};
use fuseval_core::{Scan, Source};
use fuseval_source::{SourceOptions, open};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::fixture::*;

/// The files of case 062.
fn interleaved_requests(directory: &std::path::Path) {
    let rows = |request: &[&str], score: &[f64]| group(vec![("request", text(request)), ("score", float(score))]);
    let first = rows(&["x", "y", "x", "z"], &[0.3, 0.8, 0.9, 0.2]);
    let second = rows(&["y", "x", "z"], &[0.4, 0.5, 0.7]);
    parquet(directory.join("a.parquet"), &[first, second]);
    parquet(directory.join("b.parquet"), &[rows(&["z", "y", "x"], &[0.1, 0.6, 0.4])]);
}

#[test]
fn rows_come_in_file_order_with_their_numbers() {
    let directory = directory();
    interleaved_requests(directory.path());
    let source = opened(directory.path());
    let expected = [
        "0/0: x 0.3",
        "0/1: y 0.8",
        "0/2: x 0.9",
        "0/3: z 0.2",
        "0/4: y 0.4",
        "0/5: x 0.5",
        "0/6: z 0.7",
        "1/0: z 0.1",
        "1/1: y 0.6",
        "1/2: x 0.4",
    ];
    assert_eq!(rows(&source, columns(&["request", "score"])).unwrap(), expected);
    assert_eq!(source.row_count(), Some(10));
    assert_eq!(source.columns(), ["request", "score"]);
}

#[test]
fn rows_left_out_by_the_filter_are_counted() {
    let directory = directory();
    interleaved_requests(directory.path());
    let filter = Some("request = 'x'".to_string());
    let source = open(SourceOptions { filter, ..options(directory.path()) }).unwrap();
    assert_eq!(rows(&source, columns(&["score"])).unwrap(), ["0/0: 0.3", "0/2: 0.9", "0/5: 0.5", "1/2: 0.4"]);
    assert_eq!(source.row_count(), Some(10));
    let starts: Vec<u64> =
        source.scan(&Scan::default()).unwrap().map(|rows| rows.unwrap()).map(|rows| rows.places.get(0)).collect();
    // One run of rows per row group.
    assert_eq!(starts, [0, 5, 9]);
}

#[test]
fn places_name_file_row_group_and_row() {
    let directory = directory();
    interleaved_requests(directory.path());
    let source = opened(directory.path());
    let place = |place| in_test(&source.place(place), &directory);
    assert_eq!(place(3), "a.parquet: row group 0, row 3");
    assert_eq!(place(4), "a.parquet: row group 1, row 4");
    assert_eq!(place(9), "b.parquet: row group 0, row 2");
    assert_eq!(place(10), "b.parquet: row 3");
}

#[test]
fn a_scan_without_requests_counts_rows() {
    let directory = directory();
    interleaved_requests(directory.path());
    std::fs::write(directory.path().join("c.csv"), "request,score\nx,1\ny,2\n").unwrap();
    let source = opened(directory.path());
    let found: usize = source.scan(&Scan::default()).unwrap().map(|rows| rows.unwrap().len()).sum();
    assert_eq!(found, 12);
    assert_eq!(source.row_count(), None);
}

#[test]
fn more_rows_than_a_batch_keep_their_numbers() {
    let directory = directory();
    let numbers: Vec<i64> = (0..20_000).collect();
    parquet(
        directory.path().join("a.parquet"),
        &[group(vec![("n", int(&numbers))]), group(vec![("n", int(&numbers))])],
    );
    let filter = Some("n % 7 = 3".to_string());
    let source = open(SourceOptions { filter, ..options(directory.path()) }).unwrap();
    let lines = rows(&source, columns(&["n"])).unwrap();
    let expected = |row: &i64| row % 20_000 % 7 == 3;
    let expected: Vec<String> = (0..40_000).filter(expected).map(|row| format!("0/{row}: {}", row % 20_000)).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_scan_may_be_dropped_half_way_and_outlive_the_source() {
    let directory = directory();
    let numbers: Vec<i64> = (0..100_000).collect();
    parquet(directory.path().join("a.parquet"), &[group(vec![("n", int(&numbers))])]);
    let source = opened(directory.path());
    let scan = || source.scan(&Scan::new(columns(&["n"]))).unwrap();
    let mut dropped = scan();
    assert_eq!(dropped.next().unwrap().unwrap().len(), 8192);
    drop(dropped);
    let (mut one, mut other) = (scan(), scan());
    one.next().unwrap().unwrap();
    other.next().unwrap().unwrap();
    drop(source);
    let left: usize = one.map(|rows| rows.unwrap().len()).sum();
    assert_eq!(left, 100_000 - 8192);
}

#[test]
fn files_and_row_groups_without_rows_add_nothing() {
    // Case 071: no row group, one of no rows in the middle, an empty file that is first in order.
    let directory = directory();
    let labels = |values: &[i8]| Arc::new(Int8Array::from(values.to_vec())) as ArrayRef;
    let full = group(vec![("score", float(&[0.3, 0.9, 0.4])), ("label", labels(&[0, 1, 1]))]);
    parquet_of(directory.path().join("p0.parquet"), schema(&full), &[]);
    parquet(directory.path().join("p1.parquet"), &[full]);
    with_an_empty_row_group(&directory.path().join("p2.parquet"));
    let source = opened(directory.path());
    assert_eq!(source.row_count(), Some(5));
    let expected = ["1/0: 0.3 0", "1/1: 0.9 1", "1/2: 0.4 1", "2/0: 0.6 0", "2/1: 0.1 0"];
    assert_eq!(rows(&source, columns(&["score", "label"])).unwrap(), expected);
    assert_eq!(in_test(&source.place(4), &directory), "p2.parquet: row group 2, row 1");
}

fn with_an_empty_row_group(path: &std::path::Path) {
    use parquet::data_type::{DoubleType, Int32Type};
    let schema = "message m { optional double score; optional int32 label (INTEGER(8, true)); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(std::fs::File::create(path).unwrap(), schema, properties).unwrap();
    for score in [vec![0.6], vec![], vec![0.1]] {
        let levels = vec![1; score.len()];
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&score, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&vec![0; score.len()], Some(&levels), None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn batches_of_wide_rows_are_short() {
    // Case 079 in small: 80 MB of text that a dictionary stores in a few kB.
    let directory = directory();
    let keys: Vec<String> = (0..4000).map(|row| format!("k{}{}", row % 3, "x".repeat(20_000))).collect();
    let segment: ArrayRef = Arc::new(LargeStringArray::from(keys));
    parquet(directory.path().join("a.parquet"), &[group(vec![("segment", segment)])]);
    let source = opened(directory.path());
    let mut found = 0;
    for rows in source.scan(&Scan::new(columns(&["segment"]))).unwrap() {
        let rows = rows.unwrap();
        found += rows.len();
        assert!(rows.columns[0].get_array_memory_size() < 48 << 20);
    }
    assert_eq!(found, 4000);
}
