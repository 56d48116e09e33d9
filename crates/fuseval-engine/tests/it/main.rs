//! The engine through its boundary, on sources and models in memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod coverage;
mod data;
mod errors;
mod experiments;
mod invariance;
mod partials;
mod per_segment;
mod resume;
mod values;
