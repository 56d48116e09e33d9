//! The sums of predictions and labels, which several metrics are made of.

use fuseval_core::{ExactSum, Tally, View};

use crate::blocks::each_block;
use crate::over_rows::all_rows;

/// What the three sums are called: whoever asks for them shares them.
pub(crate) const TOTALS: &str = "totals";

/// Adds the rows of a view to Σ w·p, Σ w·y and Σ w.
pub(crate) fn add_totals([predictions, labels]: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
    each_block(view, |block| {
        block.add(predictions, block.predictions);
        block.add_labels(labels);
    });
    all_rows(view)
}
