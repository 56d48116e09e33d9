//! `score_shift`: how far the scores have moved from those of the baseline.
//!
//! **Definition** Σ w·|p − b| / Σ w, where p is the prediction, the score or the sigmoid of a logit, and b that of the baseline
//! for the same row. Of the baseline itself it is 0. (TFMA's `SymmetricPredictionDifference` divides each distance by the mean
//! of the two predictions.)
//! **Relevant** every row; labels are not used.
//! **Ties** play no part.
//! **Weights** multiply the distance; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Options** `measure`: `mean_absolute` (default). The others compare the distributions of the scores, whichever rows they
//! belong to, and do not change when both scores go through the same rising function. `psi`: the population stability index
//! Σ (e − b)·ln(e / b) over 10 bins that have equal weight in the baseline, with e and b the shares of the experiment and of
//! the baseline in a bin, each taken as at least 1e-4; bins are made of whole bins of the score histogram (some 0.2 % wide), so
//! it is the same however scores are kept. `ks`: the largest distance between the two distribution functions.
//! **State** `sums`: Σ w·|p − b|, Σ w. For `psi` and `ks` `scores`, in which each row stands twice: by its score of the baseline
//! and by that of the experiment.
//! **Bound** of `ks` where scores are kept as a histogram: as that of the metric `ks`.
//! **Oracle** NumPy `average` of the absolute differences; SciPy `ks_2samp`; enumeration for `psi`.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed, Tally,
    View,
};

use crate::blocks::{BLOCK, each_block_with_baseline, map};
use crate::over_rows::{OverRows, RowMetric, all_rows, mean};
use crate::score_distance::ScoreDistance;

const MEASURES: &[(&str, Measure)] = &[
    ("mean_absolute", Measure::MeanAbsolute),
    ("psi", Measure::Between(ScoreDistance::Psi)),
    ("ks", Measure::Between(ScoreDistance::Ks)),
];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "score_shift",
    summary: "distance of the scores from those of the baseline",
    file: include_str!("score_shift.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "measure", values: &["mean_absolute", "psi", "ks"], default: "mean_absolute" }],
    presets: &[],
    build: |settings| match settings.choice("measure", MEASURES)? {
        Measure::MeanAbsolute => Ok(Box::new(OverRows(MeanAbsolute))),
        Measure::Between(distance) => distance.build(settings),
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Size, LabelRange::Any).baseline());

/// What distance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    MeanAbsolute,
    Between(ScoreDistance),
}

/// The formula over rows.
#[derive(Debug, Clone, Copy)]
struct MeanAbsolute;

impl RowMetric<1> for MeanAbsolute {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name)
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn add(&self, [shifts]: &mut [ExactSum; 1], view: &View<'_>) -> Tally {
        let mut scratch = [0.0; BLOCK];
        each_block_with_baseline(view, |block, baseline| {
            block.add(shifts, map(block.predictions, baseline, &mut scratch, |now, before| (now - before).abs()));
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
    fn the_mean_of_the_distances() {
        let baseline: Vec<f64> = (0..600).map(|i| f64::from(i % 3) / 4.0).collect();
        let scores: Vec<f64> = baseline.iter().map(|score| score + 0.25).collect();
        let labels = vec![0.0; 600];
        let view = View { baseline: Some(&baseline), ..rows(&labels, &scores) };
        has_values(&view, &[("score_shift", Ok(0.25))]);
        let same = View { baseline: Some(&scores), kind: ScoreKind::Logit, ..view };
        has_values(&same, &[("score_shift", Ok(0.0))]);
        let far = View { kind: ScoreKind::Logit, baseline: Some(&[0.0]), ..rows(&[0.0], &[1000.0]) };
        has_values(&far, &[("score_shift", Ok(0.5))]);
    }
}
