//! Rates at a threshold: functions of one confusion matrix, with the options that they share.

use fuseval_core::registry::Settings;
use fuseval_core::value::NO_ROWS;
use fuseval_core::{
    AnyMetric, Direction, Error, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, Result, ScoreNeed,
};

use super::confusion::{Confusion, calls};
use super::{OnScores, ScoreMetric};
use crate::segments::options::name;
use crate::states::scores::ScoreTable;

/// From which prediction on a row is called positive.
pub(crate) const THRESHOLD: OptionEntry = OptionEntry { name: "threshold", values: &[], default: "0.5" };
const DEFAULT_THRESHOLD: f64 = 0.5;

/// What 0/0 gives: by default nothing.
pub(crate) const UNDEFINED: OptionEntry =
    OptionEntry { name: "undefined", values: &["null", "zero", "one"], default: "null" };
const UNDEFINED_CHOICES: &[(&str, Option<f64>)] = &[("null", None), ("zero", Some(0.0)), ("one", Some(1.0))];

/// scikit-learn gives 0 for 0/0 in most rates, with a warning.
pub(crate) const SKLEARN: &[(&str, &str, &str)] = &[("sklearn", "undefined", "zero")];

/// A rate, or why it is 0/0.
pub(crate) type Rated = std::result::Result<f64, &'static str>;

/// `part / whole`, or why there is no whole.
pub(crate) fn share(part: f64, whole: f64, reason: &'static str) -> Rated {
    if whole > 0.0 { Ok(part / whole) } else { Err(reason) }
}

/// True positives among the rows called positive.
pub(crate) fn precision(of: &Confusion) -> Rated {
    share(of.true_positives, of.called(), "no row at or above the threshold")
}

/// True positives among the positive rows.
pub(crate) fn recall(of: &Confusion) -> Rated {
    share(of.true_positives, of.positives(), "no positive row")
}

/// A rate at a threshold: it must not fall when a positive row is called positive or a negative row negative, since the bound
/// on its error is made of the matrices with all open rows called right and all called wrong.
pub(crate) struct Rate {
    id: MetricId,
    threshold: f64,
    undefined: Option<f64>,
    range: (f64, f64),
    of: Box<dyn Fn(&Confusion) -> Rated + Send + Sync>,
}

impl Rate {
    /// A rate from 0 to 1 with the options of its entry.
    pub(crate) fn new(
        settings: &Settings<'_>,
        of: impl Fn(&Confusion) -> Rated + Send + Sync + 'static,
    ) -> Result<Self> {
        let entry = settings.entry();
        let threshold = settings.number("threshold", DEFAULT_THRESHOLD)?;
        let written =
            entry.options.iter().find(|option| option.name == THRESHOLD.name).map_or("", |option| option.default);
        let id = MetricId::new(entry.name).with("threshold", threshold, written);
        Ok(Self { id, threshold, undefined: None, range: (0.0, 1.0), of: Box::new(of) })
    }

    /// With another range.
    pub(crate) fn within(self, range: (f64, f64)) -> Self {
        Self { range, ..self }
    }

    /// With a number among its options.
    pub(crate) fn with(self, option: &str, value: f64, default: f64) -> Self {
        Self { id: self.id.with(option, value, default), ..self }
    }

    /// With the shared rule for 0/0.
    pub(crate) fn or_undefined(self, settings: &Settings<'_>) -> Result<Self> {
        let undefined = settings.choice("undefined", UNDEFINED_CHOICES)?;
        Ok(Self { undefined, id: self.id.with("undefined", name(UNDEFINED_CHOICES, undefined), "null"), ..self })
    }

    /// With a rule for 0/0 that the formula has applied.
    pub(crate) fn with_rule(self, rule: impl std::fmt::Display) -> Self {
        Self { id: self.id.with("undefined", rule, "null"), ..self }
    }

    /// The metric with the options of the score state.
    pub(crate) fn build(self, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
        Ok(Box::new(OnScores::new(self, settings)?))
    }
}

/// `precision[threshold=…]` and `recall[threshold=…]`, which share their names with metrics of segments. Their entries list
/// `threshold` without a default, [`UNDEFINED`], `MODE` and `LABELS`.
pub(crate) fn rate(rate_name: &'static str, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
    if settings.get("threshold").is_none() {
        return Err(Error::usage(
            format!("a cut-off k or a threshold for `{rate_name}`"),
            "neither",
            format!("write `{rate_name}@10` for segments, or `{rate_name}[threshold=0.5]` for all rows"),
        ));
    }
    let of = if rate_name == "recall" { recall } else { precision };
    Rate::new(settings, of)?.or_undefined(settings)?.build(settings)
}

impl ScoreMetric for Rate {
    fn id(&self) -> MetricId {
        self.id.clone()
    }

    fn profile(&self) -> Profile {
        Profile::rows(Direction::Higher, self.range, Needs::new(ScoreNeed::Order, LabelRange::Binary))
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        if table.steps().next().is_none() {
            return (Outcome::Undefined(NO_ROWS.into()), 0.0);
        }
        let calls = calls(table, &[self.threshold]).into_iter().next().unwrap_or_default();
        let value = match ((self.of)(&calls.nearest), self.undefined) {
            (Ok(value), _) | (Err(_), Some(value)) => value,
            (Err(reason), None) => return (Outcome::Undefined(reason.into()), 0.0),
        };
        if calls.open.sum() == 0.0 {
            return (Outcome::Number(value), 0.0);
        }
        // Where an end is 0/0 the rate may still be anything next to it.
        let best = (self.of)(&calls.best).unwrap_or(self.range.1);
        let worst = (self.of)(&calls.worst).unwrap_or(self.range.0);
        (Outcome::Number(value), (best - value).max(value - worst).max(0.0))
    }
}
