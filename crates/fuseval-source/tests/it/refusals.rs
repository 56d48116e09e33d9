//! Paths and files that are refused.

use fuseval_core::{ErrorKind, Source};
use fuseval_source::{SourceOptions, open};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::fixture::*;

#[test]
fn paths_that_lead_nowhere_are_refused() {
    let directory = directory();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    std::fs::write(directory.path().join("a.txt"), "x").unwrap();
    std::fs::write(directory.path().join("noextension"), "x").unwrap();
    let refused = |path: &str| message(open(options(directory.path().join(path))), &directory);
    assert_eq!(
        refused("missing.parquet"),
        "expected an existing file, directory or glob, found nothing at `missing.parquet`; check the path"
    );
    assert_eq!(
        refused("empty"),
        "expected a directory with files of data, found none below `empty`; check the path; `*.json` files are read where \
         they are named or match a glob"
    );
    assert_eq!(refused("*.parquet"), "expected files that match the glob, found none for `*.parquet`; check the path");
    assert_eq!(
        refused("a***b"),
        "expected a glob, found `a***b` (wildcards are either regular `*` or recursive `**`); write [*] for a star that \
         is part of a name"
    );
    let unknown = "expected a file name that ends in its format, found";
    let help = "give files of a supported format: `parquet`, `csv`, `ndjson`, `jsonl`, `json`, `arrow`, `feather`, `ipc`, \
                `avro`; CSV and JSON also with `.gz`, `.zst`, `.bz2` or `.xz`";
    assert_eq!(refused("a.txt"), format!("{unknown} `a.txt`; {help}"));
    assert_eq!(refused("noextension"), format!("{unknown} `noextension`; {help}"));
    assert_eq!(
        message(open(SourceOptions { paths: vec!["s4://bucket/x".to_string()], ..Default::default() }), &directory),
        "expected a URL that begins with `s3://`, `gs://`, `az://`, `abfs://`, `http://` or `https://`, found \
         `s4://bucket/x`; choose one of `s3`, `s3a`, `gs`, `az`, `abfs`, `abfss`, `http`, `https`"
    );
    assert_eq!(
        message(open(SourceOptions::default()), &directory),
        "expected at least one path, found none; give a file, a directory or a glob"
    );
}

#[test]
fn a_file_that_is_no_complete_parquet_file_is_refused() {
    let directory = directory();
    let path = directory.path().join("a.parquet");
    parquet(&path, &[group(vec![("x", int(&[1, 2, 3]))])]);
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = open(options(&path)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        in_test(&error.to_string(), &directory)
    };
    assert_eq!(
        refused(&whole[..whole.len() - 9]),
        "a.parquet: expected a complete Parquet file, found `Invalid Parquet file. Corrupt footer`; write the file again"
    );
    assert_eq!(
        refused(b""),
        "a.parquet: expected a complete Parquet file, found `Parquet file too small. Size is 0 but need 8`; write the file \
         again"
    );
    assert_eq!(
        refused(b"x,y\n1,2\n3,4\n"),
        "a.parquet: expected a complete Parquet file, found `Invalid Parquet file. Corrupt footer`; write the file again"
    );
}

#[test]
fn damage_in_the_middle_ends_the_scan_with_the_row_group() {
    let directory = directory();
    let path = directory.path().join("a.parquet");
    let values: Vec<i64> = (0..9000).map(|value| value * 7919).collect();
    parquet(&path, &[group(vec![("x", int(&values))]), group(vec![("x", int(&values))])]);
    let mut bytes = std::fs::read(&path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let column = reader.metadata().row_group(1).column(0).clone();
    let first_page = usize::try_from(column.dictionary_page_offset().unwrap()).unwrap();
    bytes[first_page..first_page + 16].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let source = opened(&path);
    let mut scan = source.scan(&fuseval_core::Scan::new(columns(&["x"]))).unwrap();
    let error = scan.find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(
        in_test(&error.to_string(), &directory),
        "a.parquet: row group 1: expected a readable Parquet file, found `Parquet argument error: Parquet error: \
         Unexpected struct field type 15`; write the file again"
    );
    assert!(scan.next().is_none());
}

#[test]
fn a_file_that_changes_after_opening_is_refused() {
    let directory = directory();
    let path = directory.path().join("a.parquet");
    parquet(&path, &[group(vec![("x", int(&[1, 2, 3]))])]);
    let source = opened(&path);
    parquet(&path, &[group(vec![("x", int(&[1, 2, 3, 4, 5, 6, 7, 8, 9]))])]);
    assert_eq!(
        message(rows(&source, columns(&["x"])), &directory),
        "a.parquet: expected the file as it was when the run began, found another size or time of change; run again \
         when nothing writes to the data"
    );
}

#[test]
fn an_unknown_column_suggests_the_nearest() {
    let directory = directory();
    parquet(directory.path().join("a.parquet"), &[group(vec![("request_id", int(&[1]))])]);
    let source = opened(directory.path());
    let expected = "expected a column of the data, found `requestid`; did you mean `request_id`?";
    assert_eq!(message(source.column_type("requestid"), &directory), expected);
    assert_eq!(message(rows(&source, columns(&["requestid"])), &directory), expected);
}

#[test]
fn of_many_files_the_first_that_is_wrong_is_named() {
    let directory = directory();
    for number in 0..60 {
        let path = directory.path().join(format!("{number:02}.parquet"));
        parquet(&path, &[group(vec![("x", int(&[number]))])]);
    }
    let source = opened(directory.path());
    assert_eq!(source.files().len(), 60);
    let expected: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    assert_eq!(rows(&source, columns(&["x"])).unwrap().len(), 60);
    assert_eq!(values(&source, &["x"]), expected);
    for number in [7, 8, 30, 59] {
        std::fs::write(directory.path().join(format!("{number:02}.parquet")), "no data").unwrap();
    }
    for _ in 0..20 {
        let error = message(open(options(directory.path())), &directory);
        assert!(error.starts_with("07.parquet: expected a complete Parquet file, found `"), "{error}");
    }
}
