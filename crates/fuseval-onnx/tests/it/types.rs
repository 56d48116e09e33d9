//! Element types of inputs and outputs, and models that fix their batch size.

use fuseval_core::{Element, Tensor, Values};
use fuseval_onnx::Backend;

use crate::engines::{engines, has_onnxruntime, open, scores};
use crate::tiny::{
    ANY, BOOL, DOUBLE, FLOAT, INT32, INT64, STRING, Tiny, model, node, node_with, proto::AttributeProto, tensor,
};

/// Casts one input to float32.
fn cast(element: i32, shape: &[i64]) -> Tiny {
    let cast = node_with("Cast", &["x"], &["y"], "to", i64::from(FLOAT));
    model(&[tensor("x", element, shape)], &[cast], &[tensor("y", FLOAT, shape)])
}

fn score_all(tiny: &Tiny, backend: Backend, columns: &[&str], inputs: &[Tensor]) -> Vec<Vec<f64>> {
    let model = open(&tiny.path, backend).unwrap();
    scores(&*model, columns, inputs, inputs[0].rows()).unwrap()
}

#[test]
fn inputs_of_every_type_reach_the_model() {
    let cases = [
        (BOOL, Element::Bool, Values::Bool(vec![true, false, true]), [1.0, 0.0, 1.0], true),
        (INT32, Element::I32, Values::I32(vec![-7, 0, 70000]), [-7.0, 0.0, 70000.0], true),
        (INT64, Element::I64, Values::I64(vec![-7, 0, 70000]), [-7.0, 0.0, 70000.0], true),
        (DOUBLE, Element::F64, Values::F64(vec![-0.5, 0.0, 1e30]), [-0.5, 0.0, f64::from(1e30_f32)], false),
        (STRING, Element::Text, Values::Text(["1.5", "-2", "0"].map(String::from).to_vec()), [1.5, -2.0, 0.0], false),
    ];
    for backend in engines() {
        for (code, element, values, expected, embedded) in &cases {
            for shape in [&[ANY][..], &[ANY, 1]] {
                if backend == Backend::Embedded && !embedded {
                    continue;
                }
                let tiny = cast(*code, shape);
                assert_eq!(open(&tiny.path, backend).unwrap().inputs()[0].element, *element);
                let inputs = [Tensor::new(values.clone(), 1).unwrap()];
                assert_eq!(score_all(&tiny, backend, &["y"], &inputs), [expected.to_vec()], "{element:?} {shape:?}");
            }
        }
    }
}

#[test]
fn outputs_of_every_numeric_type_become_scores() {
    let cases = [
        (INT32, [2.0, 0.0, -3.0], true),
        (INT64, [2.0, 0.0, -3.0], true),
        (BOOL, [1.0, 0.0, 1.0], false),
        (DOUBLE, [2.5, 0.0, -3.5], false),
    ];
    for backend in engines() {
        for (code, expected, embedded) in &cases {
            if backend == Backend::Embedded && !embedded {
                continue;
            }
            let nodes = [node_with("Cast", &["x"], &["y"], "to", i64::from(*code))];
            let tiny = model(&[tensor("x", FLOAT, &[ANY])], &nodes, &[tensor("y", *code, &[ANY])]);
            let inputs = [Tensor::new(Values::F32(vec![2.5, 0.0, -3.5]), 1).unwrap()];
            assert_eq!(score_all(&tiny, backend, &["y"], &inputs), [expected.to_vec()], "{code}");
        }
    }
}

#[test]
fn columns_of_a_wide_output_are_read_in_any_order() {
    for backend in engines() {
        let tiny = model(
            &[tensor("x", FLOAT, &[ANY, 3])],
            &[node("Identity", &["x"], &["y"])],
            &[tensor("y", FLOAT, &[ANY, 3])],
        );
        let inputs = [Tensor::new(Values::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3).unwrap()];
        let expected = [vec![3.0, 6.0], vec![1.0, 4.0], vec![3.0, 6.0]];
        assert_eq!(score_all(&tiny, backend, &["y[2]", "y[0]", "y[2]"], &inputs), expected);
    }
}

