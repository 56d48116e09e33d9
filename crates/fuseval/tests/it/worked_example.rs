//! The published worked example: eight rows, two requests.

use std::path::PathBuf;

use fuseval::Options;
use serde_json::{Value, json};

use crate::common::{evaluated, results, testdata};

const METRICS: [&str; 4] =
    ["roc_auc", "roc_auc[thresholds=[0,0.25,0.5,0.75,1]]", "roc_auc[thresholds=100]", "precision@2"];

fn binary(path: PathBuf, bucket_rows: usize) -> Vec<Value> {
    let run_file = json!({
        "data": {"path": path, "segment": "request_id"},
        "heads": {"score": {"label": "label_binarized", "kind": "probability"}},
        "metrics": METRICS,
    });
    results(&evaluated(&run_file, &Options { bucket_rows, ..Options::default() }).unwrap())
}

fn mae(path: PathBuf) -> f64 {
    let run_file = json!({
        "data": {"path": path},
        "heads": {"score": {"label": "label_continuous"}},
        "metrics": ["mae"],
    });
    results(&evaluated(&run_file, &Options::default()).unwrap())[0]["value"].as_f64().unwrap()
}

#[test]
fn the_published_figures_come_out() {
    assert!((mae(testdata("worked_example/worked.csv")) / 0.18125 - 1.0).abs() <= 1e-12);
    // The file holds float32 labels and scores: 0.1 is not 0.1 there.
    assert!((mae(testdata("worked_example/worked.parquet")) / 0.18125 - 1.0).abs() <= 1e-7);
    for file in ["worked.csv", "worked.parquet"] {
        let values: Vec<f64> = binary(testdata("worked_example").join(file), 1000)
            .iter()
            .map(|record| record["value"].as_f64().unwrap())
            .collect();
        assert_eq!(values, [0.9375, 0.875, 0.9375, 0.75], "{file}");
    }
}

#[test]
fn one_bucket_per_request_gives_the_bits_of_one_bucket_for_all() {
    let path = || testdata("worked_example/worked.parquet");
    assert_eq!(binary(path(), 1), binary(path(), 1000));
}

#[test]
fn interleaved_requests_come_together_unless_they_are_declared_whole() {
    let interleaved = testdata("worked_example/worked_interleaved.parquet");
    assert_eq!(binary(interleaved.clone(), 1), binary(testdata("worked_example/worked.parquet"), 1000));
    let run_file = json!({
        "data": {"path": interleaved, "segment": "request_id", "clustered": "yes"},
        "heads": {"score": {"label": "label_binarized", "kind": "probability"}},
        "metrics": ["precision@2"],
    });
    let error = evaluated(&run_file, &Options::default()).err().unwrap();
    assert!(error.to_string().contains("row group 0, row 2"), "{error}");
    assert!(error.to_string().contains("request_id = ReqB"), "{error}");
}
