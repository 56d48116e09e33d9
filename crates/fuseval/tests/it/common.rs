//! Paths of the test data, and ways to run the binary and the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fuseval::{Evaluation, Options, RunFile, evaluate};
use serde_json::Value;

/// A path below `testdata/`.
pub(crate) fn testdata(path: &str) -> PathBuf {
    root().join("testdata").join(path)
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The binary with arguments, run in a folder.
pub(crate) fn fuseval(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fuseval")).current_dir(folder).args(arguments).output().unwrap()
}

/// The results of a run file given as JSON.
pub(crate) fn evaluated(run_file: &Value, options: &Options) -> fuseval::Result<Evaluation> {
    evaluate(&RunFile::parse(&run_file.to_string(), &[])?, options)
}

/// `results` of an evaluation.
pub(crate) fn results(evaluation: &Evaluation) -> Vec<Value> {
    let all: Value = serde_json::from_str(&evaluation.to_json()).unwrap();
    all["results"].as_array().unwrap().clone()
}

/// Whether ONNX Runtime is to be had here; says so if not.
pub(crate) fn has_onnxruntime() -> bool {
    let model = testdata("worked_example/worked_identity.onnx");
    let options = fuseval_onnx::LoadOptions { backend: fuseval_onnx::Backend::OnnxRuntime, library: None };
    let found = fuseval_onnx::load(&model, &options).is_ok();
    if !found {
        eprintln!("skipped: no onnxruntime library");
    }
    found
}
