//! Scorers on ONNX models
