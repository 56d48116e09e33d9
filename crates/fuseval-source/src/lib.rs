//! Rows in: files, formats, SQL expressions. The only crate that knows DataFusion.
//!
//! ```text
//! paths ─▶ file (footer | csv) ─▶ table (one type per column) ─▶ plan ─▶ read ─▶ explode ─▶ scan ─▶ rows, in logical order
//!                                              └─── expression: filter, derived columns, predicates ────┘
//! ```
//! A file is read by DataFusion's readers; filters, derived columns and predicates are computed here, after reading, so
//! that the number of each row in its file stays known.

mod options;

mod paths;

mod file;

mod footer;

mod csv;

mod types;

mod cast;

mod table;

mod session;

mod expression;

mod columns;

mod plan;

mod read;

mod explode;

mod scan;

mod source;

mod trec;

mod write;

pub use options::SourceOptions;
pub use source::{FileSource, open};
pub use trec::{TrecOptions, TrecSource, TrecTopics, open_trec};
pub use write::ParquetFile;
