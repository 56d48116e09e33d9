//! What a user reads when a model does not fit: whole messages, with the folder of the model left out.

use std::path::{Path, PathBuf};

use fuseval_core::{Error, ErrorKind, Tensor, Values};
use fuseval_onnx::{Backend, LoadOptions, load};

use crate::engines::{engines, has_onnxruntime, open, scores};
use crate::tiny::{
    ANY, BOOL, DOUBLE, FLOAT, FLOAT16, INT64, STRING, Tiny, bytes, model, node, node_with, sequence, tensor,
};

const WAY_OUT: &str = "install ONNX Runtime (`pip install onnxruntime`), or name its library with `--onnxruntime PATH` or the \
                       environment variable ORT_DYLIB_PATH";

/// The message without the folder.
fn message(tiny: &Tiny, error: &Error) -> String {
    error.to_string().replace(&format!("{}/", tiny.folder.path().display()), "")
}

/// The kind and message of a model that does not load.
fn refusal(tiny: &Tiny, backend: Backend) -> (ErrorKind, String) {
    let error = open(&tiny.path, backend).err().expect("an error");
    (error.kind(), message(tiny, &error))
}

/// The kind and message of columns or rows that do not fit.
fn failure(tiny: &Tiny, backend: Backend, column: &str, input: Tensor) -> (ErrorKind, String) {
    let model = open(&tiny.path, backend).unwrap();
    let error = scores(&*model, &[column], &[input], 1000).expect_err("an error");
    (error.kind(), message(tiny, &error))
}

/// One input given through.
fn identity(element: i32, shape: &[i64]) -> Tiny {
    model(&[tensor("x", element, shape)], &[node("Identity", &["x"], &["y"])], &[tensor("y", element, shape)])
}

fn floats(count: usize, width: usize) -> Tensor {
    Tensor::new(Values::F32(vec![0.5; count * width]), width).unwrap()
}

#[test]
fn missing_file() {
    let error = open(Path::new("nowhere/model.onnx"), Backend::Embedded).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.to_string(), "nowhere/model.onnx: expected a model file, found none; check the path of the model");
}

#[test]
fn file_that_is_no_model() {
    let help = "export the model to ONNX again, or copy the file again";
    for backend in engines() {
        let expected = format!("model.onnx: expected an ONNX model, found bytes that are not one; {help}");
        assert_eq!(refusal(&bytes(b"GIF89a, not a model"), backend), (ErrorKind::Model, expected));
        let expected = format!("model.onnx: expected an ONNX model, found a file without a graph; {help}");
        assert_eq!(refusal(&bytes(b""), backend), (ErrorKind::Model, expected));
    }
}

#[test]
fn operators_that_the_embedded_engine_lacks() {
    let mut forest = node("TreeEnsembleClassifier", &["x"], &["label", "y"]);
    forest.domain = Some("ai.onnx.ml".to_string());
    let nodes = [node("SparseFancy", &["x"], &["z"]), forest, node("Identity", &["x"], &["w"])];
    let tiny = model(&[tensor("x", FLOAT, &[ANY, 2])], &nodes, &[tensor("y", FLOAT, &[ANY, 2])]);
    let expected = format!(
        "model.onnx: expected operators that the embedded engine has, found `SparseFancy`, \
         `ai.onnx.ml.TreeEnsembleClassifier`; {WAY_OUT}"
    );
    assert_eq!(refusal(&tiny, Backend::Embedded), (ErrorKind::Model, expected));
}

#[test]
fn operators_that_onnxruntime_lacks() {
    if !has_onnxruntime() {
        return;
    }
    let tiny = model(&[tensor("x", FLOAT, &[ANY])], &[node("Fancy", &["x"], &["y"])], &[tensor("y", FLOAT, &[ANY])]);
    let (kind, text) = refusal(&tiny, Backend::OnnxRuntime);
    assert_eq!(kind, ErrorKind::Model);
    assert!(text.starts_with("model.onnx: expected a model that onnxruntime "), "{text}");
    assert!(text.contains("Fancy") && !text.contains('\n'), "{text}");
}

#[test]
fn types_that_the_embedded_engine_lacks() {
    for (element, name) in [(DOUBLE, "float64"), (STRING, "string")] {
        let expected = format!(
            "model.onnx: input `x`: expected float32, int32, int64 or bool, for the embedded engine, found {name}; {WAY_OUT}"
        );
        assert_eq!(refusal(&identity(element, &[ANY]), Backend::Embedded), (ErrorKind::Model, expected));
    }
    for (element, name) in [(DOUBLE, "float64"), (FLOAT16, "float16"), (BOOL, "Cast to bool")] {
        let there = node_with("Cast", &["x"], &["c"], "to", i64::from(element));
        let back = node_with("Cast", &["c"], &["y"], "to", i64::from(FLOAT));
        let tiny = model(&[tensor("x", FLOAT, &[ANY])], &[there, back], &[tensor("y", FLOAT, &[ANY])]);
        let expected = format!(
            "model.onnx: expected float32 and integers inside the model, for the embedded engine, found `{name}`; {WAY_OUT}"
        );
        assert_eq!(refusal(&tiny, Backend::Embedded), (ErrorKind::Model, expected));
    }
}

