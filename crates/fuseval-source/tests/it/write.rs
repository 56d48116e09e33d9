//! The Parquet writer.

use fuseval_source::ParquetFile;

use crate::fixture::*;

#[test]
fn what_is_written_is_read_again() {
    let directory = directory();
    let path = directory.path().join("predictions.parquet");
    let rows = group(vec![("x", float(&[0.1, -0.0, f64::NAN])), ("id", optional_text(&[Some("a"), None, Some("")]))]);
    let mut file = ParquetFile::create(&path, schema(&rows)).unwrap();
    file.write(&rows).unwrap();
    file.write(&rows).unwrap();
    assert!(!path.exists());
    file.finish().unwrap();
    let source = opened(&path);
    assert_eq!(values(&source, &["id", "x"]), ["a 0.1", "null -0.0", " NaN", "a 0.1", "null -0.0", " NaN"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn an_unfinished_file_leaves_nothing_behind() {
    let directory = directory();
    let path = directory.path().join("predictions.parquet");
    std::fs::write(&path, "older").unwrap();
    let rows = group(vec![("x", int(&[1]))]);
    let mut file = ParquetFile::create(&path, schema(&rows)).unwrap();
    file.write(&rows).unwrap();
    drop(file);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "older");
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let directory = directory();
    let rows = group(vec![("x", int(&[1]))]);
    let path = directory.path().join("missing/x.parquet");
    assert_eq!(
        message(ParquetFile::create(&path, schema(&rows)), &directory),
        "missing/x.parquet: expected an output file that can be written, found `No such file or directory (os error 2)`; \
         check the directory and the free space"
    );
    let path = directory.path().join("x.parquet");
    let mut file = ParquetFile::create(&path, schema(&rows)).unwrap();
    assert_eq!(
        message(file.write(&group(vec![("y", text(&["a"]))])), &directory),
        "expected rows of Field { \"x\": nullable Int64 }, found rows of Field { \"y\": nullable Utf8 }; this is a defect of \
         fuseval; please report it"
    );
}
