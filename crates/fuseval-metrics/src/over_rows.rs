//! Metrics over rows: each is a function of a few exact sums. How they are kept, counted and finished stands here; a metric
//! adds what it sums and its formula.

use fuseval_core::value::NO_ROWS;
use fuseval_core::{ExactSum, Metric, MetricId, Outcome, Profile, Result, Tally, Value, View};

use crate::states::sums::{Sums, sum_of_weights};

/// Why there is no value where sums are infinite on both sides of a division.
const BEYOND_FLOATS: &str = "sums beyond the range of floats";

/// The sums and the formula of a metric. The sum of the weights is kept beside them.
pub(crate) trait RowMetric<const N: usize>: Send + Sync + 'static {
    /// The name with its options.
    fn id(&self) -> MetricId;

    /// What the metric is.
    fn profile(&self) -> Profile;

    /// What the sums are called: metrics that give the same name sum alike, and share one state. The default is the metric's
    /// own name.
    fn sums_name(&self) -> String {
        self.id().to_string()
    }

    /// Adds the rows of a view to the sums, and says what to count.
    fn add(&self, sums: &mut [ExactSum; N], view: &View<'_>) -> Tally;

    /// The sum of the weights of the rows of a view that count; none where each weighs 1. The default counts all of them.
    fn weights(&self, view: &View<'_>) -> Option<ExactSum> {
        sum_of_weights(view)
    }

    /// The value of the sums of at least one row, and of their weight.
    fn outcome(&self, sums: &[ExactSum; N], weight: &ExactSum) -> Outcome;

    /// Why there is no value where no row was counted.
    fn without_rows(&self) -> &'static str {
        NO_ROWS
    }
}

/// A metric over rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverRows<const N: usize, M>(pub(crate) M);

impl<const N: usize, M: RowMetric<N>> Metric for OverRows<N, M> {
    type State = Sums<N>;

    fn id(&self) -> MetricId {
        self.0.id()
    }

    fn state_name(&self) -> String {
        self.0.sums_name()
    }

    fn profile(&self) -> Profile {
        self.0.profile()
    }

    fn empty(&self) -> Sums<N> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<N>, view: &View<'_>) -> Result<()> {
        let tally = self.0.add(&mut state.sums, view);
        state.count(&tally, self.0.weights(view).as_ref());
        Ok(())
    }

    fn finish(&self, state: &Sums<N>) -> Value {
        let tally = state.tally();
        let sum = state.weight();
        let weight = sum.value();
        if tally.n == 0 {
            return Value::undefined(self.0.without_rows(), weight, tally);
        }
        let outcome = match self.0.outcome(&state.sums, &sum) {
            Outcome::Number(number) if number.is_nan() => Outcome::Undefined(BEYOND_FLOATS.into()),
            outcome => outcome,
        };
        Value::exact(outcome, weight, tally)
    }
}

/// The count of all rows of a view.
pub(crate) fn all_rows(view: &View<'_>) -> Tally {
    Tally { n: view.rows() as u64, ..Tally::default() }
}

