//! Files, lists, globs, directories and hive partitions.

use fuseval_core::Source;
use fuseval_source::{SourceOptions, open};

use crate::fixture::*;

fn one_row(path: impl AsRef<std::path::Path>, value: i64) {
    parquet(path, &[group(vec![("n", int(&[value]))])]);
}

#[test]
fn a_directory_is_searched_below_hidden_names_are_not() {
    let directory = directory();
    for name in ["b/2.parquet", "a-1.parquet", "a/1.PARQUET", "_tmp/3.parquet", ".hidden.parquet", "_metadata.parquet"]
    {
        one_row(directory.path().join(name), 1);
    }
    std::fs::write(directory.path().join("c.csv"), "n\n1\n").unwrap();
    std::fs::write(directory.path().join("README.txt"), "no data").unwrap();
    let source = opened(directory.path());
    // Byte order: `-` comes before `/`.
    assert_eq!(names(&source, &directory), ["a-1.parquet", "a/1.PARQUET", "b/2.parquet", "c.csv"]);
    assert_eq!(values(&source, &["n"]), ["1", "1", "1", "1"]);
}

#[test]
fn files_of_a_list_are_sorted_and_read_once() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    one_row(at("a.parquet"), 1);
    one_row(at("b.parquet"), 2);
    let paths = vec![at("b.parquet"), at("a.parquet"), at("./a.parquet"), at("*.parquet"), at("")];
    let source = open(SourceOptions { paths, ..Default::default() }).unwrap();
    assert_eq!(values(&source, &["n"]), ["1", "2"]);
}

#[test]
fn a_glob_matches_files_and_directories() {
    let directory = directory();
    for (name, value) in [("x1/a.parquet", 1), ("x2/b.parquet", 2), ("y/c.parquet", 3), ("x3.parquet", 4)] {
        one_row(directory.path().join(name), value);
    }
    std::fs::write(directory.path().join("x1/_SUCCESS"), "").unwrap();
    let files = |glob: &str| names(&opened(directory.path().join(glob)), &directory);
    assert_eq!(files("x*"), ["x1/a.parquet", "x2/b.parquet", "x3.parquet"]);
    assert_eq!(files("x1/*"), ["x1/a.parquet"]);
    // What a writer has not finished is taken only where the glob says so.
    one_row(directory.path().join("_temporary/0/d.parquet"), 5);
    let none = message(open(options(directory.path().join("*/*/*.parquet"))), &directory);
    assert!(none.starts_with("expected files that match the glob, found none"), "{none}");
    assert_eq!(files("_t*/*/*.parquet"), ["_temporary/0/d.parquet"]);
    assert_eq!(files("*[!y]/*.parquet"), ["x1/a.parquet", "x2/b.parquet"]);
    assert_eq!(files("**/[bc].parquet"), ["x2/b.parquet", "y/c.parquet"]);
}

#[test]
fn a_file_whose_name_looks_like_a_glob_is_a_file() {
    let directory = directory();
    one_row(directory.path().join("a[1].parquet"), 1);
    one_row(directory.path().join("a1.parquet"), 2);
    assert_eq!(values(&opened(directory.path().join("a[1].parquet")), &["n"]), ["1"]);
}

#[test]
fn odd_names_are_read() {
    let directory = directory();
    for name in ["a b.parquet", "a%20b.parquet", "é#~{}.parquet", "x=1.parquet", "day=2024%3A01/y.parquet"] {
        one_row(directory.path().join(name), 1);
    }
    assert_eq!(values(&opened(directory.path()), &["n"]), ["1"; 5]);
}

#[test]
fn hive_partitions_are_text_columns() {
    let directory = directory();
    one_row(directory.path().join("d/day=2024%2D01/country=de/a.parquet"), 1);
    one_row(directory.path().join("d/day=2024%2D02/country=__HIVE_DEFAULT_PARTITION__/a.parquet"), 2);
    one_row(directory.path().join("d/day=7/country=/a.parquet"), 3);
    let source = opened(directory.path().join("d"));
    assert_eq!(source.columns(), ["n", "day", "country"]);
    assert_eq!(values(&source, &["day", "n", "country"]), ["2024-01 1 de", "2024-02 2 null", "7 3 "]);
    let source = opened(directory.path().join("d/day=*0?/*/*.parquet"));
    assert_eq!(values(&source, &["country", "day"]), ["de 2024-01", "null 2024-02"]);
    let filter = Some("day > '2024-01' AND country IS NULL".to_string());
    let source = open(SourceOptions { filter, ..options(directory.path().join("d")) }).unwrap();
    assert_eq!(values(&source, &["n"]), ["2"]);
}

#[test]
fn hive_partitions_may_have_another_type() {
    let directory = directory();
    one_row(directory.path().join("day=9/a.parquet"), 1);
    one_row(directory.path().join("day=10/a.parquet"), 2);
    let types = vec![("day".to_string(), "int".to_string())];
    let filter = Some("day < 10".to_string());
    let source = open(SourceOptions { types, filter, ..options(directory.path()) }).unwrap();
    assert_eq!(values(&source, &["day", "n"]), ["9 1"]);
}

#[test]
fn a_stored_column_goes_before_a_partition_of_its_name() {
    let directory = directory();
    one_row(directory.path().join("n=5/a.parquet"), 1);
    let source = opened(directory.path());
    assert_eq!(source.columns(), ["n"]);
    assert_eq!(values(&source, &["n"]), ["1"]);
}
