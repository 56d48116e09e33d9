//! All formats and their compression: the same values, bit by bit, as from the Parquet file.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::DataType;
use datafusion::arrow::{csv, json};
use fuseval_core::{Result, Scan, Source};
use fuseval_source::{FileSource, SourceOptions, open};
use tempfile::TempDir;

use crate::fixture::*;

/// Rows whose values are hard to keep: floats with all their bits, large integers, odd texts, nulls.
fn batch(rows: usize) -> RecordBatch {
    let score = |row: usize| f64::from_bits(0x3ff0_0000_0000_0001 + row as u64 * 7_919_000_003) / 3.0;
    let floats: Float64Array = (0..rows).map(|row| (row % 7 != 3).then(|| score(row))).collect();
    let integers: Int64Array = (0..rows).map(|row| (row % 5 != 2).then_some((row as i64 - 3) << 40)).collect();
    let booleans: BooleanArray = (0..rows).map(|row| Some(row % 3 == 0)).collect();
    let texts: Vec<Option<String>> = (0..rows)
        .map(|row| {
            (row % 11 != 4).then(|| ["a, b", "\"é\"", "0x", "line\nend", "NA"][row % 5].to_string() + &row.to_string())
        })
        .collect();
    let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
    group(vec![
        ("score", Arc::new(floats) as ArrayRef),
        ("n", Arc::new(integers) as ArrayRef),
        ("yes", Arc::new(booleans) as ArrayRef),
        ("text", optional_text(&texts)),
    ])
}

fn write(path: &Path, batches: &[RecordBatch]) {
    let file = File::create(path).unwrap();
    let schema = batches[0].schema();
    match path.extension().unwrap().to_str().unwrap() {
        "csv" => {
            let mut writer = csv::Writer::new(file);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
        }
        "ndjson" | "jsonl" | "json" => {
            let mut writer = json::LineDelimitedWriter::new(file);
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "arrow" => {
            let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "feather" => {
            let lz4 = Some(arrow_ipc::CompressionType::LZ4_FRAME);
            let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(lz4).unwrap();
            let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(file, &schema, options).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "ipc" => {
            let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "avro" => {
            let mut writer = arrow_avro::writer::AvroWriter::new(file, schema.as_ref().clone()).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        "parquet" => parquet(path, batches),
        other => panic!("{other}"),
    }
}

/// The bytes compressed as two members, frames or streams, as parallel compressors write them.
fn compressed(bytes: &[u8], end: &str) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 3);
    let one = |part: &[u8]| match end {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap()
        }
        "zst" => zstd::encode_all(part, 1).unwrap(),
        "bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap()
        }
        other => panic!("{other}"),
    };
    [one(first), one(second)].concat()
}

/// All values with their bits.
fn bits(source: &FileSource) -> Vec<String> {
    let mut lines = Vec::new();
    for rows in source.scan(&Scan::new(columns(&["text", "yes", "n", "score"]))).unwrap() {
        let rows = rows.unwrap();
        let as_text = |column: &ArrayRef| arrow_cast::cast(column, &DataType::LargeUtf8).unwrap();
        let [text, yes, n, score] = rows.columns.as_slice() else { panic!("{} columns", rows.columns.len()) };
        let score = score.as_any().downcast_ref::<Float64Array>().unwrap();
        let texts: Vec<ArrayRef> = [text, yes, n].map(as_text).to_vec();
        for (row, number) in rows.places.iter().enumerate() {
            let text = |array: &ArrayRef| {
                let array = array.as_any().downcast_ref::<arrow_array::LargeStringArray>().unwrap();
                arrow_array::Array::is_valid(array, row).then(|| array.value(row).to_string())
            };
            let bits = arrow_array::Array::is_valid(score, row).then(|| score.value(row).to_bits());
            lines.push(format!("{number} {:?} {bits:?}", texts.iter().map(text).collect::<Vec<_>>()));
        }
    }
    lines
}

fn source(path: impl AsRef<Path>) -> FileSource {
    let text_columns = vec!["text".to_string()];
    open(SourceOptions { text_columns, ..options(path) }).unwrap()
}

#[test]
fn every_format_and_compression_gives_the_values_of_the_parquet_file() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    // More rows than a batch, in batches of other sizes.
    let whole = batch(20_000);
    let batches = [whole.slice(0, 3), whole.slice(3, 12_997), whole.slice(13_000, 7_000)];
    write(&at("a.parquet"), &batches);
    let expected = bits(&source(at("a.parquet")));
    assert_eq!(expected.len(), 20_000);
    for end in ["csv", "ndjson", "jsonl", "json", "arrow", "feather", "ipc", "avro"] {
        let path = at(&format!("a.{end}"));
        write(&path, &batches);
        assert!(bits(&source(&path)) == expected, "{end}");
        if ["csv", "ndjson"].contains(&end) {
            let bytes = std::fs::read(&path).unwrap();
            for compression in ["gz", "zst", "bz2"] {
                let path = at(&format!("a.{end}.{compression}"));
                std::fs::write(&path, compressed(&bytes, compression)).unwrap();
                assert!(bits(&source(&path)) == expected, "{end}.{compression}");
            }
        }
    }
}