/// The first sum by the weight: a mean over rows.
pub(crate) fn mean<const N: usize>(sums: &[ExactSum; N], weight: &ExactSum) -> Outcome {
    match sums.first() {
        Some(values) => Outcome::ratio(values.value(), weight.value(), NO_ROWS),
        None => Outcome::Undefined(NO_ROWS.into()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;
    use fuseval_core::{Cache, Defaults, Fold, ScoreKind};

    /// The value of a metric, by its name, on rows.
    pub(crate) fn value(name: &str, preset: Option<&str>, view: &View<'_>) -> Value {
        let defaults = Defaults { preset: preset.map(str::to_string), ..Defaults::default() };
        let metric = crate::metric(&MetricId::parse(name).unwrap(), &defaults).unwrap();
        let mut folds = metric.empty();
        metric.update(folds.as_mut(), Fold::default(), view).unwrap();
        metric.finish(folds.as_ref(), &mut Cache::default()).unwrap()
    }

    /// Probabilities with their labels, each row of weight 1.
    pub(crate) fn rows<'a>(labels: &'a [f64], scores: &'a [f64]) -> View<'a> {
        View { labels, scores, kind: ScoreKind::Probability, ..View::default() }
    }

    /// Checks values of a view: the number to 1e-12, or why there is none.
    pub(crate) fn has_values(view: &View<'_>, expected: &[(&str, std::result::Result<f64, &str>)]) {
        for (name, expected) in expected {
            match (value(name, None, view).outcome, expected) {
                (Outcome::Number(number), Ok(expected)) => {
                    let near = (number - expected).abs() <= 1e-12 * expected.abs();
                    assert!(near || number == *expected, "{name}: {number} instead of {expected}");
                }
                (Outcome::Undefined(why), Err(expected)) => assert_eq!(why, *expected, "{name}"),
                (outcome, expected) => panic!("{name}: {outcome:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn sums_beyond_the_range_of_floats_give_no_number() {
        let huge = [1e200, -1e200, 1e200];
        let view = View { labels: &huge, scores: &[1.0, 2.0, 3.0], ..View::default() };
        has_values(&view, &[("r2", Err(BEYOND_FLOATS)), ("pearson", Err(BEYOND_FLOATS)), ("mse", Ok(f64::INFINITY))]);
    }

    const NAMES: [&str; 22] = [
        "mean_label",
        "mean_prediction",
        "mae",
        "mse",
        "rmse",
        "r2",
        "bias",
        "sum_ratio",
        "mape",
        "mape[zero_labels=eps]",
        "wmape",
        "pearson",
        "log_loss",
        "log_loss[clip=0]",
        "normalized_entropy",
        "rig",
        "brier",
        "calibration",
        "flip_rate",
        "flip_rate[of=down]",
        "score_shift",
        "count",
    ];

    #[test]
    fn a_metric_without_rows_has_no_value() {
        for name in NAMES.into_iter().filter(|name| *name != "count") {
            let view = View { baseline: Some(&[]), ..View::default() };
            assert!(matches!(value(name, None, &view).outcome, Outcome::Undefined(_)), "{name}");
        }
    }

    /// More rows than a block has, of which some blocks have labels of 0 and 1 alone: the same bytes however they are cut.
    #[test]
    fn no_border_of_a_block_shows() {
        let mut rng = KeyedRng::new(1, &["blocks"]);
        let rows = 900;
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut column = |f: &dyn Fn(f64) -> f64| -> Vec<f64> { (0..rows).map(|_| f(unit())).collect() };
        let mut labels = column(&f64::round);
        labels[300] = 0.3;
        labels[301] = 0.1;
        labels[899] = 0.7;
        let (scores, baseline, weights) = (column(&|x| x * x), column(&|x| x), column(&|x| 0.1 + x));
        for name in NAMES {
            for kind in [ScoreKind::Probability, ScoreKind::Logit] {
                for weights in [None, Some(weights.as_slice())] {
                    let bytes = |step: usize| {
                        let metric = crate::metric(&MetricId::parse(name).unwrap(), &Defaults::default()).unwrap();
                        let mut state = metric.empty();
                        for from in (0..rows).step_by(step) {
                            let part = from..rows.min(from + step);
                            let view = View {
                                labels: &labels[part.clone()],
                                scores: &scores[part.clone()],
                                baseline: Some(&baseline[part.clone()]),
                                weights: weights.map(|weights| &weights[part.clone()]),
                                kind,
                                ..View::default()
                            };
                            metric.update(state.as_mut(), Fold::default(), &view).unwrap();
                        }
                        fuseval_core::folds::encoded(state.as_ref(), Fold::default())
                    };
                    let whole = bytes(rows);
                    for step in [1, 7, 100, 256, 301] {
                        assert_eq!(bytes(step), whole, "{name} {kind:?} in parts of {step}");
                    }
                }
            }
        }
    }
}
