//! `rig`: relative information gain, the share of the entropy of the labels that the predictions remove.
//!
//! **Definition** 1 − L / H, with the log loss L and the entropy H of the base rate as in `normalized_entropy` (Graepel et
//! al. 2010, Web-Scale Bayesian Click-Through Rate Prediction). 0 is as good as the base rate; it can be negative.
//! **Relevant** labels lie in [0, 1]; fractional ones count partly for each side.
//! **Ties** play no part.
//! **Weights** multiply the loss and the label; rows of weight 0 are not there.
//! **Undefined** when the base rate is 0 or 1.
//! **Clipped** rows in which the floor changed the loss are counted.
//! **Options** `clip` as in `log_loss`; `base_rate` as in `normalized_entropy`.
//! **State** `sums`: Σ w·loss, Σ w·y, Σ w, shared with `log_loss` and `normalized_entropy` of the same `clip`.
//! **Oracle** 1 − scikit-learn `log_loss` over SciPy `entropy`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed, Tally, View,
};

use crate::cross_entropy::{CLIP, SKLEARN_CLIP};
use crate::normalized_entropy::{BASE_RATE, NormalizedEntropy};
use crate::over_rows::{OverRows, RowMetric};

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "rig",
    summary: "relative information gain: 1 - normalized entropy",
    file: include_str!("rig.rs"),
    cutoff: Cutoff::None,
    options: &[CLIP, BASE_RATE],
    presets: &[SKLEARN_CLIP],
    build: |settings| Ok(Box::new(OverRows(Rig(NormalizedEntropy::read(settings)?)))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Higher, (f64::NEG_INFINITY, 1.0), Needs::new(ScoreNeed::Probability, LabelRange::Unit));

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Rig(NormalizedEntropy);

impl RowMetric<2> for Rig {
    fn id(&self) -> MetricId {
        self.0.printed(MetricId::new(ENTRY.name))
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn sums_name(&self) -> String {
        self.0.sums_name()
    }

    fn add(&self, sums: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
        self.0.add(sums, view)
    }

    fn outcome(&self, sums: &[ExactSum; 2], weight: &ExactSum) -> Outcome {
        self.0.outcome(sums, weight).map(|entropy| 1.0 - entropy)
    }
}
