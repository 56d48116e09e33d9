//! What the states of a plan will take in memory, before anything is read.

use fuseval_core::FOLDS;

use super::Plan;

/// The states of a run: how many there are, and what they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Cells: experiments × heads × slices × states. A slice by columns counts once: its values are not known beforehand.
    pub cells: u64,
    /// Bytes on typical data, for each worker.
    pub typical: u64,
    /// Bytes at most, for each worker.
    pub most: u64,
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
        Estimate { cells: places * self.states.len() as u64, typical: all(typical), most: all(most) }
    }
}
