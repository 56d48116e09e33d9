//! `reliability_curve`: predictions and rates by bins, what a reliability diagram shows.
//!
//! **Definition** for each bin of predictions that has rows, in ascending order: the mean prediction, the rate of positives,
//! the weight and the number of rows; a logit counts by its sigmoid. `ece` is the mean distance of the first two, `mce` the
//! largest.
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
//! **Weights** count for rows in both means; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `bins`, `strategy`. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** of the mean prediction: in the histogram a row counts with the middle of its bin, so the largest mean of half
//! the widths; with uniform bins at most the width of a bin, and rows of a bin across an edge are counted in the bin of its
//! middle.
//! **Oracle** enumeration with NumPy; scikit-learn `calibration_curve`, whose bins are right-closed.

use fuseval_core::value::{Curve, NO_ROWS};
use fuseval_core::{Cutoff, Direction, Entry, IntervalKind, LabelRange, MetricId, Needs, Outcome, Profile, ScoreNeed};

use crate::on_scores::bins::{BINS, Bin, Bins, STRATEGY};
use crate::on_scores::descent::scale;
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;
use crate::states::twofold::Twofold;

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "reliability_curve",
    summary: "mean prediction and rate of positives in each bin",
    file: include_str!("reliability_curve.rs"),
    cutoff: Cutoff::None,
    options: &[BINS, STRATEGY, MODE, LABELS],
    presets: &[],
    build: |settings| {
        let bins = Bins::read(settings)?;
        Ok(Box::new(OnScores::new(ReliabilityCurve { bins }, settings)?))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, 1.0), Needs::new(ScoreNeed::Probability, LabelRange::Binary))
        .with_interval(IntervalKind::None);

/// The formula.
#[derive(Debug, Clone, Copy)]
struct ReliabilityCurve {
    bins: Bins,
}

impl ScoreMetric for ReliabilityCurve {
    fn id(&self) -> MetricId {
        self.bins.printed(MetricId::new(ENTRY.name))
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let scale = scale(table);
        let bins = self.bins.of(table);
        let points: Vec<Vec<f64>> = bins
            .iter()
            .filter(|bin| bin.all.weight.value() > 0.0)
            .map(|bin| {
                let (sums, weight) = (&bin.all, bin.all.weight.value());
                let mean = |sum: Twofold| sum.value() / weight;
                vec![mean(sums.predictions), mean(sums.positives), weight / scale, sums.rows as f64]
            })
            .collect();
        if points.is_empty() {
            return (Outcome::Undefined(NO_ROWS.into()), 0.0);
        }
        let crossed = bins.iter().any(|bin| !bin.open.is_empty());
        let slack =
            |bin: &Bin| if bin.all.weight.value() > 0.0 { bin.all.slack.value() / bin.all.weight.value() } else { 0.0 };
        let bound = if crossed { self.bins.width() } else { bins.iter().map(slack).fold(0.0, f64::max) };
        let columns = &["mean_prediction", "positive_rate", "weight", "rows"];
        (Outcome::Curve(Curve { columns, points }), bound)
    }
}

#[cfg(test)]
mod tests {
    use crate::on_scores::tests::curve;
    use crate::over_rows::tests::{has_values, rows};
    use fuseval_core::View;

    #[test]
    fn bins_of_equal_mass_do_not_split_equal_scores() {
        let scores = [0.1, 0.2, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6];
        let view = rows(&[0., 0., 1., 0., 1., 0., 1., 1.], &scores);
        let points = curve("reliability_curve[bins=4]", &view).points;
        // The first quarter ends within the rows of 0.2, so that its bin ends after them, where the second quarter ends too.
        let weights: Vec<f64> = points.iter().map(|point| point[2]).collect();
        assert_eq!(weights, [4.0, 2.0, 2.0]);
        assert_eq!(points[0][1..], [0.25, 4.0, 4.0]);
        assert_eq!(points[2], [0.55, 1.0, 2.0, 2.0]);
        has_values(&view, &[("mce[bins=4]", Ok(0.45)), ("ece[bins=4]", Ok((0.3 + 0.3 + 0.9) / 8.0))]);
        let weighted = View { weights: Some(&[8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]), ..view };
        let points = curve("reliability_curve[bins=2]", &weighted).points;
        assert_eq!(points.iter().map(|point| (point[2], point[3])).collect::<Vec<_>>(), [(8.0, 1.0), (8.0, 7.0)]);
    }

    #[test]
    fn uniform_bins_are_left_closed_and_the_last_one_holds_1() {
        let view = rows(&[0., 1., 1., 1.], &[0.0, 0.5, 0.75, 1.0]);
        let points = curve("reliability_curve[bins=4,strategy=uniform]", &view).points;
        assert_eq!(points, [[0.0, 0.0, 1.0, 1.0], [0.5, 1.0, 1.0, 1.0], [0.875, 1.0, 2.0, 2.0]]);
    }
}
