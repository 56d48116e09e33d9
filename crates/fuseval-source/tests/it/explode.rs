//! Rows from lists.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, FixedSizeListArray, LargeListArray, ListArray, RecordBatch};
use fuseval_core::Source;
use fuseval_source::{FileSource, SourceOptions, open};
use tempfile::TempDir;

use crate::fixture::*;

fn floats(lists: &[Option<&[f64]>]) -> ArrayRef {
    let lists = lists.iter().map(|list| list.map(|items| items.iter().copied().map(Some).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists))
}

fn ints(lists: &[Option<&[i64]>]) -> ArrayRef {
    let lists = lists.iter().map(|list| list.map(|items| items.iter().copied().map(Some).collect::<Vec<_>>()));
    Arc::new(LargeListArray::from_iter_primitive::<Int64Type, _, _>(lists))
}

/// Requests with lists of scores and labels, of two kinds.
fn requests(directory: &TempDir) {
    let first = group(vec![
        ("request", text(&["r1", "r2"])),
        ("scores", floats(&[Some(&[0.9, 0.2, 0.4]), Some(&[0.5])])),
        ("labels", ints(&[Some(&[0, 1, 1]), Some(&[1])])),
    ]);
    let second = group(vec![
        ("request", text(&["r3", "r4", "r5"])),
        ("scores", floats(&[Some(&[]), None, Some(&[0.6, 0.7])])),
        ("labels", ints(&[Some(&[]), Some(&[]), Some(&[0, 1])])),
    ]);
    parquet(directory.path().join("a.parquet"), &[first, second]);
}

fn exploded(directory: &TempDir, filter: Option<&str>) -> FileSource {
    let explode = vec!["scores".to_string(), "labels".to_string()];
    let filter = filter.map(str::to_string);
    open(SourceOptions { explode, filter, ..options(directory.path()) }).unwrap()
}

#[test]
fn each_place_of_the_lists_is_a_row_with_the_number_of_its_list() {
    let directory = directory();
    requests(&directory);
    let source = exploded(&directory, None);
    let expected =
        ["0/0: r1 0.9 0", "0/0: r1 0.2 1", "0/0: r1 0.4 1", "0/1: r2 0.5 1", "0/4: r5 0.6 0", "0/4: r5 0.7 1"];
    assert_eq!(rows(&source, columns(&["request", "scores", "labels"])).unwrap(), expected);
    assert_eq!(source.column_type("scores").unwrap().to_string(), "Float64");
    assert_eq!(source.row_count(), None);
}

#[test]
fn columns_that_are_no_lists_are_repeated_even_alone() {
    let directory = directory();
    requests(&directory);
    let lines = rows(&exploded(&directory, None), columns(&["request"])).unwrap();
    assert_eq!(lines, ["0/0: r1", "0/0: r1", "0/0: r1", "0/1: r2", "0/4: r5", "0/4: r5"]);
}

#[test]
fn sql_sees_the_items() {
    let directory = directory();
    requests(&directory);
    let lines = rows(&exploded(&directory, Some("scores > 0.4")), vec![predicate("labels = 1")]).unwrap();
    assert_eq!(lines, ["0/0: false", "0/1: true", "0/4: false", "0/4: true"]);
}

#[test]
fn lists_of_different_length_are_refused() {
    let directory = directory();
    let rows_of = |labels: &[Option<&[i64]>]| -> RecordBatch {
        group(vec![("scores", floats(&[Some(&[0.5]), Some(&[0.1, 0.2])])), ("labels", ints(labels))])
    };
    parquet(
        directory.path().join("a.parquet"),
        &[rows_of(&[Some(&[1]), Some(&[1, 0])]), rows_of(&[Some(&[1]), Some(&[1])])],
    );
    let source = exploded(&directory, None);
    assert_eq!(
        message(rows(&source, columns(&["scores"])), &directory),
        "a.parquet: row group 1, row 3: expected lists of one length in the columns `scores`, `labels`, found 2 values in \
         `scores` and 1 in `labels`; correct the row; a null counts as a list without values"
    );
}

#[test]
fn lists_of_fixed_size_and_long_lists_are_exploded() {
    let directory = directory();
    let long: Vec<f64> = (0..20_000).map(f64::from).collect();
    let lists = floats(&[Some(&long), Some(&[7.0])]);
    parquet(directory.path().join("a.parquet"), &[group(vec![("x", lists)])]);
    let fixed = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(
        [Some(vec![Some(1.0), None]), Some(vec![Some(2.0), Some(3.0)])],
        2,
    );
    parquet(directory.path().join("b.parquet"), &[group(vec![("x", Arc::new(fixed) as ArrayRef)])]);
    let source = open(SourceOptions { explode: vec!["x".to_string()], ..options(directory.path()) }).unwrap();
    let values = values(&source, &["x"]);
    assert_eq!(values.len(), 20_005);
    assert_eq!(values[19_999..], ["19999.0", "7.0", "1.0", "null", "2.0", "3.0"]);
}

#[test]
fn what_is_no_list_is_refused() {
    let directory = directory();
    requests(&directory);
    let refusal = |column: &str| {
        message(open(SourceOptions { explode: vec![column.to_string()], ..options(directory.path()) }), &directory)
    };
    assert_eq!(
        refusal("request"),
        "expected columns of lists to explode, found `request` of type LargeUtf8; name only columns of lists; the others are \
         repeated for each row"
    );
    assert!(refusal("score").ends_with("found `score`; did you mean `scores`?"), "{}", refusal("score"));
}
