//! `ece`: expected calibration error, the mean distance of predictions and rates over bins.
//!
//! **Definition** Σ_b (w_b / w)·|mean prediction − rate of positives|, in which the sum runs over bins of predictions
//! (Naeini, Cooper and Hauskrecht 2015); a logit counts by its sigmoid. It is biased upward where bins have few rows, so
//! intervals are approximate.
//! **Bins** `strategy=quantile` (default): bins of equal weight, at most `bins=20`, from the least prediction on: one is
//! closed where the weight so far reaches the next multiple of 1 / `bins`. They are made of whole bins of the score histogram
//! (some 0.2 % wide), in every mode, so equal scores stay together and a constant prediction has one bin. `strategy=uniform`:
//! `bins=15` of equal width with edges i / `bins`, left-closed, the last one closed on both sides (numpy; scikit-learn's are
//! right-closed, torchmetrics gives 1.0 a bin of its own). Uniform bins say little where rates are low: nearly all rows lie
//! in one.
//! **Relevant** label 1: bins compare the prediction with the rate of positive rows, not the confidence in the likelier class
//! with the accuracy (Guo 2017). Labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label`
//! times as positive and `1 − label` times as negative.
//! **Ties** rows of equal score lie in one bin.
//! **Weights** count for rows; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `bins`, `strategy`. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram a row counts with the middle of its bin: Σ w·(half the width) / Σ w. A bin of the histogram
//! across an edge of a uniform bin may have rows on either side: moving rows changes the sum by at most twice what their
//! predictions and labels differ by.
//! **Oracle** enumeration with NumPy; torchmetrics `BinaryCalibrationError` for uniform bins (no prediction on an edge).

use fuseval_core::value::NO_ROWS;
use fuseval_core::{Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::bins::{BINS, Bins, STRATEGY, weight};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;
use crate::states::twofold::Twofold;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "ece",
    summary: "mean distance of predictions and rates over bins",
    file: include_str!("ece.rs"),
    cutoff: Cutoff::None,
    options: &[BINS, STRATEGY, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let bins = Bins::read(settings)?;
        Ok(Box::new(OnScores::new(Ece { bins }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, 1.0), Needs::new(ScoreNeed::Probability, LabelRange::Binary))
        .with_interval(IntervalKind::Approximate);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Ece {
    bins: Bins,
}

impl ScoreMetric for Ece {
    fn id(&self) -> MetricId {
        self.bins.printed(MetricId::new(ENTRY.name))
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = weight(table);
        if all == 0.0 {
            return (Outcome::Undefined(NO_ROWS.into()), 0.0);
        }
        let (mut gaps, mut slack) = (Twofold::default(), Twofold::default());
        for bin in self.bins.of(table) {
            gaps.add(bin.all.residual.value().abs());
            slack.add_scaled(1.0, bin.all.slack);
            // Rows across an edge are open in two bins or more, so this is at least twice what moving them can change.
            for open in &bin.open {
                slack.add(open.negative * open.high + open.positive * (1.0 - open.low));
            }
        }
        (Outcome::Number(gaps.value() / all), slack.value() / all)
    }
}
