//! `fill`: all rows get the same value.

use fuseval_core::source::Numbers;
use fuseval_core::{Perturbation, Result, Slot, Tensor};

/// Gives each of its features one value.
pub struct Fill {
    features: Vec<usize>,
    values: Vec<Tensor>,
}

impl Fill {
    /// For features with their values, each a tensor of one row.
    pub fn new(features: Vec<usize>, values: Vec<Tensor>) -> Self {
        Self { features, values }
    }
}

impl Perturbation for Fill {
    fn features(&self) -> &[usize] {
        &self.features
    }

    fn apply(&self, feature: usize, ordinals: &Numbers, slot: Slot<'_>) -> Result<()> {
        let Some(value) = self.features.iter().position(|own| *own == feature).and_then(|place| self.values.get(place))
        else {
            return Ok(());
        };
        for row in 0..ordinals.len() {
            slot.tensor.copy_row(row, slot.offset, value, 0)?;
        }
        Ok(())
    }
}
