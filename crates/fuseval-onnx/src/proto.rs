//! ONNX as Protocol Buffers: the messages of a model file.

#[allow(missing_docs, unused_qualifications, clippy::all)]
mod onnx;

pub(crate) use onnx::*;
