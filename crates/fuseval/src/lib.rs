//! fuseval: evaluation of ranking and recommendation models in one pass. This crate joins the contract, the catalogue, the
//! sources, the engine and the model runtimes; the `fuseval` binary is a thin shell over it.
//!
//! ```no_run
//! use fuseval::{Options, RunFile, evaluate};
//!
//! let run_file = RunFile::read("eval.yaml".as_ref(), &[])?;
//! let evaluation = evaluate(&run_file, &Options::default())?;
//! println!("{}", evaluation.to_json());
//! # Ok::<(), fuseval_core::Error>(())
//! ```

mod array_metrics;
mod asked;
mod bucket;
mod evaluation;
mod explanation;
mod figures;
mod fingerprint;
mod ledger;
mod memory;
mod merge;
mod notes;
mod parted_table;
mod partial_file;
mod records;
mod results;
mod run_directory;
mod shard;
mod table;
mod table_file;

pub mod catalogue;
pub mod cli;
pub mod run_file;

pub use array_metrics::evaluate_arrays;
pub use bucket::{BUCKET_ROWS, BucketOptions, Bucketed, bucket};
pub use evaluation::{Evaluation, Options, Progress, evaluate, evaluate_with, explain};
pub use fuseval_core::{Error, ErrorKind, Result};
pub use fuseval_engine::arrays;
pub use merge::merge;
pub use run_directory::RunDirectory;
pub use run_file::RunFile;
pub use shard::write_shard;
pub use table::Format;
