//! The best threshold among the observed ones that reaches a recall or a precision.

use fuseval_core::registry::Settings;
use fuseval_core::{
    AnyMetric, Direction, Error, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, Result, ScoreNeed,
};

use super::descent::{Descent, Weights, descent, totals};
use super::{OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The default of an option that must be given.
pub(crate) const REQUIRED: &str = "required";
/// The least recall.
pub(crate) const RECALL: OptionEntry = OptionEntry { name: "recall", values: &[], default: REQUIRED };
/// The least precision.
pub(crate) const PRECISION: OptionEntry = OptionEntry { name: "precision", values: &[], default: REQUIRED };

/// What is told of the best threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Its precision, the greatest at a recall.
    Precision,
    /// Its recall, the greatest at a precision.
    Recall,
    /// Itself, where the precision is greatest at a recall.
    Threshold,
}

/// The metric.
#[derive(Debug, Clone)]
pub(crate) struct OperatingPoint {
    name: &'static str,
    told: Told,
    least: f64,
}

impl OperatingPoint {
    /// From the options of the entry.
    pub(crate) fn build(name: &'static str, told: Told, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
        let option = told.option();
        let example = format!("write for example `{name}[{option}=0.9]`");
        if settings.get(option).is_none() {
            return Err(Error::usage(format!("`{option}` for `{name}`"), "none", example));
        }
        let least = settings.number(option, 0.9)?;
        if !(0.0..=1.0).contains(&least) {
            return Err(Error::usage(format!("`{option}` from 0 to 1"), least.to_string(), example));
        }
        Ok(Box::new(OnScores::new(Self { name, told, least }, settings)?))
    }

    /// Of a threshold: what must reach the least, and what is made as great as can be.
    fn rates(&self, of: Weights, all: Weights) -> (f64, f64) {
        let (precision, recall) = (of.precision(), of.positive / all.positive);
        if self.told == Told::Recall { (precision, recall) } else { (recall, precision) }
    }

    /// The greatest rates that a threshold inside a bin can have: all of its positives above, all of its negatives below.
    fn most(&self, step: &Descent, all: Weights) -> (f64, f64) {
        self.rates(Weights { negative: step.above.negative, ..step.down_to }, all)
    }
}

impl Told {
    fn option(self) -> &'static str {
        if self == Self::Recall { PRECISION.name } else { RECALL.name }
    }
}

impl ScoreMetric for OperatingPoint {
    fn id(&self) -> MetricId {
        MetricId::new(self.name).with(self.told.option(), self.least, REQUIRED)
    }

    fn profile(&self) -> Profile {
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Binary);
        match self.told {
            Told::Threshold => Profile::rows(Direction::Neither, (f64::NEG_INFINITY, f64::INFINITY), needs),
            Told::Precision | Told::Recall => Profile::rows(Direction::Higher, (0.0, 1.0), needs),
        }
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        if let Some(reason) = all.lacks_positives() {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let mut best: Option<(f64, Descent)> = None;
        let mut most = 0.0f64;
        for step in descent(table) {
            let (reached, rate) = self.rates(step.down_to, all);
            // The first of equal ones has the highest threshold.
            if reached >= self.least && best.is_none_or(|(other, _)| rate > other) {
                best = Some((rate, step));
            }
            let (reached, rate) = self.most(&step, all);
            if reached >= self.least {
                most = most.max(rate);
            }
        }
        let Some((rate, at)) = best else {
            return (Outcome::Undefined(format!("no threshold has this {}", self.told.option()).into()), 0.0);
        };
        if self.told != Told::Threshold {
            return (Outcome::Number(rate), if table.exact { 0.0 } else { (most - rate).max(0.0) });
        }
        let threshold = table.prediction(at.step.low);
        let mut bound = 0.0f64;
        if !table.exact {
            let could_be_best = |step: &Descent| {
                let (reached, most) = self.most(step, all);
                reached >= self.least && most >= rate
            };
            for step in descent(table).filter(could_be_best) {
                let distance = |score: f64| (table.prediction(score) - threshold).abs();
                bound = bound.max(distance(step.step.low)).max(distance(step.step.high));
            }
        }
        (Outcome::Number(threshold), bound)
    }
}