#[test]
fn formats_go_together_in_one_data_set() {
    let directory = directory();
    for (place, end) in ["parquet", "csv", "ndjson", "arrow", "avro"].iter().enumerate() {
        std::fs::create_dir_all(directory.path().join(format!("part={place}"))).unwrap();
        write(&directory.path().join(format!("part={place}/x.{end}")), &[batch(40).slice(place * 8, 8)]);
    }
    write(&directory.path().join("part=4/other.json"), &[batch(1)]);
    let source = source(directory.path());
    assert_eq!(source.files().len(), 5);
    let lines = values(&source, &["n", "part"]);
    assert_eq!(lines.len(), 40);
    assert_eq!((lines[0].as_str(), lines[39].as_str()), ("-3298534883328 0", "39582418599936 4"));
    assert_eq!(source.row_count(), None);
    // A column of partitions alone has as many rows.
    assert_eq!(values(&source, &["part"]).len(), 40);
}

fn written(files: &[(&str, &str)]) -> TempDir {
    let directory = directory();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

#[test]
fn a_directory_takes_json_only_by_name() {
    let directory = written(&[("a.json", "{\"x\": 1}\n")]);
    assert_eq!(
        message(open(options(directory.path())), &directory),
        "expected a directory with files of data, found none below `.`; check the path; `*.json` files are read where they \
         are named or match a glob"
    );
    assert_eq!(values(&opened(directory.path().join("*.json")), &["x"]), ["1"]);
}

#[test]
fn keys_of_json_are_columns_with_types_of_their_own() {
    let lines = "{\"id\": 7, \"s\": 1, \"t\": \"007\", \"big\": 18446744073709551615, \"l\": [1, 2.5]}\n\n\
                 {\"s\": 0.1, \"late\": true, \"o\": {\"a\": [null, \"x\"]}, \"id\": -9223372036854775808}\n";
    let directory = written(&[("a.ndjson", lines)]);
    let text_columns = vec!["id".to_string()];
    let source = open(SourceOptions { text_columns, ..options(directory.path()) }).unwrap();
    assert_eq!(source.columns(), ["id", "s", "t", "big", "l", "late", "o"]);
    let types = ["id", "s", "t", "big", "late"].map(|column| source.column_type(column).unwrap());
    let expected = [DataType::Int64, DataType::Float64, DataType::LargeUtf8, DataType::UInt64, DataType::Boolean];
    assert_eq!(types, expected);
    let expected = ["7 1.0 007 18446744073709551615 [1.0, 2.5] null", "-9223372036854775808 0.1 null null null true"];
    assert_eq!(values(&source, &["id", "s", "t", "big", "l", "late"]), expected);
    let types = vec![("id".to_string(), "text".to_string()), ("s".to_string(), "text".to_string())];
    let source = open(SourceOptions { types, ..options(directory.path()) }).unwrap();
    assert_eq!(values(&source, &["id", "s"]), ["7 1", "-9223372036854775808 0.1"]);
}

#[test]
fn json_that_is_no_row_is_refused_with_its_line() {
    let directory = directory();
    let path = directory.path().join("a.ndjson");
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        message(open(options(&path)), &directory)
    };
    assert_eq!(
        refused("[{\"x\": 1}]"),
        "a.ndjson: line 1: expected one JSON object per line, found a list; write its objects one per line, for example \
         with `jq -c '.[]'`"
    );
    assert_eq!(
        refused("{\"x\": 1}\n{\n \"x\": 1\n}\n"),
        "a.ndjson: line 2: expected one JSON object per line, found an object that does not end on the line; write each \
         object on one line (`jq -c .`)"
    );
    assert_eq!(
        refused("{\"x\": 1}\n{\"x\": NaN}\n"),
        "a.ndjson: line 2: expected one JSON object per line, found `expected value` at character 7; correct the line; \
         JSON has no NaN: write null"
    );
    assert_eq!(refused(""), "a.ndjson: expected one JSON object per line, found an empty file; leave the file out");
    assert!(refused("{\"x\": 1, \"x\": 2}").contains("found `a key that comes twice` at character "));
    for text in ["7", "{\"x\": 1} {\"x\": 2}", "{\"x\": 1", "\u{feff}{\"x\": 1}", "{\"x\" 1}", "nul", "\"\\ud800\""] {
        assert!(refused(text).starts_with("a.ndjson: "), "{text}: {}", refused(text));
    }
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refused(&deep).starts_with("a.ndjson: line 1: "));
}

