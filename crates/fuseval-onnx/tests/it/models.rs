//! The models of `testdata/`: the score of a row does not depend on its company, and both engines agree.

use std::path::{Path, PathBuf};

use fuseval_onnx::{BATCH_ROWS, Backend};

use crate::engines::{engines, has_onnxruntime, inputs, open, same_bits, scores};

struct Case {
    file: &'static str,
    columns: &'static [&'static str],
    /// Whether the embedded engine has its operators.
    embedded: bool,
}

const CASES: &[Case] = &[
    Case { file: "worked_example/worked_identity.onnx", columns: &["score"], embedded: true },
    Case { file: "kuairand/models/multi_head.onnx", columns: &["pOCTR", "pCTR", "pGCTR30"], embedded: true },
    Case { file: "kuairand/models/two_tower.onnx", columns: &["score", "user_vector[3]"], embedded: true },
    Case { file: "kuairand/models/three_tower.onnx", columns: &["score", "item_vector[15]"], embedded: true },
    Case { file: "kuairand/models/user_tower.onnx", columns: &["user_vector[0]", "user_vector[15]"], embedded: true },
    Case { file: "kuairand/models/item_tower.onnx", columns: &["item_vector[7]"], embedded: true },
    Case { file: "kuairand/models/watch_lgbm.onnx", columns: &["variable"], embedded: false },
    Case { file: "obd/models/mlp_named.onnx", columns: &["pClick"], embedded: true },
    Case { file: "obd/models/logreg_dense.onnx", columns: &["probabilities[1]", "label"], embedded: false },
    Case { file: "obd/models/vector_input.onnx", columns: &["pClick"], embedded: true },
    Case { file: "lightgbm/models/lambdarank.onnx", columns: &["variable"], embedded: false },
    Case { file: "lightgbm/models/xgb_binary.onnx", columns: &["probabilities[1]"], embedded: false },
    Case { file: "lightgbm/models/lgbm_regression.onnx", columns: &["variable"], embedded: false },
    Case { file: "lightgbm/models/sklearn_mlp.onnx", columns: &["label", "probabilities[1]"], embedded: false },
];

fn testdata(file: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/")).join(file)
}

/// How many entries the embedding table of an input has, or fewer.
fn table_size(input: &str) -> u64 {
    match input {
        "user_idx" => 600,
        "video_idx" => 7900,
        "hour" => 24,
        "weekday" => 7,
        "item_idx" => 80,
        "user_feature_2_idx" | "user_feature_3_idx" => 10,
        "item_feature_1_idx" | "item_feature_2_idx" => 30,
        "item_feature_3_idx" => 19,
        _ => 3,
    }
}

#[test]
fn score_of_a_row_does_not_depend_on_its_company() {
    let rows = 2 * BATCH_ROWS + 41;
    for backend in engines() {
        for case in CASES.iter().filter(|case| case.embedded || backend == Backend::OnnxRuntime) {
            let model = open(&testdata(case.file), backend).unwrap();
            let inputs = inputs(&*model, rows, table_size);
            let together = scores(&*model, case.columns, &inputs, rows).unwrap();
            for step in [1, 7, BATCH_ROWS, BATCH_ROWS + 1] {
                let apart = scores(&*model, case.columns, &inputs, step).unwrap();
                assert!(same_bits(&together, &apart), "{} on {}, {step} rows at a time", case.file, model.backend());
            }
        }
    }
}

#[test]
fn engines_agree() {
    if !has_onnxruntime() {
        return;
    }
    for case in CASES.iter().filter(|case| case.embedded) {
        let [a, b] =
            [Backend::Embedded, Backend::OnnxRuntime].map(|backend| open(&testdata(case.file), backend).unwrap());
        assert_eq!((a.inputs(), a.outputs()), (b.inputs(), b.outputs()), "{}", case.file);
        let inputs = inputs(&*a, 700, table_size);
        let [a, b] = [a, b].map(|model| scores(&*model, case.columns, &inputs, 700).unwrap());
        for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
            assert!((a - b).abs() <= 1e-5, "{}: {a} and {b}", case.file);
        }
    }
}

#[test]
fn embedded_engine_refuses_what_it_lacks() {
    for case in CASES.iter().filter(|case| !case.embedded) {
        let error = open(&testdata(case.file), Backend::Embedded).err().expect(case.file).to_string();
        assert!(error.contains("expected operators that the embedded engine has, found `ai.onnx.ml."), "{error}");
    }
}

#[test]
fn models_load_and_score_on_several_threads() {
    for backend in engines() {
        let case = &CASES[1];
        let model = open(&testdata(case.file), backend).unwrap();
        let inputs = inputs(&*model, 300, table_size);
        let alone = scores(&*model, case.columns, &inputs, 300).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let own = open(&testdata(case.file), backend).unwrap();
                    for model in [&own, &model] {
                        assert!(same_bits(&alone, &scores(&**model, case.columns, &inputs, 300).unwrap()));
                    }
                });
            }
        });
    }
}
