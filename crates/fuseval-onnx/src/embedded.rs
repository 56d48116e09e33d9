//! The engine that is built in: rten, pure Rust, nothing to install. It computes in float32 and int32 and lacks the tree
//! ensembles of `ai.onnx.ml`; a model that needs more is refused with the way out.

use std::path::Path;
use std::sync::Arc;

use fuseval_core::nearest::listed;
use fuseval_core::scorer::Input;
use fuseval_core::{Element, Error, Result, Scorer, Tensor};
use prost::Message;
use rten::{LoadError, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView, ValueView};
use rten_tensor::{AsView, Layout, TensorView};

use crate::batch::{BatchScorer, Block, Engine, batch_rows};
use crate::columns::{BatchRows, Columns};
use crate::graph::Graph;
use crate::operators::Operator;
use crate::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto};

/// The name and version for the report.
pub(crate) const NAME: &str = "embedded (rten 0.27)";

/// Loads a model. `way_out` says how to get the engine that can do more.
pub(crate) fn open(path: &Path, graph: &Graph, way_out: &str) -> Result<Model> {
    if let Some(input) = graph.inputs.iter().find(|input| matches!(input.element, Element::F64 | Element::Text)) {
        let expected = "float32, int32, int64 or bool, for the embedded engine";
        return Err(Error::model(expected, name(input.element), way_out).at(format!("input `{}`", input.name)));
    }
    if !graph.operators.inexact.is_empty() {
        let found: Vec<&str> = graph.operators.inexact.iter().copied().collect();
        let expected = "float32 and integers inside the model, for the embedded engine";
        return Err(Error::model(expected, listed(&found), way_out));
    }
    read(path).map_err(|error| refused(graph, &error, way_out))
}

/// The name of an element type as ONNX has it.
fn name(element: Element) -> &'static str {
    if element == Element::Text { "string" } else { element.name() }
}

fn read(path: &Path) -> std::result::Result<Model, LoadError> {
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    // By its path a model finds the files of its weights, but rten tells the format by the extension.
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) {
        return options.load_file(path);
    }
    options.load(std::fs::read(path).unwrap_or_default())
}

/// Why a model does not load: the operators that are not there, or else the engine's own words.
fn refused(graph: &Graph, error: &LoadError, way_out: &str) -> Error {
    let missing: Vec<String> =
        graph.operators.all.iter().filter(|operator| !is_there(operator)).map(ToString::to_string).collect();
    if missing.is_empty() {
        return Error::model("a model that the embedded engine loads", format!("\"{error}\""), way_out);
    }
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    Error::model("operators that the embedded engine has", listed(&names), way_out)
}

/// Whether the engine has an operator. It reports the first one that is missing; a model of one node asks for each.
fn is_there(operator: &Operator) -> bool {
    let node = NodeProto {
        op_type: Some(operator.name.clone()),
        domain: Some(operator.domain.clone()),
        output: vec!["output".to_string()],
        ..NodeProto::default()
    };
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: Some(17) }],
        graph: Some(GraphProto { node: vec![node], ..GraphProto::default() }),
        ..ModelProto::default()
    };
    let loaded = ModelOptions::with_all_ops().enable_optimization(false).load(model.encode_to_vec());
    !loaded.is_err_and(|error| error.to_string().contains("operator not"))
}

/// A scorer on a model.
pub(crate) fn scorer(model: &Arc<Model>, columns: Columns, graph: &Arc<Graph>, path: &Path) -> Result<Box<dyn Scorer>> {
    // One thread: the workers are the parallelism.
    let thread = Arc::new(ThreadPool::with_num_threads(1));
    let engine = ModelEngine::new(Arc::clone(model), columns, Arc::clone(graph), Arc::clone(&thread))?;
    Ok(Box::new(ThreadScorer { thread, scorer: BatchScorer::new(engine, Arc::clone(graph), path) }))
}

/// A scorer that changes to the thread of its runs once, not for every batch: half as fast again on a small model.
struct ThreadScorer {
    thread: Arc<ThreadPool>,
    scorer: BatchScorer<ModelEngine>,
}

impl Scorer for ThreadScorer {
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        let scorer = &mut self.scorer;
        self.thread.run(|| scorer.score(inputs, scores))
    }
}

/// A model, shared by all workers, with the outputs it is asked for and one worker's scratch.
struct ModelEngine {
    model: Arc<Model>,
    inputs: Vec<NodeId>,
    outputs: Vec<NodeId>,
    columns: Columns,
    graph: Arc<Graph>,
    options: RunOptions,
    /// Per input, its values as int32, when the engine takes them so.
    integers: Vec<Vec<i32>>,
}

impl ModelEngine {
    fn new(model: Arc<Model>, columns: Columns, graph: Arc<Graph>, thread: Arc<ThreadPool>) -> Result<Self> {
        let node =
            |name: &str| model.node_id(name).map_err(|error| Error::defect(format!("`{name}`"), error.to_string()));
        let inputs = graph.inputs.iter().map(|input| node(&input.name)).collect::<Result<_>>()?;
        let outputs = columns.outputs.iter().map(|name| node(name)).collect::<Result<_>>()?;
        let options = RunOptions::default().with_thread_pool(Some(thread));
        let integers = vec![Vec::new(); graph.inputs.len()];
        Ok(Self { model, inputs, outputs, columns, graph, options, integers })
    }
}

