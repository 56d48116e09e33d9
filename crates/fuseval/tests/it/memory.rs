//! Memory does not grow with rows where it need not: ten times the rows, the same peak. And many cells are small.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Float32Array, Int8Array, Int64Array, RecordBatch};
use fuseval_core::random::KeyedRng;

use crate::common::testdata;

const FEATURES: [&str; 5] = ["duration_log", "user_rate", "user_log_count", "video_rate", "video_log_count"];

/// A log with the features of the multi-head model, in requests of 10 rows.
fn write_log(path: &Path, rows: i64) {
    let mut rng = KeyedRng::new(1, &["memory"]);
    let mut file: Option<fuseval_source::ParquetFile> = None;
    for start in (0..rows).step_by(50_000) {
        let range = start..(start + 50_000).min(rows);
        let len = (range.end - range.start) as usize;
        let mut integers = |bound: u64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values((0..len).map(|_| rng.below(bound) as i64)))
        };
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("request", Arc::new(Int64Array::from_iter_values(range.clone().map(|row| row / 10)))),
            ("user_idx", integers(600)),
            ("video_idx", integers(1000)),
            ("hour", integers(24)),
            ("weekday", integers(7)),
            ("group", integers(10)),
        ];
        for name in FEATURES {
            columns.push((
                name,
                Arc::new(Float32Array::from_iter_values((0..len).map(|_| rng.below(1000) as f32 / 500.0))),
            ));
        }
        columns.push(("click", Arc::new(Int8Array::from_iter_values((0..len).map(|_| rng.below(2) as i8)))));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        file.get_or_insert_with(|| fuseval_source::ParquetFile::create(path, batch.schema()).unwrap())
            .write(&batch)
            .unwrap();
    }
    file.unwrap().finish().unwrap();
}

/// The most memory that a run took, in KiB: the high-water mark that the kernel keeps, read until the process is gone.
fn peak_kib(run_file: &Path) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fuseval"))
        .args(["run", "--quiet", "--threads", "2"])
        .arg(run_file)
        // Checkpoints take memory of their own, twice a partial at most, and how many there are depends on the time.
        .env("FUSEVAL_CHECKPOINT_MS", "3600000")
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Some(mark) = std::fs::read_to_string(&status).ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        }) {
            peak = mark;
        }
        match child.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success());
                return peak;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[test]
fn ten_times_the_rows_take_the_same_memory() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: the high-water mark of memory is read from /proc");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let peak = |rows: i64| {
        let name = format!("log{rows}");
        write_log(&folder.path().join(format!("{name}.parquet")), rows);
        // 20 fill experiments: four constants for each of the five float features.
        let experiments: Vec<String> = FEATURES
            .iter()
            .flat_map(|feature| {
                (0..4).map(move |value| {
                    format!("  - fill: {{feature: {feature}, with: {value}, name: {feature}{value}}}")
                })
            })
            .collect();
        let run_file = folder.path().join(format!("{name}.yaml"));
        let text = format!(
            "data: {{path: {name}.parquet, segment: request}}\n\
             model: {{path: {}, backend: embedded}}\n\
             heads: {{pCTR: {{label: click, kind: probability}}}}\n\
             metrics: [log_loss, calibration, precision@10, \"roc_auc[thresholds=1000]\"]\n\
             experiments:\n{}\n",
            testdata("kuairand/models/multi_head.onnx").display(),
            experiments.join("\n")
        );
        std::fs::write(&run_file, text).unwrap();
        peak_kib(&run_file)
    };
    let (small, large) = (peak(100_000), peak(1_000_000));
    eprintln!("peak memory: {small} KiB for 100,000 rows, {large} KiB for 1,000,000 rows");
    assert!(small > 10_000);
    assert!(large as f64 <= 1.2 * small as f64, "peak memory grew from {small} to {large} KiB");
}

/// 300 experiments × 3 heads × 12 metrics × 10 slices, each cell in 32 folds, on two threads that each have all cells.
#[test]
fn a_hundred_thousand_mean_type_cells_fit_in_a_gibibyte() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: the high-water mark of memory is read from /proc");
        return;
    }
    let metrics = "mae, rmse, log_loss, calibration, wmape, mape, precision@5, recall@5, ndcg@5, mrr, map, hit_rate@5";
    for metric in fuseval_core::MetricId::parse_list(metrics).unwrap() {
        let metric = fuseval_metrics::metric(&metric, &fuseval_core::Defaults::default()).unwrap();
        let cell = 32 * metric.state_bytes(1000).0;
        assert!(cell < 3000, "{} takes {cell} bytes in 32 folds", metric.id());
    }
    let folder = tempfile::tempdir().unwrap();
    write_log(&folder.path().join("log.parquet"), 6000);
    let experiments: Vec<String> = (0..299)
        .map(|place| format!("  - fill: {{feature: {}, with: {}, name: e{place}}}", FEATURES[place % 5], place))
        .collect();
    let run_file = folder.path().join("cells.yaml");
    let text = format!(
        "data: {{path: log.parquet, segment: request}}\n\
         model: {{path: {}, backend: embedded}}\n\
         heads:\n  pCTR: {{label: click, kind: probability}}\n  pGCTR30: {{label: click, kind: probability}}\n  \
         pOCTR: {{label: click, kind: probability}}\n\
         metrics: [{metrics}]\n\
         slices: [group]\n\
         experiments:\n{}\n",
        testdata("kuairand/models/multi_head.onnx").display(),
        experiments.join("\n")
    );
    std::fs::write(&run_file, text).unwrap();
    let peak = peak_kib(&run_file);
    eprintln!("peak memory: {peak} KiB for 300 experiments x 3 heads x 12 metrics x 11 slices in 32 folds");
    assert!(peak <= 1 << 20, "{peak} KiB");
}
