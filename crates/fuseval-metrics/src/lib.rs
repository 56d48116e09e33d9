//! The metric catalogue of fuseval
