//! The kinds of state, each with its merge and its bytes written once.

pub(crate) mod area;
pub(crate) mod radix;
pub mod scores;
pub mod sums;
pub mod thresholds;
pub(crate) mod twofold;
