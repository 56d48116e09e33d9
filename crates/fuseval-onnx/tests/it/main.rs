//! Scores through the public interface, on the models of `testdata/` and on tiny ones made on the spot, with both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod engines;
mod library;
mod messages;
mod models;
mod nan;
mod tiny;
mod types;
