//! Segments whose rows are scattered: brought together by key, the results have the bits of the sorted data.

use std::path::Path;

use arrow_array::{RecordBatch, UInt64Array};
use fuseval::Options;
use fuseval_core::random::{KeyedPermutation, KeyedRng};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::common::{evaluated, fuseval, results, testdata};

/// Writes the rows of a Parquet file in another order, in small row groups.
pub(crate) fn scatter(from: &Path, to: &Path) {
    let file = std::fs::File::open(from).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(1 << 20).build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let [batch] = batches.as_slice() else { panic!("one batch") };
    let order = KeyedPermutation::new(KeyedRng::new(9, &["scatter"]), batch.num_rows() as u64);
    let order = UInt64Array::from_iter_values((0..batch.num_rows() as u64).map(|row| order.image(row)));
    let columns = batch.columns().iter().map(|column| arrow_select::take::take(column.as_ref(), &order, None).unwrap());
    let scattered = RecordBatch::try_new(batch.schema(), columns.collect()).unwrap();
    let properties =
        parquet::file::properties::WriterProperties::builder().set_max_row_group_row_count(Some(500)).build();
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(to).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&scattered).unwrap();
    writer.close().unwrap();
}

fn run_file(path: &Path, clustered: &str) -> Value {
    json!({
        "data": {"path": path, "segment": ["user_id", "date"], "clustered": clustered},
        "model": {"path": testdata("kuairand/models/multi_head.onnx"), "backend": "embedded"},
        "heads": {"pCTR": {"label": "is_click", "kind": "probability"}},
        "metrics": ["roc_auc", "log_loss", "ndcg@5", "map", "gauc", "precision@3[ties=random]"],
        "slices": ["date"],
        "experiments": [{"fill": {"feature": "user_rate", "with": "mean"}}],
    })
}

/// Results without those that follow the places of rows.
fn of_values(all: Vec<Value>) -> Vec<Value> {
    all.into_iter().filter(|row| !row["metric"].as_str().unwrap().contains("random")).collect()
}

#[test]
fn scattered_rows_have_the_bits_of_clustered_ones() {
    let folder = tempfile::tempdir().unwrap();
    let sorted = testdata("kuairand/clustered.parquet");
    let scattered = folder.path().join("scattered.parquet");
    scatter(&sorted, &scattered);
    let found = |path: &Path, clustered: &str, options: &Options| {
        results(&evaluated(&run_file(path, clustered), options).unwrap())
    };
    let expected = of_values(found(&sorted, "yes", &Options::default()));
    for (threads, bucket_rows) in [(1, 100), (2, 8192)] {
        let options = Options { threads, bucket_rows, memory: Some(64 << 20), ..Options::default() };
        assert_eq!(of_values(found(&scattered, "auto", &options)), expected);
        assert_eq!(of_values(found(&scattered, "no", &options)), expected);
        // Of the same rows in the same places, also what follows places.
        assert_eq!(found(&scattered, "auto", &options), found(&scattered, "no", &Options::default()));
        assert_eq!(found(&sorted, "no", &options), found(&sorted, "yes", &Options::default()));
    }
    let error = evaluated(&run_file(&scattered, "yes"), &Options::default()).err().unwrap();
    assert!(error.to_string().contains("next to each other"), "{error}");
}

#[test]
fn keys_of_every_type_come_together() {
    // Zeros of both signs are one key; null is one of its own, and so is the empty text.
    let rows =
        "f,t,n,label,score\n0.0,a,1,1,0.9\n-0.0,a,,0,0.1\n1.5,,2,1,0.3\n0,a,1,0,0.8\n1.5,,2,0,0.7\n-0.0,a,,1,0.2\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    std::fs::write(&path, rows).unwrap();
    let found = |segment: &[&str], types: Value| {
        let run_file = json!({
            "data": {"path": path, "segment": segment, "types": types},
            "heads": {"score": {"label": "label"}},
            "metrics": ["count[of=segments]", "mrr"],
        });
        results(&evaluated(&run_file, &Options::default()).unwrap())[0]["value"].as_f64().unwrap()
    };
    assert_eq!(found(&["f"], json!({"f": "float"})), 2.0);
    assert_eq!(found(&["f", "n"], json!({"f": "float", "n": "int"})), 3.0);
    assert_eq!(found(&["t", "n"], json!({})), 3.0);
}

