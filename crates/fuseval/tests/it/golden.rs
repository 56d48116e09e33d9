//! Golden tests: the whole of standard output, standard error and exit code of the binary, for good input and bad.
//! `make golden` writes the expected texts anew.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::common::{fuseval, root, testdata};

/// Writes a Parquet file with row groups of three rows.
fn parquet(folder: &Path, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3)).build();
    let file = std::fs::File::create(folder.join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn floats(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn integers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// The files that the cases use.
fn files(folder: &Path) {
    let scores = [0.9, 0.4, 0.3, 0.8, 0.2];
    let requests = texts(&["a", "a", "b", "b", "b"]);
    let labels = integers(&[1, 0, 1, 1, 0]);
    let with = |scores: &[f64], labels: ArrayRef| {
        vec![("request", requests.clone()), ("score", floats(scores)), ("label", labels)]
    };
    parquet(folder, "good.parquet", with(&scores, labels.clone()));
    parquet(folder, "nan.parquet", with(&[0.9, 0.4, 0.3, f64::NAN, f64::NAN], labels.clone()));
    parquet(folder, "logits.parquet", with(&[2.5, -1.0, 0.3, 0.8, 0.2], labels.clone()));
    parquet(folder, "graded.parquet", with(&scores, integers(&[1, 0, 3, 1, 0])));
    parquet(
        folder,
        "scattered.parquet",
        vec![("request", texts(&["a", "b", "a", "b", "b"])), ("score", floats(&scores)), ("label", labels.clone())],
    );
    std::fs::create_dir_all(folder.join("lacks")).unwrap();
    parquet(&folder.join("lacks"), "d1.parquet", with(&scores, labels.clone()));
    parquet(&folder.join("lacks"), "d2.parquet", vec![("score", floats(&scores)), ("request", requests.clone())]);
    std::fs::create_dir_all(folder.join("drift")).unwrap();
    parquet(&folder.join("drift"), "d1.parquet", with(&scores, labels.clone()));
    parquet(&folder.join("drift"), "d2.parquet", with(&scores, texts(&["1", "0", "1", "1", "0"])));
    std::fs::create_dir_all(folder.join("harmless")).unwrap();
    parquet(&folder.join("harmless"), "d1.parquet", with(&scores, labels.clone()));
    let narrow: ArrayRef = Arc::new(Float32Array::from(vec![0.5f32, 0.25]));
    parquet(
        &folder.join("harmless"),
        "d2.parquet",
        vec![
            ("label", floats(&[1.0, 0.0])),
            ("nobody asked", integers(&[1, 2])),
            ("score", narrow),
            ("request", texts(&["c", "c"])),
        ],
    );
    let whole = std::fs::read(folder.join("good.parquet")).unwrap();
    std::fs::write(folder.join("cut.parquet"), &whole[..whole.len() - 40]).unwrap();
    std::fs::write(folder.join("broken.onnx"), b"this is no model").unwrap();
    std::fs::create_dir_all(folder.join("foreign")).unwrap();
    std::fs::write(folder.join("foreign/thesis.txt"), "precious").unwrap();
    let run_file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    run_file(
        "key.yaml",
        "data:\n  path: good.parquet\n  segmnet: [request]\nheads: {score: {label: label}}\nmetrics: [mae]\n",
    );
    run_file(
        "modelkey.yaml",
        "data: {path: good.parquet}\nmodel:\n  path: broken.onnx\n  backnd: auto\nheads: {score: {label: label}}\nmetrics: [mae]\n",
    );
    run_file("list.yaml", "- permute: hour\n");
    run_file("later.yaml", "data: {path: good.parquet}\nheads: {score: {label: label}}\nmetrics: [mae]\ngates: []\n");
    run_file(
        "broken.yaml",
        "data: {path: good.parquet}\nmodel: {path: broken.onnx, backend: embedded}\nheads: {score: {label: label}}\nmetrics: [mae]\n",
    );
    run_file(
        "nomodel.yaml",
        "data: {path: good.parquet}\nmodel: {path: none.onnx, backend: embedded}\nheads: {score: {label: label}}\nmetrics: [mae]\n",
    );
    run_file(
        "foreign.yaml",
        "data: {path: good.parquet}\nheads: {score: {label: label}}\nmetrics: [mae]\noutput: {dir: foreign}\n",
    );
    run_file(
        "nan.yaml",
        "data: {path: nan.parquet}\nheads: {score: {label: label}}\nmetrics: [mae]\noutput: {dir: out}\n",
    );
    let model = testdata("kuairand/models/multi_head.onnx");
    run_file(
        "inputs.yaml",
        &format!(
            "data: {{path: good.parquet}}\nmodel: {{path: {}, backend: embedded}}\nheads: {{pCTR: {{label: label}}}}\nmetrics: [mae]\n",
            model.display()
        ),
    );
    let trees = testdata("lightgbm/models/xgb_binary.onnx");
    run_file(
        "trees.yaml",
        &format!(
            "data: {{path: good.parquet}}\nmodel: {{path: {}, backend: embedded}}\nheads: {{pCTR: {{label: label}}}}\nmetrics: [mae]\n",
            trees.display()
        ),
    );
}

/// A case: its name and its arguments.
const CASES: &[(&str, &[&str])] = &[
    (
        "score_table",
        &[
            "score",
            "good.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "--kind",
            "probability",
            "-m",
            "roc_auc,log_loss,precision@1,precision@3",
        ],
    ),
    (
        "score_markdown",
        &[
            "score",
            "good.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "--slice",
            "request",
            "--slice",
            "score > 0.5",
            "-m",
            "roc_auc,mae",
            "--format",
            "markdown",
        ],
    ),
    (
        "score_csv",
        &[
            "score",
            "good.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "--slice",
            "request",
            "-m",
            "roc_auc,roc_auc[thresholds=[0,0.5,1]]",
            "--format",
            "csv",
        ],
    ),
    (
        "score_json",
        &[
            "score",
            "good.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--slice",
            "request",
            "-m",
            "mae",
            "--format",
            "json",
            "--threads",
            "1",
        ],
    ),
    (
        "drift_that_does_no_harm",
        &[
            "score",
            "harmless",
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "-m",
            "roc_auc,precision@1",
        ],
    ),
    ("no_arguments", &[]),
    ("missing_label_argument", &["score", "good.parquet", "--score", "score", "-m", "mae"]),
    ("missing_file", &["score", "none.parquet", "--label", "label", "--score", "score", "-m", "mae"]),
    ("empty_glob", &["score", "none/*.parquet", "--label", "label", "--score", "score", "-m", "mae"]),
    ("unknown_column", &["score", "good.parquet", "--label", "lable", "--score", "score", "-m", "mae"]),
    ("unknown_score_column", &["score", "good.parquet", "--label", "label", "--score", "scores", "-m", "mae"]),
    ("unknown_metric", &["score", "good.parquet", "--label", "label", "--score", "score", "-m", "mae,roc_acu"]),
    ("bad_sql", &["score", "good.parquet", "--label", "label", "--score", "score", "-m", "mae", "--filter", "score >"]),
    (
        "unknown_column_in_sql",
        &["score", "good.parquet", "--label", "label", "--score", "score", "-m", "mae", "--filter", "scoer > 0"],
    ),
    (
        "zero_rows_after_the_filter",
        &["score", "good.parquet", "--label", "label", "--score", "score", "-m", "mae", "--filter", "score > 2"],
    ),
    ("label_out_of_range", &["score", "graded.parquet", "--label", "label", "--score", "score", "-m", "roc_auc"]),
    ("nan_score", &["score", "nan.parquet", "--label", "label", "--score", "score", "-m", "roc_auc"]),
    (
        "nan_score_dropped",
        &["score", "nan.parquet", "--label", "label", "--score", "score", "-m", "roc_auc", "--on-invalid", "drop"],
    ),
    (
        "probability_out_of_range",
        &["score", "logits.parquet", "--label", "label", "--score", "score", "--kind", "probability", "-m", "log_loss"],
    ),
    ("raw_score_for_log_loss", &["score", "logits.parquet", "--label", "label", "--score", "score", "-m", "log_loss"]),
    (
        "scattered_segments",
        &[
            "score",
            "scattered.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "-m",
            "precision@1",
        ],
    ),
    ("column_missing_from_one_file", &["score", "lacks", "--label", "label", "--score", "score", "-m", "mae"]),
    ("types_that_do_not_fit", &["score", "drift", "--label", "label", "--score", "score", "-m", "mae"]),
    ("truncated_parquet", &["score", "cut.parquet", "--label", "label", "--score", "score", "-m", "mae"]),
    ("missing_run_file", &["run", "none.yaml"]),
    ("unknown_key", &["run", "key.yaml"]),
    ("key_of_a_later_version", &["run", "later.yaml"]),
    ("set_of_an_unknown_key", &["run", "foreign.yaml", "--set", "output.folder=x"]),
    ("foreign_directory", &["run", "foreign.yaml"]),
    ("model_that_is_none", &["run", "broken.yaml"]),
    ("missing_model", &["run", "nomodel.yaml"]),
    ("input_without_a_column", &["run", "inputs.yaml"]),
    ("operator_that_is_not_embedded", &["run", "trees.yaml"]),
    ("nan_in_a_run", &["run", "nan.yaml"]),
    ("unknown_key_of_the_model", &["run", "modelkey.yaml"]),
    ("run_file_that_is_no_map", &["run", "list.yaml"]),
    (
        "predictions_of_score",
        &[
            "score",
            "good.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "-m",
            "mae",
            "--set",
            "output.predictions=true",
        ],
    ),
    (
        "too_many_threads",
        &["score", "good.parquet", "--label", "label", "--score", "score", "-m", "mae", "--threads", "100000"],
    ),
    ("schema", &["schema"]),
    ("help_run", &["run", "--help"]),
    ("help_score", &["score", "--help"]),
];

#[test]
fn golden_texts_of_the_binary() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let mut wrong = Vec::new();
    for (name, arguments) in CASES {
        let output = fuseval(folder.path(), arguments);
        let found = format!(
            "$ fuseval {}\nexit code {}\n--- standard output\n{}--- standard error\n{}",
            arguments.join(" "),
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let found = stable(&found.replace(&root().display().to_string(), "ROOT"));
        let path = root().join("crates/fuseval/tests/it/golden").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, found).unwrap();
        } else {
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            if found != expected {
                wrong.push(format!("=== {name}: expected\n{expected}=== found\n{found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // No failed run left anything behind.
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".writing-") || ["runs", "out"].contains(&name.as_str()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("foreign/thesis.txt")).unwrap(), "precious");
}

/// Times, which differ from run to run, taken out.
fn stable(text: &str) -> String {
    let is_time = |line: &str| {
        ["wall_s", "read_s", "perturb_s", "infer_s", "metric_s"].iter().any(|key| line.contains(&format!("\"{key}\"")))
    };
    let mut out = String::new();
    for line in text.lines() {
        match line.split_once(':') {
            Some((key, _)) if is_time(line) => out.push_str(&format!("{key}: TIME,")),
            _ => out.push_str(line.trim_end()),
        }
        out.push('\n');
    }
    out
}
