//! `mce`: maximum calibration error, the largest distance of predictions and rates among bins.
//!
//! **Definition** max_b |mean prediction − rate of positives| over bins of predictions (Naeini, Cooper and Hauskrecht 2015);
//! a logit counts by its sigmoid. It is the error of the worst bin, however small: with uniform bins often one with few rows.
//! It is biased upward where bins have few rows, so intervals are approximate.
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
//! **Bound** in the histogram a row counts with the middle of its bin: the largest mean of half the widths. Where a bin of
//! the histogram lies across an edge of a uniform bin, any of its rows may be taken into either bin: the bound is made of the
//! largest distance that some choice of them can have.
//! **Oracle** enumeration with NumPy; torchmetrics `BinaryCalibrationError(norm="max")` for uniform bins (no prediction on an
//! edge).

use fuseval_core::value::NO_ROWS;
use fuseval_core::{Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::bins::{BINS, Bin, Bins, STRATEGY};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "mce",
    summary: "largest distance of predictions and rates among bins",
    file: include_str!("mce.rs"),
    cutoff: Cutoff::None,
    options: &[BINS, STRATEGY, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let bins = Bins::read(settings)?;
        Ok(Box::new(OnScores::new(Mce { bins }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, 1.0), Needs::new(ScoreNeed::Probability, LabelRange::Binary))
        .with_interval(IntervalKind::Approximate);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct Mce {
    bins: Bins,
}

impl ScoreMetric for Mce {
    fn id(&self) -> MetricId {
        self.bins.printed(MetricId::new(ENTRY.name))
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let bins = self.bins.of(table);
        let value = bins.iter().filter(|bin| bin.all.weight.value() > 0.0).map(|bin| bin.all.gap()).reduce(f64::max);
        let Some(value) = value else {
            return (Outcome::Undefined(NO_ROWS.into()), 0.0);
        };
        if table.exact {
            return (Outcome::Number(value), 0.0);
        }
        let (least, most) = bins.iter().map(ends).fold((0.0f64, 0.0f64), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        (Outcome::Number(value), (most - value).max(value - least).max(0.0))
    }
}

/// The least and the greatest distance that a bin can have.
fn ends(bin: &Bin) -> (f64, f64) {
    let certain = &bin.certain;
    let (residual, weight, slack) = (certain.residual.value(), certain.weight.value(), certain.slack.value());
    let least = if bin.open.is_empty() && weight > 0.0 { (residual.abs() - slack) / weight } else { 0.0 };
    // Upward all open negatives that raise the mean, the highest first; downward all open positives that lower it.
    let mut open = bin.open.clone();
    open.sort_by(|a, b| b.high.total_cmp(&a.high));
    let up = mean((residual + slack, weight), open.iter().map(|open| (open.high, open.negative)));
    open.sort_by(|a, b| a.low.total_cmp(&b.low));
    let down = mean((slack - residual, weight), open.iter().map(|open| (1.0 - open.low, open.positive)));
    (least, up.max(down))
}

/// The greatest mean of values with a sum and a weight and of some of the others, (value, weight), given in falling order.
fn mean((mut sum, mut weight): (f64, f64), others: impl Iterator<Item = (f64, f64)>) -> f64 {
    for (value, own) in others.filter(|(_, own)| *own > 0.0) {
        if weight == 0.0 || value > sum / weight {
            sum += value * own;
            weight += own;
        }
    }
    if weight > 0.0 { sum / weight } else { 0.0 }
}
