//! The product through its boundary: the library on real data, and the binary as its users call it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod clustered;
mod command_line;
mod common;
mod documentation;
mod golden;
mod invariance;
mod memory;
mod models;
mod oracles;
mod resume;
#[path = "../../../fuseval-source/tests/it/servers.rs"]
#[allow(clippy::print_stdout, dead_code)]
mod servers;
mod shards;
mod stores;
mod trec;
mod worked_example;
