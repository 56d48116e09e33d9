//! Pairs of rows of a segment that should stand in one order, counted.

use super::Segment;

/// Pairs of rows, one of which should rank higher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// Two for each pair that is ranked right, one for each tied pair.
    pub(crate) halves: u64,
    /// The number of pairs.
    pub(crate) all: u64,
}

impl Pairs {
    /// The pairs of a relevant row and another one.
    pub(crate) fn of(segment: &Segment<'_>, is_relevant: impl Fn(f64) -> bool) -> Self {
        let (mut halves, mut relevant) = (0, 0);
        if segment.is_strict() {
            for label in segment.labels {
                let this = u64::from(is_relevant(*label));
                halves += 2 * relevant * (1 - this);
                relevant += this;
            }
        } else {
            for block in segment.blocks() {
                let inside = block.labels.iter().filter(|label| is_relevant(**label)).count() as u64;
                halves += (2 * relevant + inside) * (block.labels.len() as u64 - inside);
                relevant += inside;
            }
        }
        Self { halves, all: relevant * (segment.labels.len() as u64 - relevant) }
    }

    /// The share that is ranked right, tied pairs half; `None` without pairs.
    pub(crate) fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.halves as f64 / (2.0 * self.all as f64))
    }
}
