//! `permute`: each row takes the values of another row of the whole data set, so that a feature keeps its distribution and
//! loses its meaning.

use std::sync::Arc;

use fuseval_core::random::{KeyedPermutation, KeyedRng};
use fuseval_core::source::Numbers;
use fuseval_core::{Perturbation, Result, Slot, Tensor};

/// Moves the values of its features by one permutation of all evaluated rows. The permutation depends on the seed, the
/// names of the features, the repeat and the number of rows: never on buckets, threads or other experiments.
pub struct Permute {
    features: Vec<usize>,
    donors: Vec<Arc<Tensor>>,
    permutation: KeyedPermutation,
}

impl Permute {
    /// For features with the values of all evaluated rows, one tensor each, in logical order.
    pub fn new(features: Vec<usize>, donors: Vec<Arc<Tensor>>, names: &[String], seed: u64, repeat: u32) -> Self {
        let rows = donors.first().map_or(0, |donor| donor.rows() as u64);
        let repeat = repeat.to_string();
        let mut parts = vec!["permute", &repeat];
        parts.extend(names.iter().map(String::as_str));
        Self { features, donors, permutation: KeyedPermutation::new(KeyedRng::new(seed, &parts), rows) }
    }
}

impl Perturbation for Permute {
    fn features(&self) -> &[usize] {
        &self.features
    }

    fn apply(&self, feature: usize, ordinals: &Numbers, slot: Slot<'_>) -> Result<()> {
        let Some(donor) = self.features.iter().position(|own| *own == feature).and_then(|place| self.donors.get(place))
        else {
            return Ok(());
        };
        for (row, ordinal) in ordinals.iter().enumerate() {
            slot.tensor.copy_row(row, slot.offset, donor, self.permutation.image(ordinal) as usize)?;
        }
        Ok(())
    }
}
