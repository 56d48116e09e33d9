//! Opening models with one engine or the other, inputs to feed them, and the scores they give.

use std::path::Path;

use fuseval_core::scorer::OutputColumn;
use fuseval_core::{Element, Model, Result, Tensor, Values};
use fuseval_onnx::{Backend, LoadOptions, load};

/// Loads a model with one engine.
pub fn open(path: &Path, backend: Backend) -> Result<Box<dyn Model>> {
    load(path, &LoadOptions { backend, library: None })
}

/// Whether the library of ONNX Runtime is there; says so when it is not.
pub fn has_onnxruntime() -> bool {
    let identity = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/worked_example/worked_identity.onnx");
    let found = open(Path::new(identity), Backend::OnnxRuntime).is_ok();
    if !found {
        println!("skipped: no onnxruntime library");
    }
    found
}

/// The engines that are there.
pub fn engines() -> Vec<Backend> {
    let mut engines = vec![Backend::Embedded];
    engines.extend(has_onnxruntime().then_some(Backend::OnnxRuntime));
    engines
}

/// `output` or `output[column]`.
pub fn column(text: &str) -> OutputColumn {
    match text.trim_end_matches(']').split_once('[') {
        Some((output, column)) => OutputColumn { output: output.to_string(), column: column.parse().ok() },
        None => OutputColumn { output: text.to_string(), column: None },
    }
}

/// The scores of some columns for all rows, given `step` rows at a time.
pub fn scores(model: &dyn Model, columns: &[&str], inputs: &[Tensor], step: usize) -> Result<Vec<Vec<f64>>> {
    let columns: Vec<OutputColumn> = columns.iter().map(|text| column(text)).collect();
    let mut scorer = model.scorer(&columns)?;
    let mut all = vec![Vec::new(); columns.len()];
    let mut scores = vec![Vec::new(); columns.len()];
    let rows = inputs[0].rows();
    for start in (0..rows).step_by(step) {
        let count = step.min(rows - start);
        let part: Vec<Tensor> = inputs.iter().map(|tensor| rows_of(tensor, start, count)).collect();
        scorer.score(&part, &mut scores)?;
        for (all, scores) in all.iter_mut().zip(&scores) {
            assert_eq!(scores.len(), count);
            all.extend_from_slice(scores);
        }
    }
    Ok(all)
}

fn rows_of(tensor: &Tensor, start: usize, count: usize) -> Tensor {
    let mut part = Tensor::zeros(tensor.element(), count, tensor.width());
    for row in 0..count {
        part.copy_row(row, 0, tensor, start + row).unwrap();
    }
    part
}

/// Inputs for a model: identifiers within the range that `limit` gives for their name, and numbers around 0.
pub fn inputs(model: &dyn Model, rows: usize, limit: impl Fn(&str) -> u64) -> Vec<Tensor> {
    let mut state = 7;
    model
        .inputs()
        .iter()
        .map(|input| {
            let width = input.width.unwrap_or(1);
            let integers: Vec<u64> = (0..rows * width).map(|_| next(&mut state) % limit(&input.name)).collect();
            let values = match input.element {
                Element::I64 => Values::I64(integers.iter().map(|value| i64::try_from(*value).unwrap()).collect()),
                Element::I32 => Values::I32(integers.iter().map(|value| i32::try_from(*value).unwrap()).collect()),
                Element::F32 => Values::F32((0..rows * width).map(|_| around_zero(&mut state)).collect()),
                other => panic!("no inputs of {}", other.name()),
            };
            Tensor::new(values, width).unwrap()
        })
        .collect()
}

/// The next number of a small generator (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn around_zero(state: &mut u64) -> f32 {
    (next(state) % 4001) as f32 / 1000.0 - 2.0
}

/// Equal to the last bit, NaN included.
pub fn same_bits(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let bits = |all: &[Vec<f64>]| -> Vec<Vec<u64>> {
        all.iter().map(|column| column.iter().map(|value| value.to_bits()).collect()).collect()
    };
    bits(a) == bits(b)
}
