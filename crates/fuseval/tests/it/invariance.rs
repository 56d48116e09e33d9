//! A real model with experiments: threads and bucket sizes change no bit of `results`.

use fuseval::Options;
use serde_json::{Value, json};

use crate::common::{evaluated, has_onnxruntime, results, testdata};

fn run_file(backend: &str) -> Value {
    json!({
        "data": {"path": testdata("kuairand/clustered.parquet"), "segment": ["user_id", "date"]},
        "model": {"path": testdata("kuairand/models/multi_head.onnx"), "backend": backend},
        "heads": {
            "pCTR": {"label": "is_click", "kind": "probability"},
            "pGCTR30": {"label": "good_click30", "kind": "probability", "weight": "weight", "mask": "is_click = 1"},
            "pOCTR": {"label": "profile_enter", "kind": "probability"},
        },
        "metrics": ["roc_auc", "roc_auc[thresholds=100]", "log_loss", "calibration", "mae", "rmse", "precision@5"],
        "slices": ["date", "duration_log > 3"],
        "experiments": [{"permute": {"features": "all"}}, {"fill": {"features": ["user_rate", "duration_log"], "with": "mean"}}],
    })
}

#[test]
fn threads_and_bucket_sizes_change_no_bit() {
    let mut backends = vec!["embedded"];
    if has_onnxruntime() {
        backends.push("onnxruntime");
    }
    for backend in backends {
        let found = |threads, bucket_rows| {
            results(&evaluated(&run_file(backend), &Options { threads, bucket_rows, ..Options::default() }).unwrap())
        };
        let expected = found(1, 1_000_000);
        assert_eq!(expected.len(), 12 * 3 * 5 * 7);
        for (threads, bucket_rows) in [(2, 1_000_000), (1, 1000), (2, 1000), (2, 37)] {
            assert_eq!(
                found(threads, bucket_rows),
                expected,
                "{backend}, {threads} threads, {bucket_rows} rows to a bucket"
            );
        }
    }
}
