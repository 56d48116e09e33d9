//! Missing values: NaN goes through both engines as ONNX defines it, or the embedded engine refuses it.

use fuseval_core::{ErrorKind, Tensor, Values};
use fuseval_onnx::Backend;

use crate::engines::{has_onnxruntime, open, scores};
use crate::tiny::{ANY, FLOAT, model, node, tensor};

/// Operators of one input for which NaN in is NaN out.
const UNARY: &[&str] = &[
    "Abs",
    "Ceil",
    "Cos",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Sigmoid",
    "Sin",
    "Softplus",
    "Sqrt",
    "Tan",
    "Tanh",
];
/// Operators of two inputs for which NaN in either is NaN out.
const BINARY: &[&str] = &["Add", "Div", "Max", "Mean", "Min", "Mul", "PRelu", "Pow", "Sub", "Sum"];

/// The scores of 0.5, NaN and 0.25 after one operator: with itself as second input where it has two.
fn through(op: &str, backend: Backend) -> fuseval_core::Result<Vec<f64>> {
    let inputs: &[&str] = if BINARY.contains(&op) { &["x", "x"] } else { &["x"] };
    let tiny = model(&[tensor("x", FLOAT, &[ANY])], &[node(op, inputs, &["y"])], &[tensor("y", FLOAT, &[ANY])]);
    let x = Tensor::new(Values::F32(vec![0.5, f32::NAN, 0.25]), 1)?;
    let model = open(&tiny.path, backend)?;
    scores(model.as_ref(), &["y"], &[x], 3).map(|mut scores| scores.remove(0))
}

#[test]
fn nan_is_carried_or_refused_by_the_embedded_engine() {
    let mut refused = Vec::new();
    for op in UNARY.iter().chain(BINARY) {
        match through(op, Backend::Embedded) {
            Ok(scores) => assert!(scores[1].is_nan() && !scores[0].is_nan(), "{op} makes {scores:?} of NaN"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Model, "{op}: {error}");
                refused.push(*op);
            }
        }
    }
    assert_eq!(refused, ["Relu"]);
}

#[test]
fn onnx_runtime_carries_nan() {
    if has_onnxruntime() {
        for op in ["Relu", "Sigmoid", "Max", "Add"] {
            assert!(through(op, Backend::OnnxRuntime).unwrap()[1].is_nan(), "{op}");
        }
    }
}

#[test]
fn the_refusal_of_nan_says_what_to_do() {
    let error = through("Relu", Backend::Embedded).unwrap_err();
    assert_eq!(
        format!("{}; {}", error.problem(), error.help()),
        "expected no missing values, since the embedded engine does not carry NaN through `Relu`, found NaN; give a value for \
         nulls (`model: {fill_null: {FEATURE: VALUE}}`), or run the model with ONNX Runtime (`pip install onnxruntime`)"
    );
}