#[test]
fn inputs_that_no_engine_takes() {
    let cases = [
        (
            identity(FLOAT16, &[ANY]),
            "input `x`: expected float32, float64, int32, int64, bool or string, found float16; put a Cast behind the input \
             when exporting",
        ),
        (
            identity(FLOAT, &[ANY, 3, 224]),
            "input `x`: expected shape [batch] or [batch, width], found [batch, 3, 224]; reshape behind the input when \
             exporting",
        ),
        (
            identity(FLOAT, &[]),
            "input `x`: expected shape [batch] or [batch, width], found []; reshape behind the input when exporting",
        ),
        (
            model(&[sequence("x")], &[node("Identity", &["x"], &["y"])], &[sequence("y")]),
            "input `x`: expected a tensor, found a sequence; export the model with tensors as inputs",
        ),
        (
            model(
                &[tensor("a", FLOAT, &[4]), tensor("b", FLOAT, &[8, 1])],
                &[node("Identity", &["a"], &["y"])],
                &[tensor("y", FLOAT, &[4])],
            ),
            "expected one batch size for all inputs, found 4 for `a` and 8 for `b`; export the model with a dynamic batch \
             dimension",
        ),
    ];
    for (tiny, expected) in &cases {
        for backend in engines() {
            assert_eq!(refusal(tiny, backend), (ErrorKind::Model, format!("model.onnx: {expected}")));
        }
    }
}

#[test]
fn columns_that_are_not_there() {
    let wide = identity(FLOAT, &[ANY, 3]);
    for backend in engines() {
        let cases = [
            ("Y", "expected an output of the model, found `Y`; did you mean `y`?"),
            ("ctr", "expected an output of the model, found `ctr`; choose one of `y`"),
            (
                "y",
                "output `y`: expected one value to a row, found 3 values to a row; choose one of them, from 0 to 2, with \
                 `score: y[column]`",
            ),
            ("y[3]", "output `y`: expected a column from 0 to 2, found `y[3]`; the output has 3 values to a row"),
        ];
        for (column, expected) in cases {
            let expected = (ErrorKind::Usage, format!("model.onnx: {expected}"));
            assert_eq!(failure(&wide, backend, column, floats(2, 3)), expected);
        }
    }
}

#[test]
fn outputs_that_are_not_scores() {
    let zip_map = "export without ZipMap (skl2onnx: `options={'zipmap': False}`, onnxmltools: `zipmap=False`)";
    let x = [tensor("x", FLOAT, &[ANY, 3])];
    let map = model(&x, &[node("SequenceConstruct", &["x"], &["y"])], &[sequence("y")]);
    let numbers = "output `y`: expected numbers of shape [batch] or [batch, width], found";
    for backend in engines() {
        let expected = (ErrorKind::Model, format!("model.onnx: {numbers} a sequence; {zip_map}"));
        assert_eq!(failure(&map, backend, "y", floats(2, 3)), expected);
    }
    // What the file leaves open shows when the model has run.
    let sum = model(&x, &[node_with("ReduceSum", &["x"], &["y"], "keepdims", 0)], &[tensor("y", FLOAT, &[])]);
    let help = "export the model so that each row of its inputs gives one row of this output";
    for backend in engines() {
        let expected =
            format!("model.onnx: output `y`: expected shape [256] or [256, width] from 256 rows, found []; {help}");
        assert_eq!(failure(&sum, backend, "y", floats(2, 3)), (ErrorKind::Model, expected));
    }
}

#[test]
fn wrong_number_of_features() {
    let wide = identity(FLOAT, &[ANY, 3]);
    let expected = "model.onnx: input `x`: expected 3 features, found 2; list as many features under `inputs` as the model takes, \
                    in its order";
    for backend in engines() {
        assert_eq!(failure(&wide, backend, "y[0]", floats(4, 2)), (ErrorKind::Model, expected.to_string()));
    }
}

#[test]
fn integers_that_the_embedded_engine_cannot_hold() {
    let input = Tensor::new(Values::I64(vec![1, 3_000_000_000]), 1).unwrap();
    let expected = "model.onnx: input `x`: expected integers of 32 bits, for the embedded engine, found 3000000000; number the \
                    values from 0, or run the model with ONNX Runtime (`pip install onnxruntime`)";
    let found = failure(&identity(INT64, &[ANY]), Backend::Embedded, "y", input);
    assert_eq!(found, (ErrorKind::Data, expected.to_string()));
}

#[test]
fn library_that_is_not_there() {
    for backend in [Backend::Auto, Backend::OnnxRuntime] {
        let library = Some(PathBuf::from("/nowhere/libonnxruntime.so"));
        let error = load(&identity(FLOAT, &[ANY]).path, &LoadOptions { backend, library }).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(
            error.to_string(),
            "--onnxruntime: expected a library of ONNX Runtime, found no file `/nowhere/libonnxruntime.so`; name the shared library of ONNX Runtime 1.20 or newer, such as libonnxruntime.so"
        );
    }
}
