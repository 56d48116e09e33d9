//! Confusion matrices at thresholds. A row is called positive when its prediction, which is its score or the probability that
//! a logit stands for, is at or above the threshold.
//!
//! ```text
//!   bins        ├──────┼──────┼──────┤      of the histogram; exact steps are bins of no width
//!   threshold          │  t              below t: called negative · above t: called positive
//!                       ▔▔▔▔▔▔          the bin that holds t: called by its middle; its rows may lie on either side
//! ```

use super::descent::{Weights, scale};
use crate::states::scores::{ScoreTable, Step};
use crate::states::twofold::Twofold;

/// Weights of the four kinds of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Confusion {
    pub(crate) true_positives: f64,
    pub(crate) false_positives: f64,
    pub(crate) true_negatives: f64,
    pub(crate) false_negatives: f64,
}

impl Confusion {
    /// Rows called positive.
    pub(crate) fn called(&self) -> f64 {
        self.true_positives + self.false_positives
    }

    /// Rows called negative.
    pub(crate) fn not_called(&self) -> f64 {
        self.true_negatives + self.false_negatives
    }

    /// Rows of the positive class.
    pub(crate) fn positives(&self) -> f64 {
        self.true_positives + self.false_negatives
    }

    /// Rows of the negative class.
    pub(crate) fn negatives(&self) -> f64 {
        self.true_negatives + self.false_positives
    }

    /// tp·tn − fp·fn: above 0 where calls go with labels.
    pub(crate) fn association(&self) -> f64 {
        let mut difference = Twofold::default();
        difference.add_product(self.true_positives, self.true_negatives);
        difference.add_product(-self.false_positives, self.false_negatives);
        difference.value()
    }
}

/// The confusion matrix at a threshold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Calls {
    /// With the bin of the threshold called by its middle.
    pub(crate) nearest: Confusion,
    /// With each row of that bin called right.
    pub(crate) best: Confusion,
    /// With each row of that bin called wrong.
    pub(crate) worst: Confusion,
    /// The weights of that bin; nothing where steps are exact.
    pub(crate) open: Weights,
}

/// Sums of both classes.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    negative: Twofold,
    positive: Twofold,
}

impl Sums {
    fn add(&mut self, step: &Step, scale: f64) {
        self.negative.add(step.negative.weight * scale);
        self.positive.add(step.positive.weight * scale);
    }

    /// The matrix where these rows of all are called negative.
    fn called_negative(negative: Twofold, positive: Twofold, all: &Self) -> Confusion {
        let rest = |mut all: Twofold, part: Twofold| {
            all.add_scaled(-1.0, part);
            all.value()
        };
        Confusion {
            true_positives: rest(all.positive, positive),
            false_positives: rest(all.negative, negative),
            true_negatives: negative.value(),
            false_negatives: positive.value(),
        }
    }
}

/// The calls at thresholds, which are given in ascending order; weights are multiplied by [`scale`].
pub(crate) fn calls(table: &ScoreTable, thresholds: &[f64]) -> Vec<Calls> {
    let scale = scale(table);
    let mut all = Sums::default();
    table.steps().for_each(|step| all.add(&step, scale));
    let mut below = Sums::default();
    let mut steps = table.steps().peekable();
    let one = |threshold: &f64| {
        // In the same order as above, so that what is left of all rows is exactly nothing where nothing is left.
        let cut = table.cut(*threshold);
        let is_below = |score: f64| cut.is_none_or(|cut| score < cut);
        while let Some(step) = steps.next_if(|step| is_below(step.high)) {
            below.add(&step, scale);
        }
        let (mut nearest, mut with_open) = (below, below);
        for step in steps.clone().take_while(|step| is_below(step.low)) {
            with_open.add(&step, scale);
            if is_below(f64::midpoint(step.low, step.high)) {
                nearest.add(&step, scale);
            }
        }
        let open = |mut most: Twofold, least: Twofold| {
            most.add_scaled(-1.0, least);
            most.value()
        };
        Calls {
            nearest: Sums::called_negative(nearest.negative, nearest.positive, &all),
            best: Sums::called_negative(with_open.negative, below.positive, &all),
            worst: Sums::called_negative(below.negative, with_open.positive, &all),
            open: Weights {
                negative: open(with_open.negative, below.negative),
                positive: open(with_open.positive, below.positive),
            },
        }
    };
    thresholds.iter().map(one).collect()
}
