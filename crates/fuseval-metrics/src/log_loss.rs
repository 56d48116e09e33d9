//! `log_loss`: mean negative log-likelihood, in nats.
//!
//! **Definition** −Σ w·[y ln p + (1 − y) ln(1 − p)] / Σ w. For probabilities each logarithm's argument has the floor `clip`
//! (default 1e-12; 0 shows the infinity), so a row that is certain and right costs exactly 0; logits need no floor.
//! **Relevant** labels lie in [0, 1]; fractional ones count partly for each side.
//! **Ties** play no part.
//! **Weights** multiply the loss; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Clipped** rows in which the floor changed the loss are counted.
//! **State** `sums`: Σ w·loss, Σ w.
//! **Oracle** scikit-learn `log_loss` (which clips by the epsilon of the type; equal where nothing is clipped).

use fuseval_core::view::ScoreKind;
use fuseval_core::{
    Direction, Entry, Error, LabelRange, Layout, Metric, MetricId, Needs, OptionEntry, Result, ScoreNeed, Value, View,
};

use fuseval_core::value::NO_ROWS;

use crate::states::sums::{Sums, add_weights};

const CLIP: f64 = 1e-12;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "log_loss",
    summary: "mean negative log-likelihood of the label, natural logarithm",
    cutoff: false,
    options: &[OptionEntry { name: "clip", values: &[], default: "1e-12" }],
    build: |settings| {
        let clip = settings.number("clip", CLIP)?;
        if !(0.0..0.5).contains(&clip) {
            return Err(Error::usage("`clip` from 0 to below 0.5", clip.to_string(), "leave it out for 1e-12"));
        }
        Ok(Box::new(LogLoss { clip }))
    },
};

/// The metric.
#[derive(Debug, Clone, Copy)]
pub struct LogLoss {
    clip: f64,
}

impl LogLoss {
    /// The loss of a row, and whether the floor changed it.
    fn loss(&self, kind: ScoreKind, label: f64, score: f64) -> (f64, bool) {
        if kind == ScoreKind::Logit {
            return (label * softplus(-score) + (1.0 - label) * softplus(score), false);
        }
        let (hit, miss) = (label > 0.0, label < 1.0);
        let (low, high) = (score < self.clip, 1.0 - score < self.clip);
        let mut loss = 0.0;
        if hit {
            loss -= label * libm::log(if low { self.clip } else { score });
        }
        if miss {
            loss -= (1.0 - label) * if high { libm::log(self.clip) } else { libm::log1p(-score) };
        }
        // A sum of nothing but -0 would print as -0.
        (loss + 0.0, hit && low || miss && high)
    }
}

/// ln(1 + e^x) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

impl Metric for LogLoss {
    type State = Sums<2>;

    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("clip", self.clip, CLIP)
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Probability, labels: LabelRange::Unit, ranking: false }
    }

    fn empty(&self) -> Sums<2> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<2>, view: &View<'_>) -> Result<()> {
        let [losses, weights] = &mut state.sums;
        for (label, score, weight) in view.each() {
            let (loss, clipped) = self.loss(view.kind, label, score);
            losses.add_product(weight, loss);
            state.tally.clipped += u64::from(clipped);
        }
        add_weights(weights, view);
        state.tally.n += view.rows() as u64;
        Ok(())
    }

    fn finish(&self, state: &Sums<2>) -> Value {
        state.mean(NO_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_right_costs_nothing_and_certain_and_wrong_is_clipped() {
        let metric = LogLoss { clip: CLIP };
        assert_eq!(metric.loss(ScoreKind::Probability, 1.0, 1.0), (0.0, false));
        assert_eq!(metric.loss(ScoreKind::Probability, 0.0, 0.0), (0.0, false));
        assert_eq!(metric.loss(ScoreKind::Probability, 1.0, 0.0), (-libm::log(CLIP), true));
        assert_eq!(LogLoss { clip: 0.0 }.loss(ScoreKind::Probability, 1.0, 0.0), (f64::INFINITY, false));
    }

    #[test]
    fn large_logits_neither_overflow_nor_vanish() {
        let metric = LogLoss { clip: CLIP };
        assert_eq!(metric.loss(ScoreKind::Logit, 0.0, 1000.0).0, 1000.0);
        assert_eq!(metric.loss(ScoreKind::Logit, 1.0, -1000.0).0, 1000.0);
        assert_eq!(metric.loss(ScoreKind::Logit, 1.0, 40.0).0, libm::log1p(libm::exp(-40.0)));
    }
}
