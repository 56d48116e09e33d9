//! What the nodes of a model do: the operators they call, sub-graphs and local functions included, and the types they need
//! beyond float32 and integers.

use std::collections::BTreeSet;
use std::fmt;

use crate::proto::tensor_proto::DataType;
use crate::proto::{GraphProto, ModelProto, NodeProto, TensorProto};

/// An operator: a domain and a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operator {
    /// The domain; empty for ONNX's own.
    pub(crate) domain: String,
    /// The type, such as `Gemm`.
    pub(crate) name: String,
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.domain.is_empty() { f.write_str(&self.name) } else { write!(f, "{}.{}", self.domain, self.name) }
    }
}

/// The operators of a model.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    /// Each operator once, in order of domain and name.
    pub(crate) all: BTreeSet<Operator>,
    /// What rten runs, but not as ONNX defines it: it takes float64 and float16 for float32, and a Cast to bool for one to
    /// int32, so that 0.5 becomes false and 2 stays 2.
    pub(crate) inexact: BTreeSet<&'static str>,
}

impl Operators {
    /// The operator through which rten does not carry NaN, if the model has it: its Relu makes 0 of NaN.
    pub(crate) fn loses_nan(&self) -> Option<&'static str> {
        let has = |name: &str| self.all.iter().any(|operator| operator.domain.is_empty() && operator.name == name);
        has("Relu").then_some("Relu")
    }

    pub(crate) fn of(model: &ModelProto, graph: &GraphProto) -> Self {
        let mut found = Self::default();
        found.add_graph(graph);
        for function in &model.functions {
            found.add_nodes(&function.node);
        }
        found
    }

    fn add_graph(&mut self, graph: &GraphProto) {
        self.inexact.extend(graph.initializer.iter().filter_map(inexact_tensor));
        self.add_nodes(&graph.node);
    }

    fn add_nodes(&mut self, nodes: &[NodeProto]) {
        for node in nodes {
            let domain = if node.domain() == "ai.onnx" { "" } else { node.domain() };
            self.all.insert(Operator { domain: domain.to_string(), name: node.op_type().to_string() });
            self.inexact.extend(inexact_cast(node));
            for attribute in &node.attribute {
                self.inexact.extend(attribute.t.iter().chain(&attribute.tensors).filter_map(inexact_tensor));
                for graph in attribute.g.iter().chain(&attribute.graphs) {
                    self.add_graph(graph);
                }
            }
        }
    }
}

const DOUBLE: i32 = DataType::Double as i32;
const FLOAT16: i32 = DataType::Float16 as i32;
const BOOL: i32 = DataType::Bool as i32;

fn inexact_tensor(tensor: &TensorProto) -> Option<&'static str> {
    match tensor.data_type() {
        DOUBLE => Some("float64"),
        FLOAT16 => Some("float16"),
        _ => None,
    }
}

fn inexact_cast(node: &NodeProto) -> Option<&'static str> {
    let to = node.attribute.iter().find(|attribute| attribute.name() == "to")?;
    match i32::try_from(to.i()).ok()? {
        _ if node.op_type() != "Cast" => None,
        DOUBLE => Some("float64"),
        FLOAT16 => Some("float16"),
        BOOL => Some("Cast to bool"),
        _ => None,
    }
}
