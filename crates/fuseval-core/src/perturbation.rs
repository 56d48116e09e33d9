//! Perturbations: deterministic edits of features.

use crate::source::Numbers;
use crate::{Result, Tensor};

/// The place of one feature in a model input: `width` values from `offset` on in each row of the tensor.
#[derive(Debug)]
pub struct Slot<'a> {
    /// The tensor of the input, which holds the rows of one bucket.
    pub tensor: &'a mut Tensor,
    /// Where the feature begins in a row.
    pub offset: usize,
}

/// An edit of one or more features.
///
/// Laws, checked in the testkit: the same seed gives the same values; they do not depend on buckets, shards or threads;
/// other features stay untouched.
pub trait Perturbation: Send + Sync {
    /// The features that change, as places in the plan's list of features.
    fn features(&self) -> &[usize];

    /// Rewrites one of the features for the rows of a bucket. Called once per bucket for each of the features; `ordinals`
    /// are the places of the rows among all evaluated rows of the data set, in logical order, and `slot` holds the
    /// unchanged values.
    fn apply(&self, feature: usize, ordinals: &Numbers, slot: Slot<'_>) -> Result<()>;
}
