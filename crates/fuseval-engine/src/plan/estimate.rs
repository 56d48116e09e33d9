//! What the states of a plan will take in memory, before anything is read.

use std::collections::BTreeSet;

use fuseval_core::{Element, FOLDS};

use super::{Change, Plan};

/// The states of a run: how many there are, and what they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Cells: experiments × heads × slices × states. A slice by columns counts once: its values are not known beforehand.
    pub cells: u64,
    /// Bytes on typical data, for each worker.
    pub typical: u64,
    /// Bytes at most, for each worker.
    pub most: u64,
    /// Bytes of the values that permutations take from, once for all workers.
    pub donors: u64,
}

impl Plan {
    /// Estimates the states of a run over so many rows.
    pub fn estimate(&self, rows: u64) -> Estimate {
        let folds = u64::from(FOLDS);
        let places = self.experiments.len() as u64 * self.heads.len() as u64 * (1 + self.slices.len() as u64);
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
        let bytes = self.states.iter().map(|state| state.state_bytes(rows.div_ceil(folds)));
        let (typical, most) = bytes.fold((0, 0), sum);
        let all = |bytes: u64| bytes.saturating_mul(folds).saturating_mul(places);
        Estimate {
            cells: places * self.states.len() as u64,
            typical: all(typical),
            most: all(most),
            donors: self.donor_bytes(rows),
        }
    }

    /// The bytes of the values of all permuted features.
    fn donor_bytes(&self, rows: u64) -> u64 {
        let mut permuted = BTreeSet::new();
        for experiment in &self.experiments {
            if let Change::Permute { features, .. } = &experiment.change {
                permuted.extend(features.iter().copied());
            }
        }
        let bytes = |feature: usize| {
            let place = self.features.get(feature);
            place.map_or(0, |place| place.width as u64 * element_bytes(place.element))
        };
        permuted.into_iter().map(bytes).sum::<u64>().saturating_mul(rows)
    }
}

/// The bytes of a value; those of a text without its characters.
fn element_bytes(element: Element) -> u64 {
    match element {
        Element::Bool => 1,
        Element::F32 | Element::I32 => 4,
        Element::F64 | Element::I64 => 8,
        Element::Text => 24,
    }
}
