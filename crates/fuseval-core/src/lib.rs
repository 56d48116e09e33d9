//! The contract of fuseval: what a metric, a state, a scorer, a perturbation, a source and a partial are, with the exact
//! sums, the keyed randomness and the byte format that they share. No I/O, no threads.
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod bytes;
pub mod cell;
pub mod error;
pub mod exact_sum;
pub mod folds;
pub mod math;
pub mod metric;
pub mod metric_id;
pub mod nearest;
pub mod partial;
pub mod perturbation;
pub mod random;
pub mod ranking;
pub mod registry;
pub mod scorer;
pub mod segment_key;
pub mod simd;
pub mod source;
pub mod state;
pub mod tensor;
pub mod value;
pub mod view;

pub use cell::{Cell, Slice};
pub use error::{Error, ErrorKind, Result};
pub use exact_sum::ExactSum;
pub use folds::{AnyFolds, Cache, Folds};
pub use metric::{
    AnyMetric, Direction, IntervalKind, LabelRange, LabelSide, Layout, Metric, Needs, Profile, ScoreNeed,
};
pub use metric_id::{MetricId, OptionValue};
pub use partial::Partial;
pub use perturbation::{Perturbation, Slot};
pub use ranking::{Marks, RankedSegment, Ranking};
pub use registry::{Cutoff, Defaults, Entry, OptionEntry};
pub use scorer::{Model, Scorer};
pub use segment_key::{FOLDS, Fold, SegmentKey};
pub use source::{Rows, Scan, Source};
pub use state::State;
pub use tensor::{Element, Tensor, Values};
pub use value::{Curve, Outcome, Tally, Value};
pub use view::{ScoreKind, View};