impl Engine for ModelEngine {
    fn run(&mut self, blocks: &[Block<'_>], rows: usize, scores: &mut [Vec<f64>]) -> Result<()> {
        let batch = batch_rows(&self.graph);
        if let Some(operator) = self.graph.operators.loses_nan() {
            refuse_nan(&self.graph, blocks, operator)?;
        }
        for ((input, values), integers) in self.graph.inputs.iter().zip(blocks).zip(&mut self.integers) {
            to_int32(input, values, integers)?;
        }
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::with_capacity(blocks.len());
        let nodes = self.inputs.iter().zip(&self.graph.flat).zip(&self.integers);
        for (((node, flat), integers), values) in nodes.zip(blocks) {
            inputs.push((*node, input_value(values, integers, batch, *flat)?));
        }
        let outputs = self.model.run(inputs, &self.outputs, Some(self.options.clone())).map_err(|error| {
            let help = "check that the features hold what the model was trained on";
            Error::model("a model that runs on these rows", format!("\"{error}\""), help)
        })?;
        for (place, value) in outputs.iter().enumerate() {
            let rows = BatchRows { all: batch, real: rows };
            match value {
                Value::FloatTensor(tensor) => {
                    read_output(&self.columns, place, tensor.view(), rows, f64::from, scores)?
                }
                Value::Int32Tensor(tensor) => {
                    read_output(&self.columns, place, tensor.view(), rows, f64::from, scores)?
                }
                other => {
                    let name = self.columns.outputs.get(place).map_or("", String::as_str);
                    let expected = "numbers of shape [batch] or [batch, width]";
                    let help = "choose the output with the scores";
                    return Err(Error::model(expected, other.dtype().to_string(), help).at(format!("output `{name}`")));
                }
            }
        }
        Ok(())
    }
}

fn read_output<T: Copy>(
    columns: &Columns,
    place: usize,
    tensor: TensorView<'_, T>,
    rows: BatchRows,
    number: impl Fn(T) -> f64,
    scores: &mut [Vec<f64>],
) -> Result<()> {
    // An output may be a transposed view, whose values do not lie row after row.
    columns.read(place, tensor.shape(), tensor.to_contiguous().data(), rows, number, scores)
}

/// Integers and booleans as the engine holds them.
fn to_int32(input: &Input, values: &Block<'_>, integers: &mut Vec<i32>) -> Result<()> {
    integers.clear();
    match *values {
        Block::I64(values) => {
            integers.reserve(values.len());
            for value in values {
                integers.push(i32::try_from(*value).map_err(|_| too_large(input, *value))?);
            }
        }
        Block::Bool(values) => integers.extend(values.iter().map(|value| i32::from(*value))),
        _ => {}
    }
    Ok(())
}

/// Refuses missing values that would come out of the model as numbers.
fn refuse_nan(graph: &Graph, blocks: &[Block<'_>], operator: &str) -> Result<()> {
    let has_nan = |block: &Block<'_>| matches!(block, Block::F32(values) if values.iter().any(|value| value.is_nan()));
    let Some((input, _)) = graph.inputs.iter().zip(blocks).find(|(_, block)| has_nan(block)) else { return Ok(()) };
    let expected = format!("no missing values, since the embedded engine does not carry NaN through `{operator}`");
    let help = "give a value for nulls (`model: {fill_null: {FEATURE: VALUE}}`), or run the model with ONNX Runtime \
                (`pip install onnxruntime`)";
    Err(Error::model(expected, "NaN", help).at(format!("input `{}`", input.name)))
}

fn too_large(input: &Input, value: i64) -> Error {
    let help = "number the values from 0, or run the model with ONNX Runtime (`pip install onnxruntime`)";
    Error::data("integers of 32 bits, for the embedded engine", value.to_string(), help)
        .at(format!("input `{}`", input.name))
}

fn input_value<'a>(values: &Block<'a>, integers: &'a [i32], batch: usize, flat: bool) -> Result<ValueOrView<'a>> {
    fn view<'a, T>(values: &'a [T], batch: usize, flat: bool) -> Result<ValueOrView<'a>>
    where
        ValueView<'a>: From<TensorView<'a, T>>,
    {
        let shape = [batch, values.len() / batch.max(1)];
        let shaped = ValueView::from_shape(if flat { &shape[..1] } else { &shape }, values);
        shaped.map(ValueOrView::from).map_err(|error| Error::defect("values that fill the shape", error.to_string()))
    }
    match *values {
        Block::F32(values) => view(values, batch, flat),
        Block::I32(values) => view(values, batch, flat),
        Block::I64(_) | Block::Bool(_) => view(integers, batch, flat),
        Block::F64(_) => Err(Error::defect("float32 or integers", "float64")),
        Block::Text(_) => Err(Error::defect("float32 or integers", "text")),
    }
}
