//! The fused pipeline of fuseval