#[test]
fn a_clustered_copy_has_whole_segments_in_row_groups_with_disjoint_keys() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let folder = tempfile::tempdir().unwrap();
    let scattered = folder.path().join("scattered.parquet");
    scatter(&testdata("kuairand/clustered.parquet"), &scattered);
    let bucket = |out: &str| {
        let arguments =
            ["bucket", "scattered.parquet", "--by", "user_id", "--by", "date", "--bucket-rows", "300", "--out", out];
        fuseval(folder.path(), &arguments)
    };
    let output = bucket("copy");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.path().join("copy/part-00000.parquet");
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&file).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().to_vec();
    assert!(groups.len() > 10);
    let mut last = i64::MIN;
    for group in &groups {
        let column = group.columns().iter().find(|column| column.column_path().string() == "user_id").unwrap();
        let Some(parquet::file::statistics::Statistics::Int64(range)) = column.statistics() else {
            panic!("statistics")
        };
        assert!(*range.min_opt().unwrap() >= last, "key ranges ascend");
        last = *range.max_opt().unwrap();
    }
    let rows: usize = reader
        .build()
        .unwrap()
        .map(|batch| batch.unwrap().column_by_name("user_id").unwrap().as_primitive::<Int64Type>().len())
        .sum();
    assert_eq!(rows, 6112);
    // Read without a sort, the copy has the values of the original.
    let found = |path: &Path, clustered: &str| {
        of_values(results(&evaluated(&run_file(path, clustered), &Options::default()).unwrap()))
    };
    assert_eq!(found(&folder.path().join("copy"), "yes"), found(&scattered, "no"));
    // What is there is not overwritten, and what is asked wrongly leaves nothing.
    assert_eq!(bucket("copy").status.code(), Some(2));
    let wrong = fuseval(folder.path(), &["bucket", "scattered.parquet", "--by", "user", "--out", "other"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
    let mut names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["copy", "scattered.parquet"]);
}

#[test]
fn items_of_a_list_keep_their_order_when_they_are_brought_together() {
    let folder = tempfile::tempdir().unwrap();
    // One positive, first in its list, among many items of one score.
    let list = |first: u32| format!("[{first}{}]", ", 0".repeat(40));
    let row = |request: u32| format!("{{\"request\": {request}, \"label\": {}, \"score\": {}}}\n", list(1), list(0));
    let text: String = (0..300).map(|place| row(place * 7919 % 300)).collect();
    std::fs::write(folder.path().join("lists.ndjson"), text).unwrap();
    let arguments = [
        "score",
        "lists.ndjson",
        "--label",
        "label",
        "--score",
        "score",
        "--segment",
        "request",
        "--explode",
        "label,score",
        "-m",
        "mrr[ties=stable]",
        "--format",
        "json",
        "--set",
        "data.clustered=no",
    ];
    let output = fuseval(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["results"][0]["value"], 1.0);
    assert_eq!(json["run"]["order_dependent"], json!(["mrr[ties=stable]"]));
}

#[test]
fn segments_on_standard_output_come_once_where_the_run_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|row| format!("{},{},0.{}\n", row % 20, row % 2, row % 7)).collect();
    std::fs::write(folder.path().join("d.csv"), format!("request,label,score\n{rows}")).unwrap();
    let arguments = [
        "score",
        "d.csv",
        "--label",
        "label",
        "--score",
        "score",
        "--segment",
        "request",
        "-m",
        "mrr",
        "--per-segment",
        "--bucket-rows",
        "5",
    ];
    let output = fuseval(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1 + 20);
}