#[test]
fn transposed_output_is_read_row_after_row() {
    let perm = AttributeProto { name: Some("perm".into()), r#type: Some(7), ints: vec![1, 0], ..Default::default() };
    let mut transpose = node("Transpose", &["x"], &["t"]);
    transpose.attribute.push(perm.clone());
    let mut back = node("Transpose", &["s"], &["y"]);
    back.attribute.push(perm);
    let nodes = [transpose, node("Sigmoid", &["t"], &["s"]), back];
    let tiny = model(&[tensor("x", FLOAT, &[ANY, 2])], &nodes, &[tensor("y", FLOAT, &[ANY, 2])]);
    let inputs = [Tensor::new(Values::F32(vec![0.0, 9.0, 0.0, 9.0, 0.0, 9.0]), 2).unwrap()];
    for backend in engines() {
        assert_eq!(score_all(&tiny, backend, &["y[0]"], &inputs), [vec![0.5; 3]]);
    }
}

#[test]
fn model_of_a_fixed_batch_size_scores_any_number_of_rows() {
    let tiny = model(
        &[tensor("a", FLOAT, &[4]), tensor("b", FLOAT, &[4])],
        &[node("Add", &["a", "b"], &["y"])],
        &[tensor("y", FLOAT, &[4])],
    );
    for backend in engines() {
        for rows in [1_u8, 3, 4, 6, 9] {
            let values = |scale: f32| Values::F32((0..rows).map(|row| f32::from(row) * scale).collect());
            let inputs = [values(1.0), values(10.0)].map(|values| Tensor::new(values, 1).unwrap());
            let expected: Vec<f64> = (0..rows).map(|row| f64::from(row) * 11.0).collect();
            assert_eq!(score_all(&tiny, backend, &["y"], &inputs), [expected]);
        }
    }
}

#[test]
fn score_replaces_what_was_there() {
    let tiny = cast(INT64, &[ANY]);
    let model = open(&tiny.path, Backend::Embedded).unwrap();
    let mut scorer = model.scorer(&[crate::engines::column("y")]).unwrap();
    let mut scores = vec![vec![99.0; 5]];
    scorer.score(&[Tensor::new(Values::I64(vec![4, 5]), 1).unwrap()], &mut scores).unwrap();
    assert_eq!(scores, [vec![4.0, 5.0]]);
    scorer.score(&[Tensor::new(Values::I64(vec![]), 1).unwrap()], &mut scores).unwrap();
    assert_eq!(scores, [Vec::<f64>::new()]);
}

#[test]
fn label_of_a_text_choice_runs_on_onnxruntime() {
    if !has_onnxruntime() {
        return;
    }
    let nodes = [node("Equal", &["a", "b"], &["same"]), node("Where", &["same", "x", "z"], &["y"])];
    let inputs = [
        tensor("a", INT64, &[ANY]),
        tensor("b", INT64, &[ANY]),
        tensor("x", DOUBLE, &[ANY]),
        tensor("z", DOUBLE, &[ANY]),
    ];
    let tiny = model(&inputs, &nodes, &[tensor("y", DOUBLE, &[ANY])]);
    let integers = |values: [i64; 2]| Tensor::new(Values::I64(values.to_vec()), 1).unwrap();
    let numbers = |values: [f64; 2]| Tensor::new(Values::F64(values.to_vec()), 1).unwrap();
    let inputs = [integers([1, 5_000_000_000]), integers([2, 5_000_000_000]), numbers([0.1, 0.2]), numbers([0.3, 0.4])];
    assert_eq!(score_all(&tiny, Backend::OnnxRuntime, &["y"], &inputs), [vec![0.3, 0.2]]);
}
