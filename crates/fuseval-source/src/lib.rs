//! Rows in: files, formats, SQL expressions. The only crate that knows DataFusion.
//!
//! ```text
//! paths (remote) ─▶ file (footer | csv | …) ─▶ table (one type per column) ─▶ plan ─▶ read ─▶ explode ─▶ scan ─▶ rows, in logical order
//!                                                    └─── expression: filter, derived columns, predicates ────┘
//! ```
//! A file is read by the readers of DataFusion and of Arrow below it; filters, derived columns and predicates are computed here, after reading, so
//! that the number of each row in its file stays known.

mod options;

mod expect;

mod format;

mod parallel;

mod paths;

mod remote;

mod content;

mod file;

mod footer;

mod csv;

mod ndjson;

mod arrow_file;

mod avro;

mod types;

mod cast;

mod table;

mod session;

mod expression;

mod columns;

mod plan;

mod read;

mod explode;

mod cluster;

mod scan;

mod source;

mod trec;

mod write;

pub use options::{Expected, SourceOptions};
pub use source::{FileSource, open};
pub use trec::{TrecOptions, TrecSource, TrecTopics, open_trec};
pub use write::{ParquetFile, each_batch};
