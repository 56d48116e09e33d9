//! The source through its public interface: files in, rows or an error out.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod csv;
mod expect;
mod explode;
mod fixture;
mod formats;
mod order;
mod paths;
mod refusals;
#[allow(clippy::print_stdout, dead_code)]
mod servers;
mod sql;
mod trec;
mod types;
mod web;
mod write;
