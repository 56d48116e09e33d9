//! `score_shift[measure=psi]` and `score_shift[measure=ks]`: distances between the distributions of the scores of the baseline
//! and of the experiment. The score state holds every row twice: with the score of the baseline as a negative, with that of
//! the experiment as a positive one.

use fuseval_core::registry::Settings;
use fuseval_core::value::NO_ROWS;
use fuseval_core::{AnyMetric, Direction, LabelRange, MetricId, Needs, Outcome, Profile, Result, ScoreNeed};

use crate::ks::Ks;
use crate::on_scores::bins::Bins;
use crate::on_scores::descent::totals;
use crate::on_scores::{OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;
use crate::states::twofold::Twofold;

/// Bins of the index of population stability, of equal mass in the scores of the baseline.
const BINS: Bins = Bins::quantile(10.0);
/// The least share of a bin.
const FLOOR: f64 = 1e-4;

/// A distance of distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScoreDistance {
    /// Population stability index: Σ (e − b)·ln(e / b) over bins.
    Psi,
    /// The largest distance between the distribution functions.
    Ks,
}

impl ScoreDistance {
    /// The metric.
    pub(crate) fn build(self, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
        Ok(Box::new(OnScores::against_baseline(self, settings)))
    }
}

impl ScoreMetric for ScoreDistance {
    fn id(&self) -> MetricId {
        let measure = if *self == Self::Psi { "psi" } else { "ks" };
        MetricId::new(crate::score_shift::ENTRY.name).with("measure", measure, "")
    }

    fn profile(&self) -> Profile {
        let most = if *self == Self::Psi { f64::INFINITY } else { 1.0 };
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Any).baseline();
        Profile::rows(Direction::Neither, (0.0, most), needs)
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        match self {
            Self::Ks => Ks.value(table),
            Self::Psi => (psi(table), 0.0),
        }
    }
}

/// The index over bins that the histogram has in every mode, so that it is exact in every mode.
fn psi(table: &ScoreTable) -> Outcome {
    let all = totals(table);
    if all.sum() == 0.0 {
        return Outcome::Undefined(NO_ROWS.into());
    }
    let mut bins: Vec<[Twofold; 2]> = Vec::new();
    let mut whole = [Twofold::default(); 2];
    BINS.each_of_equal_mass(
        table,
        |step| step.negative.weight,
        |begins, step| {
            if begins {
                bins.push(Default::default());
            }
            for sums in bins.last_mut().into_iter().chain([&mut whole]) {
                let [baseline, experiment] = sums;
                baseline.add(step.negative.weight);
                experiment.add(step.positive.weight);
            }
        },
    );
    let share = |part: &[Twofold; 2], side: fn(&[Twofold; 2]) -> Twofold| {
        (side(part).value() / side(&whole).value()).max(FLOOR)
    };
    let mut index = Twofold::default();
    for bin in &bins {
        let (baseline, experiment) = (share(bin, |[baseline, _]| *baseline), share(bin, |[_, experiment]| *experiment));
        index.add((experiment - baseline) * libm::log(experiment / baseline));
    }
    Outcome::Number(index.value())
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::{has_values, rows, value};
    use fuseval_core::View;

    #[test]
    fn the_distributions_are_compared_not_the_rows() {
        let baseline: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let (moved, labels): (Vec<f64>, _) = (baseline.iter().rev().copied().collect(), [0.0; 100]);
        let mirrored = View { baseline: Some(&baseline), ..rows(&labels, &moved) };
        has_values(&mirrored, &[("score_shift[measure=ks]", Ok(0.0)), ("score_shift", Ok(0.5))]);
        let same = View { baseline: Some(&baseline), ..rows(&labels, &baseline) };
        has_values(&same, &[("score_shift[measure=ks]", Ok(0.0)), ("score_shift[measure=psi]", Ok(0.0))]);
        let value = value("score_shift[measure=psi]", None, &same);
        assert_eq!((value.tally.n, value.weight, value.error_bound), (100, 100.0, 0.0));
    }

    #[test]
    fn shares_of_bins_have_a_floor() {
        let baseline: Vec<f64> = (0..10).map(f64::from).collect();
        let view = View { baseline: Some(&baseline), ..rows(&[0.0; 10], &[9.0; 10]) };
        let empty = (1e-4f64 - 0.1) * (1e-4f64 / 0.1).ln();
        has_values(
            &view,
            &[("score_shift[measure=psi]", Ok(9.0 * empty + 0.9 * 10f64.ln())), ("score_shift[measure=ks]", Ok(0.9))],
        );
    }
}
