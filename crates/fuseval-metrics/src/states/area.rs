//! The area under the ROC curve, from groups of equal score given in ascending order, with half credit inside a group.

use fuseval_core::Outcome;
use fuseval_core::value::NO_ROWS;

use super::scores::ScoreTable;
use super::twofold::Twofold;

/// The area in the making: integers where every weight is 1, sums of twice the digits otherwise.
#[derive(Debug, Default)]
pub(crate) struct Area {
    /// Twice the number of pairs ranked right, ties counted once.
    twice: u128,
    ties: u128,
    rows: (u64, u64),
    weighted: WeightedArea,
    /// The power of two that brings weights near 1, so that their products neither overflow nor vanish; none where every
    /// weight is 1.
    scale: Option<f64>,
}

#[derive(Debug, Default)]
struct WeightedArea {
    area: Twofold,
    half: Twofold,
    negatives: Twofold,
    positives: Twofold,
}

impl Area {
    /// The area of rows of weight 1, or of rows with weights up to the largest one given.
    pub(crate) fn new(largest_weight: Option<f64>) -> Self {
        let scale = largest_weight.map(|largest| libm::exp2(-libm::floor(libm::log2(largest)).clamp(-1000.0, 1000.0)));
        Self { scale, ..Self::default() }
    }

    /// The area of the steps of a score state.
    pub(crate) fn of(table: &ScoreTable) -> Self {
        // The same integers, without a look at rows that are not positive.
        if let Some((twice, ties)) = table.pairs() {
            let (negative, positive) = table.totals();
            return Self { twice, ties, rows: (negative.rows, positive.rows), ..Self::default() };
        }
        let largest = table.steps().fold(0.0f64, |most, step| most.max(step.negative.weight).max(step.positive.weight));
        let mut area = Self::new(table.weighted.then_some(largest));
        for step in table.steps() {
            if table.weighted {
                area.add_weights(step.negative.weight, step.positive.weight);
            } else {
                area.add_rows(step.negative.rows, step.positive.rows);
            }
        }
        area
    }

    /// Whether groups come by their weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.scale.is_some()
    }

    /// Adds a group of rows that all have weight 1.
    pub(crate) fn add_rows(&mut self, negative: u64, positive: u64) {
        let tied = u128::from(positive) * u128::from(negative);
        self.twice += 2 * u128::from(positive) * u128::from(self.rows.0) + tied;
        self.ties += tied;
        self.rows.0 += negative;
        self.rows.1 += positive;
    }

    /// Adds a group by its weights.
    pub(crate) fn add_weights(&mut self, negative: f64, positive: f64) {
        let scale = self.scale.unwrap_or(1.0);
        let (negative, positive) = (negative * scale, positive * scale);
        let sums = &mut self.weighted;
        sums.area.add_scaled(positive, sums.negatives);
        sums.half.add_product(positive, negative / 2.0);
        sums.negatives.add(negative);
        sums.positives.add(positive);
    }

    /// The area, and the part of it that is half credit.
    pub(crate) fn finish(mut self) -> (Outcome, f64) {
        let sums = &mut self.weighted;
        let (negatives, positives) = match self.scale {
            Some(_) => (sums.negatives.value(), sums.positives.value()),
            None => (self.rows.0 as f64, self.rows.1 as f64),
        };
        let reason = match (positives > 0.0, negatives > 0.0) {
            (true, true) => None,
            (false, false) => Some(NO_ROWS),
            (false, true) => Some("no positive row"),
            (true, false) => Some("no negative row"),
        };
        if let Some(reason) = reason {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        if self.scale.is_some() {
            sums.area.add_scaled(1.0, sums.half);
            let share = |pairs: f64| pairs / positives / negatives;
            return (Outcome::Number(share(sums.area.value())), share(sums.half.value()));
        }
        let pairs = 2.0 * (u128::from(self.rows.0) * u128::from(self.rows.1)) as f64;
        (Outcome::Number(self.twice as f64 / pairs), self.ties as f64 / pairs)
    }
}
