//! What a model file says about itself: inputs, outputs, batch size, operators. Read once, before any runtime sees the file,
//! so that the two engines refuse the same models with the same words.

use std::io::ErrorKind;
use std::path::Path;

use fuseval_core::scorer::{Input, Output};
use fuseval_core::{Element, Error, Result};
use prost::Message;

use crate::operators::Operators;
use crate::proto::tensor_proto::DataType;
use crate::proto::tensor_shape_proto::dimension::Value as Size;
use crate::proto::type_proto::{Tensor as TensorType, Value as Type};
use crate::proto::{GraphProto, ModelProto, TensorShapeProto, ValueInfoProto};

/// The facts about a model that both engines need.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The inputs, in the order of the file, without those that an initializer fills.
    pub(crate) inputs: Vec<Input>,
    /// For each input, whether its shape is `[batch]` rather than `[batch, width]`.
    pub(crate) flat: Vec<bool>,
    /// The outputs, in the order of the file.
    pub(crate) outputs: Vec<Output>,
    /// For each output, what it is instead of numbers, and what to do about it.
    pub(crate) unreadable: Vec<Option<(String, &'static str)>>,
    /// The batch size that the model is fixed to.
    pub(crate) batch: Option<usize>,
    /// What its nodes do.
    pub(crate) operators: Operators,
}

impl Graph {
    /// Reads a model file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| {
            let found = if error.kind() == ErrorKind::NotFound { "none".to_string() } else { error.to_string() };
            Error::usage("a model file", found, "check the path of the model").at(shown.as_str())
        })?;
        Self::decode(&bytes).map_err(|error| error.at(shown))
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let none = |found: &str| {
            Err(Error::model("an ONNX model", found, "export the model to ONNX again, or copy the file again"))
        };
        let Ok(model) = ModelProto::decode(bytes) else {
            return none("bytes that are not one");
        };
        let Some(graph) = &model.graph else {
            return none("a file without a graph");
        };
        let mut inputs = Vec::new();
        let mut flat = Vec::new();
        let mut batch = None;
        for value in graph.input.iter().filter(|value| !is_initialized(graph, value.name())) {
            let (input, is_flat, fixed) =
                input(value).map_err(|error| error.at(format!("input `{}`", value.name())))?;
            batch = agreed(batch, fixed.map(|rows| (input.name.clone(), rows)))?;
            inputs.push(input);
            flat.push(is_flat);
        }
        if inputs.is_empty() {
            return Err(Error::model("at least one input", "none", "export the model with its features as inputs"));
        }
        Ok(Self {
            inputs,
            flat,
            outputs: graph.output.iter().map(output).collect(),
            unreadable: graph.output.iter().map(unreadable).collect(),
            batch: batch.map(|(_, rows)| rows),
            operators: Operators::of(&model, graph),
        })
    }
}

/// Whether the graph itself holds the value of an input: old files list their weights among the inputs.
fn is_initialized(graph: &GraphProto, name: &str) -> bool {
    graph.initializer.iter().any(|tensor| tensor.name() == name)
        || graph.sparse_initializer.iter().any(|tensor| tensor.values.as_ref().is_some_and(|v| v.name() == name))
}

/// An input, whether it is flat, and the batch size it is fixed to.
fn input(value: &ValueInfoProto) -> Result<(Input, bool, Option<usize>)> {
    let Some(tensor) = tensor_type(value) else {
        return Err(Error::model("a tensor", kind(value), "export the model with tensors as inputs"));
    };
    let element = match tensor.elem_type() {
        DATA_FLOAT => Element::F32,
        DATA_DOUBLE => Element::F64,
        DATA_INT32 => Element::I32,
        DATA_INT64 => Element::I64,
        DATA_BOOL => Element::Bool,
        DATA_STRING => Element::Text,
        other => {
            let expected = "float32, float64, int32, int64, bool or string";
            return Err(Error::model(expected, element_name(other), "put a Cast behind the input when exporting"));
        }
    };
    let help = "reshape behind the input when exporting";
    let shape = tensor.shape.as_ref().ok_or_else(|| Error::model("shape [batch] or [batch, width]", "none", help))?;
    let (first, width, flat) = match shape.dim.as_slice() {
        [first] => (first, Some(1), true),
        [first, second] => (first, known(second.value.as_ref()), false),
        _ => return Err(Error::model("shape [batch] or [batch, width]", shape_text(shape), help)),
    };
    Ok((Input { name: value.name().to_string(), element, width }, flat, known(first.value.as_ref())))
}

