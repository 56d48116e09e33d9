//! `mape`: mean absolute percentage error, as a share: 0.1 is ten percent.
//!
//! **Definition** Σ w·|p − y| / |y| / Σ w, where p is the score, or the sigmoid of a logit. One row with a label near 0 can
//! outweigh all others: `wmape` has no such weakness.
//! **Relevant** rows whose label is not 0; labels are any finite numbers.
//! **Ties** play no part.
//! **Weights** multiply the quotient; rows of weight 0 are not there.
//! **Undefined** without rows whose label is not 0.
//! **Options** `zero_labels=skip` (default) leaves rows of label 0 out, and out of `n`; `zero_labels=eps` divides by no
//! less than 2.220446049250313e-16, as scikit-learn does, so that such a row costs about 5e15 times its prediction.
//! **State** `sums`: Σ w·|p − y| / |y|, Σ w.
//! **Oracle** scikit-learn `mean_absolute_percentage_error`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed, Tally,
    View,
};

use crate::blocks::{BLOCK, each_block};
use crate::over_rows::{OverRows, RowMetric, mean};
use crate::segments::options::name;

const ZERO_LABELS: &[(&str, ZeroLabels)] = &[("skip", ZeroLabels::Skip), ("eps", ZeroLabels::Eps)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mape",
    summary: "mean absolute error as a share of the label",
    file: include_str!("mape.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "zero_labels", values: &["skip", "eps"], default: "skip" }],
    presets: &[("sklearn", "zero_labels", "eps")],
    build: |settings| Ok(Box::new(OverRows(Mape { zero_labels: settings.choice("zero_labels", ZERO_LABELS)? }))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any));

/// What becomes of rows with the label 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ZeroLabels {
    /// They are left out.
    Skip,
    /// Their error is divided by the distance from 1 to the next float.
    Eps,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Mape {
    zero_labels: ZeroLabels,
}

impl RowMetric<1> for Mape {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("zero_labels", name(ZERO_LABELS, self.zero_labels), "skip")
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, [shares]: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
        let skips = self.zero_labels == ZeroLabels::Skip;
        let least = if skips { 0.0 } else { f64::EPSILON };
        let mut scratch = [0.0; BLOCK];
        let mut n = 0;
        each_block(view, |block| {
            let counts = |label: f64| f64::from(u8::from(!(skips && label == 0.0)));
            let share = |label: f64, prediction: f64| {
                let share = (prediction - label).abs() / label.abs().max(least);
                if counts(label) == 0.0 { 0.0 } else { share }
            };
            block.add(shares, block.map(&mut scratch, share));
            let counted = block.map(&mut scratch, |label, _| counts(label));
            n += counted.iter().filter(|counted| **counted != 0.0).count() as u64;
        });
        Tally { n, ..Tally::default() }
    }

    fn weights(&self, view: &View<'_>) -> Option<ExactSum> {
        let counts = |label: &f64| self.zero_labels != ZeroLabels::Skip || *label != 0.0;
        let weights = view.labels.iter().zip(view.weights?).filter(|(label, _)| counts(label));
        let weights: Vec<f64> = weights.map(|(_, weight)| *weight).collect();
        let mut sum = ExactSum::new();
        sum.add_all(&weights);
        Some(sum)
    }

    fn outcome(&self, sums: &[ExactSum; 1], weight: &ExactSum) -> Outcome {
        mean(sums, weight)
    }

    fn without_rows(&self) -> &'static str {
        "no row with a label other than 0"
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::View;

    #[test]
    fn rows_of_label_0_are_left_out_of_all_counts() {
        let view = View { weights: Some(&[1.0, 2.0, 1.0]), ..rows(&[2.0, 0.0, -4.0], &[1.0, 1.0, -3.0]) };
        has_values(&view, &[("mape", Ok(0.375)), ("mape[zero_labels=eps]", Ok((0.75 + 2.0 / f64::EPSILON) / 4.0))]);
        let found = value("mape", None, &view);
        assert_eq!((found.tally.n, found.tally.undefined, found.weight), (2, 0, 2.0));
        assert_eq!(value("mape", Some("sklearn"), &view).tally.n, 3);
        has_values(&rows(&[0.0], &[1.0]), &[("mape", Err("no row with a label other than 0"))]);
    }
}
