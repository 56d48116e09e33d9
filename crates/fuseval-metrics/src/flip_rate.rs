//! `flip_rate`: the share of rows that a threshold decides otherwise than it does for the baseline.
//!
//! **Definition** Σ w over the rows whose decision changed / Σ w. A row is decided positive when its prediction, the score
//! or the sigmoid of a logit, is ≥ `threshold`. Of the baseline itself it is 0.
//! **Relevant** every row; labels are not used.
//! **Ties** a prediction equal to the threshold is positive, as everywhere here.
//! **Weights** are what is summed; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `threshold` (default 0.5); `of`: `any` change (default), `up` from negative to positive, `down` from
//! positive to negative; all are shares of all rows. (TFMA decides positive above the threshold, not at it.)
//! **State** `sums`: Σ w over the changed rows, Σ w.
//! **Oracle** TFMA `BooleanFlipRates`, where no prediction equals the threshold.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed, Tally,
    View,
};

use crate::blocks::{BLOCK, each_block_with_baseline, map};
use crate::over_rows::{OverRows, RowMetric, all_rows, mean};
use crate::segments::options::name;

const THRESHOLD: f64 = 0.5;
const OF: &[(&str, Of)] = &[("any", Of::Any), ("up", Of::Up), ("down", Of::Down)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "flip_rate",
    summary: "share of rows that a threshold decides otherwise than for the baseline",
    file: include_str!("flip_rate.rs"),
    cutoff: Cutoff::None,
    options: &[
        OptionEntry { name: "threshold", values: &[], default: "0.5" },
        OptionEntry { name: "of", values: &["any", "up", "down"], default: "any" },
    ],
    presets: &[],
    build: |settings| {
        let formula = FlipRate { threshold: settings.number("threshold", THRESHOLD)?, of: settings.choice("of", OF)? };
        Ok(Box::new(OverRows(formula)))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Any).baseline());

/// Which changes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Any,
    Up,
    Down,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct FlipRate {
    threshold: f64,
    of: Of,
}

impl RowMetric<1> for FlipRate {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("threshold", self.threshold, THRESHOLD).with("of", name(OF, self.of), "any")
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, [changed]: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
        let (up, down) = (self.of != Of::Down, self.of != Of::Up);
        let mut scratch = [0.0; BLOCK];
        each_block_with_baseline(view, |block, baseline| {
            let change = |prediction: f64, baseline: f64| {
                let (now, before) = (prediction >= self.threshold, baseline >= self.threshold);
                f64::from(u8::from((now & !before & up) | (!now & before & down)))
            };
            block.add_indicators(changed, map(block.predictions, baseline, &mut scratch, change));
        });
        all_rows(view)
    }

    fn outcome(&self, sums: &[ExactSum; 1], weight: &ExactSum) -> Outcome {
        mean(sums, weight)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::{ScoreKind, View};

    #[test]
    fn changes_are_counted_by_their_direction() {
        let view = View {
            baseline: Some(&[0.6, 0.4, 0.4, 0.5, 0.9]),
            weights: Some(&[1.0, 1.0, 2.0, 4.0, 8.0]),
            ..rows(&[0.0; 5], &[0.4, 0.6, 0.5, 0.499, 0.5])
        };
        has_values(
            &view,
            &[
                ("flip_rate", Ok(0.5)),
                ("flip_rate[of=up]", Ok(3.0 / 16.0)),
                ("flip_rate[of=down]", Ok(5.0 / 16.0)),
                ("flip_rate[threshold=0.55]", Ok(10.0 / 16.0)),
                ("flip_rate[threshold=2]", Ok(0.0)),
            ],
        );
    }

    #[test]
    fn logits_are_decided_as_probabilities() {
        let view = View { kind: ScoreKind::Logit, baseline: Some(&[0.1, -0.1]), ..rows(&[0.0; 2], &[0.4, 0.0]) };
        has_values(&view, &[("flip_rate", Ok(0.5)), ("flip_rate[threshold=0.55]", Ok(0.5))]);
    }
}
