//! The steps of a score table from the highest score down, with the weights above: the walk that curves and areas are made of.

use fuseval_core::value::NO_ROWS;
use fuseval_core::view::sigmoid;

use crate::states::scores::{ScoreTable, Step};
use crate::states::twofold::Twofold;

/// Weights of the two classes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Weights {
    pub(crate) negative: f64,
    pub(crate) positive: f64,
}

impl Weights {
    /// The weight of both classes.
    pub(crate) fn sum(self) -> f64 {
        self.negative + self.positive
    }

    /// The share of the positive class.
    pub(crate) fn precision(self) -> f64 {
        self.positive / self.sum()
    }

    /// Why rates of both classes are undefined, if they are.
    pub(crate) fn lacks_a_class(self) -> Option<&'static str> {
        match self.lacks_positives() {
            None if self.negative == 0.0 => Some("no negative row"),
            reason => reason,
        }
    }

    /// Why rates of the positive class are undefined, if they are.
    pub(crate) fn lacks_positives(self) -> Option<&'static str> {
        match (self.negative > 0.0, self.positive > 0.0) {
            (_, true) => None,
            (true, false) => Some("no positive row"),
            (false, false) => Some(NO_ROWS),
        }
    }
}

/// A step on the way down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descent {
    pub(crate) step: Step,
    /// The weights of all higher scores.
    pub(crate) above: Weights,
    /// The weights of the step.
    pub(crate) own: Weights,
    /// The weights of the step and of all higher scores.
    pub(crate) down_to: Weights,
}

impl ScoreTable {
    /// A score on the scale of thresholds and bins: as it is, or the probability that a logit stands for.
    pub(crate) fn prediction(&self, score: f64) -> f64 {
        if self.logits { sigmoid(score) } else { score }
    }

    /// The least score whose prediction is at or above a threshold, if there is one.
    pub(crate) fn cut(&self, threshold: f64) -> Option<f64> {
        if !self.logits {
            return Some(threshold);
        }
        if threshold <= 0.0 {
            return Some(f64::NEG_INFINITY);
        }
        if threshold > 1.0 {
            return None;
        }
        // The sigmoid is 0 at one end and 1 at the other.
        let (mut below, mut cut) = (-800.0, 800.0);
        loop {
            let middle = f64::midpoint(below, cut);
            if middle <= below || middle >= cut {
                return Some(cut);
            }
            if sigmoid(middle) >= threshold {
                cut = middle;
            } else {
                below = middle;
            }
        }
    }
}

/// The power of two that brings the largest weight near 1, so that products of weights neither overflow nor vanish; 1 where
/// every weight is 1.
pub(crate) fn scale(table: &ScoreTable) -> f64 {
    if !table.weighted {
        return 1.0;
    }
    let largest = table.steps().fold(0.0f64, |most, step| most.max(step.negative.weight).max(step.positive.weight));
    libm::exp2(-libm::floor(libm::log2(largest)).clamp(-1000.0, 1000.0))
}

/// The steps from the highest score down; their weights are multiplied by [`scale`].
pub(crate) fn descent(table: &ScoreTable) -> impl Iterator<Item = Descent> {
    walk(table, table.steps().rev())
}

/// The same for whoever does not look at scores and takes nothing from steps without a positive row but their weight: there
/// may be fewer steps.
pub(crate) fn coarse_descent(table: &ScoreTable) -> impl Iterator<Item = Descent> {
    walk(table, table.coarse_steps())
}

fn walk(table: &ScoreTable, steps: impl Iterator<Item = Step>) -> impl Iterator<Item = Descent> {
    let scale = scale(table);
    let (mut negatives, mut positives) = (Twofold::default(), Twofold::default());
    let mut above = Weights::default();
    steps.map(move |step| {
        let own = Weights { negative: step.negative.weight * scale, positive: step.positive.weight * scale };
        negatives.add(own.negative);
        positives.add(own.positive);
        let down_to = Weights { negative: negatives.value(), positive: positives.value() };
        let descent = Descent { step, above, own, down_to };
        above = down_to;
        descent
    })
}

/// The weights of all steps, multiplied by [`scale`]: what the last step of [`descent`] comes down to.
pub(crate) fn totals(table: &ScoreTable) -> Weights {
    if !table.weighted {
        let (negative, positive) = table.totals();
        return Weights { negative: negative.weight, positive: positive.weight };
    }
    descent(table).last().map_or_else(Weights::default, |last| last.down_to)
}
