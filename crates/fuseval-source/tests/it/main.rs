//! The source through its public interface: files in, rows or an error out.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod csv;
mod explode;
mod fixture;
mod order;
mod paths;
mod refusals;
mod sql;
mod trec;
mod types;
mod write;
