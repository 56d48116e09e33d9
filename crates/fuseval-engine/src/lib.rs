//! The fused pipeline, modules in flow order: what is asked becomes a plan, rows become buckets of whole segments, features
//! are perturbed, the model scores them, states accumulate, partials merge, and the report finishes them.
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod plan;
pub mod specification;

mod columns;
mod features;

pub mod completeness;

pub mod bucket;
pub mod perturb;

pub mod infer;

mod selection;

pub mod accumulate;
pub mod arrays;
pub mod per_segment;
pub mod predictions;

pub mod journal;

pub mod run;

pub mod statistics;

pub mod report;

pub use plan::Plan;
pub use report::{ResultRow, report, report_with};
pub use run::{Limits, Run, RunError, Tables, Work, run};
pub use specification::Specification;