#[test]
fn values_of_several_types_are_refused_where_they_are_asked_for() {
    let directory = written(&[("a.ndjson", "{\"x\": 1, \"y\": 2}\n{\"x\": \"one\", \"y\": 3}\n")]);
    let source = opened(directory.path());
    assert_eq!(values(&source, &["y"]), ["2", "3"]);
    assert_eq!(rows(&source, Vec::new()).unwrap(), ["0/0: ", "0/1: "]);
    let empty = written(&[("a.ndjson", "{}\n{}\n{\"x\": [1, {}]}\n")]);
    assert_eq!(rows(&opened(empty.path()), Vec::new()).unwrap().len(), 3);
    assert_eq!(
        message(source.column_type("x"), &directory),
        "a.ndjson: expected values of one type in column `x`, found integers and texts; write one type, or declare the \
         column as text: `types: {x: text}`"
    );
    let types = |name: &str| {
        let types = vec![("x".to_string(), name.to_string())];
        open(SourceOptions { types, ..options(directory.path()) }).unwrap()
    };
    assert_eq!(values(&types("text"), &["x"]), ["1", "one"]);
    let error = message(rows(&types("int"), columns(&["x"])), &directory);
    assert!(
        error.starts_with("a.ndjson: line 2: expected values of the columns' types in every line, found `"),
        "{error}"
    );
    let wide = written(&[("a.ndjson", "{\"x\": 9007199254740993}\n{\"x\": 0.5}\n")]);
    assert_eq!(
        message(opened(wide.path()).column_type("x"), &wide),
        "a.ndjson: expected values of one type in column `x`, found integers above 2^53, which floats do not hold, and \
         floats; write one type, or declare the column as text: `types: {x: text}`"
    );
}

/// What reading a damaged file ends with.
fn end_of(path: &Path) -> Result<usize> {
    let source = open(options(path))?;
    let mut count = 0;
    for rows in source.scan(&Scan::new(columns(&["n"])))? {
        count += rows?.len();
    }
    Ok(count)
}

#[test]
fn files_that_were_cut_off_are_refused() {
    let directory = directory();
    let batch = batch(3000);
    let batches: Vec<RecordBatch> = (0..30).map(|place| batch.slice(place * 100, 100)).collect();
    for end in ["csv", "ndjson", "arrow", "feather", "ipc", "avro"] {
        let path = directory.path().join(format!("whole.{end}"));
        write(&path, &batches);
        let mut whole = std::fs::read(&path).unwrap();
        let mut name = format!("cut.{end}");
        if ["csv", "ndjson"].contains(&end) {
            for compression in ["gz", "zst", "bz2"] {
                let path = directory.path().join(format!("cut.{end}.{compression}"));
                let whole = compressed(&whole, compression);
                for length in [whole.len() - 1, whole.len() / 2] {
                    std::fs::write(&path, &whole[..length]).unwrap();
                    let error = end_of(&path).unwrap_err().to_string();
                    assert!(error.contains("expected a complete "), "{compression} {length}: {error}");
                    assert!(error.contains(&format!("cut.{end}.{compression}")), "{error}");
                }
            }
            whole.truncate(whole.len() - 3);
            name = String::new();
        }
        if name.is_empty() {
            continue;
        }
        let path = directory.path().join(name);
        for length in [whole.len() - 1, whole.len() - 20, whole.len() / 2, whole.len() / 5, 3, 0] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = end_of(&path).expect_err(&format!("{end} {length}"));
            assert_eq!(error.kind(), fuseval_core::ErrorKind::Data, "{end} {length}: {error}");
            assert!(error.to_string().contains(&format!("cut.{end}")), "{end} {length}: {error}");
        }
    }
}

