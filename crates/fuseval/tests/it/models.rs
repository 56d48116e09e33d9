//! Every model of `testdata/models.json`: its scores against those recorded, on each backend that can run it.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use fuseval::Options;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::common::{evaluated, has_onnxruntime, testdata};

fn column(batches: &[RecordBatch], name: &str) -> Vec<f64> {
    let mut values = Vec::new();
    for batch in batches {
        let array = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
        match array.as_primitive_opt::<Float64Type>() {
            Some(array) => values.extend(array.values()),
            None => values.extend(array.as_primitive::<Float32Type>().values().iter().map(|value| f64::from(*value))),
        }
    }
    values
}

/// Runs a model with its predictions written, and compares them with the recorded scores carried along.
fn check(entry: &Value, backend: &str) {
    let folder = tempfile::tempdir().unwrap();
    let predictions = folder.path().join("predictions.parquet");
    let heads = entry["heads"].as_object().unwrap();
    let mut run_file = json!({
        "data": {
            "path": testdata(entry["file"].as_str().unwrap()),
            // Any column does as a label: only the scores are looked at.
            "derive": {"zero": "0"},
            "carryover": heads.values().map(|head| head["recorded"].clone()).collect::<Vec<_>>(),
        },
        "model": {"path": testdata(entry["model"].as_str().unwrap()), "backend": backend},
        "heads": heads.iter().map(|(name, head)| (format!("head_{name}"), json!({"score": head["score"], "label": "zero"}))).collect::<serde_json::Map<_, _>>(),
        "metrics": ["mae"],
        "output": {"predictions": true},
    });
    if !entry["inputs"].is_null() {
        run_file["model"]["inputs"] = entry["inputs"].clone();
    }
    let options = Options { predictions: Some(predictions.clone()), ..Options::default() };
    evaluated(&run_file, &options).unwrap_or_else(|error| panic!("{}: {error}", entry["model"]));
    let file = std::fs::File::open(predictions).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    for (name, head) in heads {
        let ours = column(&batches, &format!("head_{name}"));
        let recorded = column(&batches, head["recorded"].as_str().unwrap());
        assert!(ours.len() > 5);
        let worst = ours.iter().zip(&recorded).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= 1e-5, "{} on {backend}, head {name}: scores differ by {worst}", entry["model"]);
    }
}

fn entries() -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(testdata("models.json")).unwrap()).unwrap()
}

#[test]
fn the_embedded_engine_gives_the_recorded_scores() {
    let embedded: Vec<Value> = entries().into_iter().filter(|entry| entry["embedded"] == true).collect();
    assert!(embedded.len() >= 6);
    embedded.iter().for_each(|entry| check(entry, "embedded"));
}

#[test]
fn onnx_runtime_gives_the_recorded_scores_of_every_model() {
    if has_onnxruntime() {
        entries().iter().for_each(|entry| check(entry, "onnxruntime"));
    }
}
