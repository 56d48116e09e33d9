//! The positives among the rows of the highest scores, up to a share of the weight: what `capture`, `lift` and `gain` are made
//! of.

use fuseval_core::registry::Settings;
use fuseval_core::{
    AnyMetric, Direction, Error, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, Result, ScoreNeed,
};

use super::descent::{descent, totals};
use super::{OnScores, ScoreMetric};
use crate::states::scores::ScoreTable;

/// The share of the weight, in percent.
pub(crate) const Q: OptionEntry = OptionEntry { name: "q", values: &[], default: "10" };
const DEFAULT_Q: f64 = 10.0;

/// What the positives at the top are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// All positives.
    Capture,
    /// The positives that as many rows at random would hold.
    Lift,
    /// The rows at the top.
    Gain,
}

/// The metric.
#[derive(Debug, Clone)]
pub(crate) struct Top {
    name: &'static str,
    measure: Measure,
    q: f64,
}

impl Top {
    /// From the options of the entry.
    pub(crate) fn build(name: &'static str, measure: Measure, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
        let q = settings.number("q", DEFAULT_Q)?;
        if !(q > 0.0 && q <= 100.0) {
            return Err(Error::usage("`q` above 0 and up to 100, in percent", q.to_string(), "leave it out for 10"));
        }
        Ok(Box::new(OnScores::new(Self { name, measure, q }, settings)?))
    }
}

impl ScoreMetric for Top {
    fn id(&self) -> MetricId {
        MetricId::new(self.name).with("q", self.q, DEFAULT_Q)
    }

    fn profile(&self) -> Profile {
        let most = if self.measure == Measure::Lift { 100.0 / self.q } else { 1.0 };
        Profile::rows(Direction::Higher, (0.0, most), Needs::new(ScoreNeed::Order, LabelRange::Binary))
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        // Rows alone are enough for the response rate.
        let reason = all.lacks_positives().filter(|_| self.measure != Measure::Gain || all.sum() == 0.0);
        if let Some(reason) = reason {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let top = all.sum() * self.q / 100.0;
        let whole = match self.measure {
            Measure::Capture => all.positive,
            Measure::Lift => all.positive * (self.q / 100.0),
            Measure::Gain => top,
        };
        let Some(last) = descent(table).find(|step| step.down_to.sum() >= top) else {
            // The rounded sums fall short of the rounded share only at its very end.
            return (Outcome::Number(all.positive / whole), 0.0);
        };
        let part = top - last.above.sum();
        let pro_rata = last.own.positive * (part / last.own.sum()).min(1.0);
        let value = (last.above.positive + pro_rata) / whole;
        if table.exact {
            return (Outcome::Number(value), 0.0);
        }
        let (least, most) = ((part - last.own.negative).max(0.0), last.own.positive.min(part));
        (Outcome::Number(value), (most - pro_rata).max(pro_rata - least).max(0.0) / whole)
    }
}
