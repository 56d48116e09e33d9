//! Tiny models, made with the same messages that the crate reads.

use std::path::PathBuf;

use prost::Message;
use tempfile::TempDir;

use self::proto::tensor_shape_proto::{Dimension, dimension::Value as Size};
use self::proto::type_proto::{Sequence, Tensor, Value as Type};
use self::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto, ValueInfoProto,
};

#[allow(dead_code, missing_docs, unused_qualifications, clippy::all)]
#[path = "../../src/proto/onnx.rs"]
pub mod proto;

/// Codes of element types.
pub const FLOAT: i32 = 1;
pub const INT32: i32 = 6;
pub const INT64: i32 = 7;
pub const STRING: i32 = 8;
pub const BOOL: i32 = 9;
pub const FLOAT16: i32 = 10;
pub const DOUBLE: i32 = 11;

/// A dynamic dimension, for `tensor`.
pub const ANY: i64 = -1;

/// An input or output that is a tensor.
pub fn tensor(name: &str, element: i32, shape: &[i64]) -> ValueInfoProto {
    let dim = shape.iter().map(|size| Dimension {
        value: Some(if *size == ANY { Size::DimParam("batch".to_string()) } else { Size::DimValue(*size) }),
        ..Dimension::default()
    });
    let tensor = Tensor { elem_type: Some(element), shape: Some(TensorShapeProto { dim: dim.collect() }) };
    typed(name, Type::TensorType(tensor))
}

/// An output that is a sequence, as ZipMap makes one.
pub fn sequence(name: &str) -> ValueInfoProto {
    let item = tensor("item", FLOAT, &[ANY, 3]).r#type.map(Box::new);
    typed(name, Type::SequenceType(Box::new(Sequence { elem_type: item })))
}

fn typed(name: &str, value: Type) -> ValueInfoProto {
    let kind = TypeProto { value: Some(value), ..TypeProto::default() };
    ValueInfoProto { name: Some(name.to_string()), r#type: Some(kind), ..ValueInfoProto::default() }
}

/// A node.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_string()),
        input: inputs.iter().map(ToString::to_string).collect(),
        output: outputs.iter().map(ToString::to_string).collect(),
        ..NodeProto::default()
    }
}

/// A node with one integer attribute.
pub fn node_with(op: &str, inputs: &[&str], outputs: &[&str], attribute: &str, value: i64) -> NodeProto {
    let attribute = AttributeProto {
        name: Some(attribute.to_string()),
        r#type: Some(2),
        i: Some(value),
        ..AttributeProto::default()
    };
    NodeProto { attribute: vec![attribute], ..node(op, inputs, outputs) }
}

/// A model on the disk for as long as it is held.
pub struct Tiny {
    pub folder: TempDir,
    pub path: PathBuf,
}

/// Writes a model.
pub fn model(inputs: &[ValueInfoProto], nodes: &[NodeProto], outputs: &[ValueInfoProto]) -> Tiny {
    let graph = GraphProto {
        name: Some("tiny".to_string()),
        node: nodes.to_vec(),
        input: inputs.to_vec(),
        output: outputs.to_vec(),
        ..GraphProto::default()
    };
    let opset = |domain: &str, version| OperatorSetIdProto { domain: Some(domain.to_string()), version: Some(version) };
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![opset("", 17), opset("ai.onnx.ml", 3)],
        graph: Some(graph),
        ..ModelProto::default()
    };
    bytes(&model.encode_to_vec())
}

/// Writes a file that calls itself a model.
pub fn bytes(content: &[u8]) -> Tiny {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, content).unwrap();
    Tiny { folder, path }
}
