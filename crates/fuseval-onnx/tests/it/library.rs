//! What depends on the process: the library it finds, and what it prints. A process of its own for each, which runs one test
//! of this binary.

use std::process::{Command, Output};

use fuseval_onnx::Backend;

use crate::engines::{has_onnxruntime, open};
use crate::tiny::{ANY, FLOAT, bytes, model, node, tensor};

/// Set in a process that a test started.
const CHILD: &str = "FUSEVAL_ONNX_TEST_CHILD";

fn run(test: &str, library: Option<&std::path::Path>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    if let Some(library) = library {
        command.env("ORT_DYLIB_PATH", library);
    }
    command.output().unwrap()
}

#[test]
fn auto_names_a_library_that_does_not_load() {
    if std::env::var_os(CHILD).is_none() {
        let bogus = bytes(b"no library");
        let output = run("library::auto_names_a_library_that_does_not_load", Some(&bogus.path));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let x = [tensor("x", FLOAT, &[ANY])];
    let tiny = model(&x, &[node("Identity", &["x"], &["y"])], &[tensor("y", FLOAT, &[ANY])]);
    let named = open(&tiny.path, Backend::Auto).unwrap();
    assert!(named.backend().starts_with("embedded (rten 0.27), not the library `/"), "{}", named.backend());
    assert!(named.backend().contains("model.onnx`, which does not load: "), "{}", named.backend());
    let error = open(&tiny.path, Backend::OnnxRuntime).err().unwrap().to_string();
    assert!(error.contains("expected the library of ONNX Runtime, found `/"), "{error}");
    assert!(error.contains("model.onnx`, which does not load: "), "{error}");
}

#[test]
fn runtime_prints_nothing() {
    if std::env::var_os(CHILD).is_none() {
        let output = run("library::runtime_prints_nothing", None);
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("onnxruntime:"));
        return;
    }
    if has_onnxruntime() {
        // Unknown operators, and an initial value that nothing reads: an error and a warning of the runtime.
        let x = [tensor("x", FLOAT, &[ANY])];
        let fancy = model(&x, &[node("Fancy", &["x"], &["y"])], &[tensor("y", FLOAT, &[ANY])]);
        assert!(open(&fancy.path, Backend::OnnxRuntime).is_err());
        let wrong = model(&x, &[node("Identity", &["x"], &["y"])], &[tensor("y", FLOAT, &[ANY, 5])]);
        let _ = open(&wrong.path, Backend::OnnxRuntime);
    }
}