/// The batch size that all inputs seen so far are fixed to, with the first input that says so.
fn agreed(known: Option<(String, usize)>, next: Option<(String, usize)>) -> Result<Option<(String, usize)>> {
    match (known, next) {
        (Some((a, rows)), Some((b, other))) if rows != other => Err(Error::model(
            "one batch size for all inputs",
            format!("{rows} for `{a}` and {other} for `{b}`"),
            "export the model with a dynamic batch dimension",
        )),
        (None, next) => Ok(next),
        (known, _) => Ok(known),
    }
}

fn output(value: &ValueInfoProto) -> Output {
    let shape = tensor_type(value).and_then(|tensor| tensor.shape.as_ref());
    let width = match shape.map(|shape| shape.dim.as_slice()) {
        Some([_]) => Some(1),
        Some([_, second]) => known(second.value.as_ref()),
        _ => None,
    };
    Output { name: value.name().to_string(), width }
}

/// What an output is, when it cannot be read as scores, and what to do about it.
fn unreadable(value: &ValueInfoProto) -> Option<(String, &'static str)> {
    let Some(tensor) = tensor_type(value) else {
        let zip_map = "export without ZipMap (skl2onnx: `options={'zipmap': False}`, onnxmltools: `zipmap=False`)";
        return Some((kind(value).to_string(), zip_map));
    };
    match tensor.elem_type() {
        // An output of unknown type is looked at when it is there.
        0 | DATA_FLOAT | DATA_DOUBLE | DATA_INT32 | DATA_INT64 | DATA_BOOL => {}
        DATA_STRING => return Some(("string".to_string(), "choose the output with the scores")),
        other => return Some((element_name(other), "put a Cast in front of the output when exporting")),
    }
    let shape = tensor.shape.as_ref().filter(|shape| shape.dim.len() > 2)?;
    Some((format!("shape {}", shape_text(shape)), "reshape in front of the output when exporting"))
}

fn tensor_type(value: &ValueInfoProto) -> Option<&TensorType> {
    match value.r#type.as_ref()?.value.as_ref()? {
        Type::TensorType(tensor) => Some(tensor),
        _ => None,
    }
}

fn kind(value: &ValueInfoProto) -> &'static str {
    match value.r#type.as_ref().and_then(|kind| kind.value.as_ref()) {
        None => "no type",
        Some(Type::TensorType(_)) => "a tensor",
        Some(Type::SequenceType(_)) => "a sequence",
        Some(Type::MapType(_)) => "a map",
        Some(Type::OptionalType(_)) => "an optional",
        Some(Type::SparseTensorType(_)) => "a sparse tensor",
        Some(Type::OpaqueType(_)) => "an opaque value",
    }
}

const DATA_FLOAT: i32 = DataType::Float as i32;
const DATA_DOUBLE: i32 = DataType::Double as i32;
const DATA_INT32: i32 = DataType::Int32 as i32;
const DATA_INT64: i32 = DataType::Int64 as i32;
const DATA_BOOL: i32 = DataType::Bool as i32;
const DATA_STRING: i32 = DataType::String as i32;

fn element_name(code: i32) -> String {
    DataType::try_from(code).map_or_else(|_| format!("type {code}"), |known| known.as_str_name().to_lowercase())
}

/// A dimension that the model fixes. Exporters write 0 and nothing at all for a dynamic one.
fn known(size: Option<&Size>) -> Option<usize> {
    match size {
        Some(Size::DimValue(value)) => usize::try_from(*value).ok().filter(|value| *value > 0),
        _ => None,
    }
}

fn shape_text(shape: &TensorShapeProto) -> String {
    let sizes: Vec<String> = shape
        .dim
        .iter()
        .map(|dim| match &dim.value {
            Some(Size::DimValue(value)) => value.to_string(),
            Some(Size::DimParam(name)) if !name.is_empty() => name.clone(),
            _ => "?".to_string(),
        })
        .collect();
    format!("[{}]", sizes.join(", "))
}
