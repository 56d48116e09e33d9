//! Scorers on ONNX models: reads a model file, finds an engine that runs it (ONNX Runtime, or the embedded rten), and scores
//! rows in batches of one fixed size, so that the score of a row depends on nothing but the row. The only crate that knows a
//! model runtime.

mod backend;
mod batch;
mod columns;
mod embedded;
mod graph;
mod library;
mod onnxruntime;
mod operators;
mod proto;

pub use backend::{Backend, LoadOptions, load};
pub use batch::BATCH_ROWS;