#[test]
fn xz_is_read_in_all_its_streams() {
    // `printf 'n\n1\n' | xz; printf '2\n' | xz`, one after the other.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/stores/two_streams.csv.xz");
    assert_eq!(values(&opened(file), &["n"]), ["1", "2"]);
    let directory = directory();
    let whole = std::fs::read(file).unwrap();
    let path = directory.path().join("cut.csv.xz");
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let error = message(end_of(&path), &directory);
    assert!(error.starts_with("cut.csv.xz: expected a complete xz file, found `"), "{error}");
}

#[test]
fn types_of_arrow_and_avro_are_those_of_parquet() {
    let directory = directory();
    let narrow: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 0.7]));
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0]));
    let batch = group(vec![("f", narrow), ("u", large)]);
    for end in ["parquet", "arrow", "ipc"] {
        let path = directory.path().join(format!("a.{end}"));
        write(&path, std::slice::from_ref(&batch));
        let source = opened(&path);
        assert_eq!(source.column_type("f").unwrap(), DataType::Float32);
        assert_eq!(source.column_type("u").unwrap(), DataType::UInt64);
        assert_eq!(values(&source, &["u", "f"]), ["18446744073709551615 0.1", "0 0.7"]);
    }
    let path = directory.path().join("a.avro");
    write(&path, &[batch.project(&[0]).unwrap()]);
    assert_eq!(opened(&path).column_type("f").unwrap(), DataType::Float32);
}

#[test]
fn identities_change_with_the_content() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    write(&at("a.parquet"), &[batch(5)]);
    write(&at("b.csv"), &[batch(5)]);
    let identities = || {
        let source = opened(directory.path());
        let identities = source.identities();
        assert_eq!(identities.iter().map(|identity| identity.shown.clone()).collect::<Vec<_>>(), source.files());
        identities
    };
    let first = identities();
    assert_eq!(first, identities());
    assert!(first[0].content.starts_with("footer:") && first[0].content.len() == "footer:".len() + 32);
    assert!(first[1].content.starts_with("modified:") && first[1].content.len() > 20);
    // A copy at another time has the same footer.
    let bytes = std::fs::read(at("a.parquet")).unwrap();
    std::fs::remove_file(at("a.parquet")).unwrap();
    std::fs::write(at("a.parquet"), bytes).unwrap();
    assert_eq!(first[0], identities()[0]);
    write(&at("a.parquet"), &[batch(6)]);
    write(&at("b.csv"), &[batch(6)]);
    let second = identities();
    assert!(first[0].content != second[0].content && first[1].content != second[1].content);
}

#[test]
fn damaged_files_are_refused_or_read_without_a_panic() {
    let directory = directory();
    let batch = batch(60);
    let mut rng = fuseval_core::random::KeyedRng::new(3, &["damage"]);
    // Not Avro: the reader of `arrow-avro` 59.3 never ends where the number of rows of a block was damaged.
    for end in ["arrow", "feather", "ipc", "ndjson", "csv", "parquet"] {
        let path = directory.path().join(format!("a.{end}"));
        write(&path, &[batch.slice(0, 30), batch.slice(30, 30)]);
        let whole = std::fs::read(&path).unwrap();
        for _ in 0..400 {
            let mut damaged = whole.clone();
            for _ in 0..1 + rng.below(3) {
                let place = rng.below(damaged.len() as u64) as usize;
                damaged[place] = [0, 0xff, 0x7f, 0x80, rng.below(256) as u8][rng.below(5) as usize];
            }
            std::fs::write(&path, &damaged).unwrap();
            if let Err(error) = end_of(&path) {
                assert_ne!(error.kind(), fuseval_core::ErrorKind::Defect, "{end}: {error}");
            }
        }
    }
}
