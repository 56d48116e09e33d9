//! CSV files.

use arrow_schema::DataType;
use fuseval_core::Source;
use fuseval_source::{FileSource, SourceOptions, open};
use tempfile::TempDir;

use crate::fixture::*;

fn written(files: &[(&str, &str)]) -> TempDir {
    let directory = directory();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

fn with_text(directory: &TempDir, text_columns: &[&str]) -> FileSource {
    let text_columns = text_columns.iter().map(|column| column.to_string()).collect();
    open(SourceOptions { text_columns, ..options(directory.path()) }).unwrap()
}

fn typed(directory: &TempDir, types: &[(&str, &str)]) -> fuseval_core::Result<FileSource> {
    let types = types.iter().map(|(column, name)| (column.to_string(), name.to_string())).collect();
    open(SourceOptions { types, ..options(directory.path()) })
}

#[test]
fn text_is_read_as_written() {
    // Case 067.
    let directory =
        written(&[("a.csv", "user,score\nNA,0.9\n007,0.2\n7,0.6\n1e3,0.3\n1000,0.8\n,1\n\"\",0\n\" x\"\"\",2\n")]);
    let source = with_text(&directory, &["user"]);
    let expected = ["NA 0.9", "007 0.2", "7 0.6", "1e3 0.3", "1000 0.8", "null 1.0", "null 0.0", " x\" 2.0"];
    assert_eq!(values(&source, &["user", "score"]), expected);
    assert_eq!(source.row_count(), None);
    assert_eq!(in_test(&source.place(3), &directory), "a.csv: row 3");
}

#[test]
fn the_whole_file_decides_the_type() {
    let mut content = "x,y\n".to_string();
    content.push_str(&"1,1\n".repeat(5000));
    content.push_str("2.5,late\n");
    let directory = written(&[("a.csv", &content)]);
    let source = opened(directory.path());
    assert_eq!(source.column_type("x").unwrap(), DataType::Float64);
    assert_eq!(source.column_type("y").unwrap(), DataType::LargeUtf8);
    assert_eq!(values(&source, &["y", "x"])[5000], "late 2.5");
}

#[test]
fn types_are_told_from_the_values() {
    let head = "i,f,b,d,t,n,big\n";
    let row = "-7,NaN,true,2024-03-10,2024-03-10T05:01:00Z,,9223372036854775808\n8,1e3,FALSE,,,,1\n";
    let directory = written(&[("a.csv", &format!("{head}{row}"))]);
    let source = opened(directory.path());
    let lines = values(&source, &["i", "f", "b", "d", "t", "n", "big"]);
    let expected = "-7 NaN true 2024-03-10 2024-03-10T05:01:00 null 9223372036854775808";
    assert_eq!(lines, [expected, "8 1000.0 false null null null 1"]);
}

#[test]
fn files_are_unified_and_columns_matched_by_name() {
    let files = [("a.csv", "x,y\n1,\n"), ("b.csv", "y,z,x\nu,0,2.5\n"), ("c.csv", "x,y\n")];
    let directory = written(&files);
    let source = opened(directory.path());
    assert_eq!(source.columns(), ["x", "y", "z"]);
    assert_eq!(rows(&source, columns(&["x", "y"])).unwrap(), ["0/0: 1.0 null", "1/0: 2.5 u"]);
}

#[test]
fn declared_types_go_first() {
    let directory = written(&[("a.csv", "id,t,b,x\n007,2024-03-10 05:01:00.5,true,1\n")]);
    let types = [("id", "int"), ("t", "timestamp"), ("b", "text"), ("x", "float")];
    let source = typed(&directory, &types).unwrap();
    assert_eq!(values(&source, &["id", "t", "b", "x"]), ["7 2024-03-10T05:01:00.500 true 1.0"]);
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_are_no_data() {
    let directory = written(&[("a.csv", "\u{feff}x,y\r\n1,a\r\n2,b\r\n")]);
    let source = opened(directory.path());
    assert_eq!(source.columns(), ["x", "y"]);
    assert_eq!(values(&source, &["x", "y"]), ["1 a", "2 b"]);
}

#[test]
fn a_field_may_hold_commas_and_line_ends() {
    let directory = written(&[("a.csv", "x,y\n\"a,\nb\",1\n\"c\",2")]);
    assert_eq!(values(&opened(directory.path()), &["x", "y"]), ["a,\nb 1", "c 2"]);
}

#[test]
fn a_row_of_another_length_is_refused_with_its_line() {
    let directory = written(&[("a.csv", "x,y\n1,2\n3\n"), ("b.csv", "x,y\n1,2\n")]);
    let expected = "a.csv: expected CSV rows with one field per column, found `Encountered unequal lengths between \
                    records on CSV file. Expected 2 records, found 1 records at line 3`; correct the line";
    assert_eq!(message(opened(directory.path()).column_type("x"), &directory), expected);
    let expected = "a.csv: expected CSV rows with one field per column, found `incorrect number of fields for line 3, \
                    expected 2 got 1`; correct the line";
    let source = with_text(&directory, &["x"]);
    assert_eq!(message(rows(&source, columns(&["x"])), &directory), expected);
}

#[test]
fn a_value_of_another_type_is_refused_with_its_line() {
    let directory = written(&[("a.csv", "x,y\n1,2\n3,many\n")]);
    let source = typed(&directory, &[("y", "int")]).unwrap();
    assert_eq!(
        message(rows(&source, columns(&["y"])), &directory),
        "a.csv: expected a value of the column's type in every CSV row, found `many` instead of \
         Int64 in column `y`, line 3; correct the line, or declare the column as text"
    );
    assert_eq!(values(&source, &["x"]), ["1", "3"]);
}

#[test]
fn a_file_without_header_is_refused() {
    let directory = written(&[("a.csv", "")]);
    assert_eq!(
        message(open(options(directory.path())), &directory),
        "a.csv: expected a header line with the names of the columns, found an empty file; add the header line"
    );
}

#[test]
fn types_that_drift_between_files_are_refused_with_a_way_out() {
    let directory = written(&[("a.csv", "x\n1\n"), ("b.csv", "x\none\n")]);
    assert_eq!(
        message(opened(directory.path()).column_type("x"), &directory),
        "column `x`: expected types that have a safe common type, found Int64 in a.csv and Utf8 in b.csv; declare the \
         type of `x` for the CSV files, or write the files with the same type"
    );
    assert_eq!(values(&typed(&directory, &[("x", "text")]).unwrap(), &["x"]), ["1", "one"]);
}

#[test]
fn unknown_types_and_columns_are_refused() {
    let directory = written(&[("a.csv", "clicks\n1\n")]);
    assert_eq!(
        message(typed(&directory, &[("clicks", "integer")]), &directory),
        "type of `clicks`: expected the name of a type, found `integer`; did you mean `int`?"
    );
    assert_eq!(
        message(typed(&directory, &[("click", "int")]), &directory),
        "types: expected a column of the data, found `click`; did you mean `clicks`?"
    );
}
