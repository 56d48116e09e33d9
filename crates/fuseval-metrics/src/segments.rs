//! Metrics over segments: the mean, over the segments of a view, of a number that each ranked segment has. What they share
//! stands here: options, rules for segments without a value, weights, counts; a metric adds its formula.

mod batch;
pub(crate) mod draws;
pub(crate) mod gain;
pub(crate) mod options;
mod order;
pub(crate) mod overlap;
pub(crate) mod pairs;
mod segment;

use fuseval_core::{LabelSide, Metric, MetricId, Profile, Result, Tally, Value, View};

pub(crate) use options::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, NO_POSITIVE_ZERO, REL_THRESHOLD, Rule, SINGLE_CLASS, SegmentOptions, TIES,
    TREC_EVAL,
};
pub(crate) use segment::Segment;

use crate::states::sums::Sums;
use batch::Batch;

/// The formula of a metric over segments.
pub(crate) trait SegmentMetric: Send + Sync + 'static {
    /// The name with its own options; the shared ones are added.
    fn id(&self) -> MetricId;

    /// What the metric is.
    fn profile(&self) -> Profile;

    /// The number of a segment that depends on labels alone: [`Segment::label_side`]. The default is the number of relevant
    /// rows. Where it is 0 the segment has no value.
    fn label_side(&self, options: &SegmentOptions) -> LabelSide {
        options.relevant_rows()
    }

    /// Refuses labels that the formula is not made for, beyond what the profile says.
    fn check(&self, _view: &View<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether the segment is left out as undefined, whatever the rule for segments without a value.
    fn leaves_out(&self, _segment: &Segment<'_>) -> bool {
        false
    }

    /// Why there is no value although there are segments.
    fn why_undefined(&self) -> &'static str {
        "no segment with a relevant row"
    }

    /// The value of a segment; `None` where it has none. Rows of equal score come as blocks when ties are `expected`, and the
    /// value is then the mean over all orders of the rows within their blocks.
    fn value(&self, segment: &Segment<'_>) -> Option<f64>;
}

/// The label side of formulas for which every segment has a value, or which find out themselves.
pub(crate) fn always() -> LabelSide {
    LabelSide { name: "always".to_string(), of: Box::new(|_| 1.0) }
}

/// A metric over segments with the options that all of them share.
pub(crate) struct OverSegments<M> {
    formula: M,
    options: SegmentOptions,
    /// The function of labels, made once.
    side: LabelSide,
}

/// What a segment gives: its value, its weight, its counts.
struct Found {
    value: Option<f64>,
    weight: f64,
    short: bool,
    tied: bool,
}

impl<M: SegmentMetric> OverSegments<M> {
    pub(crate) fn new(formula: M, options: SegmentOptions) -> Self {
        let side = formula.label_side(&options);
        Self { formula, options, side }
    }

    /// Calls `f` with what each segment gives.
    fn each(&self, view: &View<'_>, mut f: impl FnMut(Found)) {
        let mut scratch = segment::Scratch::default();
        for (place, rows) in view.each_segment().enumerate() {
            let segment = Segment::new(view, place, &self.options, &self.side, &mut scratch);
            let value = if segment.label_side == 0.0 { None } else { self.formula.value(&segment) };
            let value = match (value, self.options.rule) {
                _ if self.formula.leaves_out(&segment) => None,
                (None, Rule::Value(substitute)) => Some(substitute),
                (value, _) => value,
            };
            let labels = view.labels.get(rows).unwrap_or_default();
            f(Found {
                value,
                weight: view.segment_weight(place) * self.options.average.factor(labels, &self.options),
                short: self.options.k.is_some_and(|k| segment.labels.len() < k),
                tied: segment.is_tied_across_k(),
            });
        }
    }
}

impl<M: SegmentMetric> Metric for OverSegments<M> {
    type State = Sums<1>;

    fn id(&self) -> MetricId {
        self.options.printed(self.formula.id())
    }

    fn profile(&self) -> Profile {
        self.options.profile(self.formula.profile())
    }

    fn label_side(&self) -> Option<LabelSide> {
        Some(self.formula.label_side(&self.options))
    }

    fn empty(&self) -> Sums<1> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<1>, view: &View<'_>) -> Result<()> {
        self.formula.check(view)?;
        let mut tally = Tally::default();
        let mut batch = Batch::default();
        let [values] = &mut state.sums;
        self.each(view, |found| {
            tally.short += u64::from(found.short);
            tally.tied += u64::from(found.tied);
            match found.value {
                None => tally.undefined += 1,
                // A segment that weighs nothing (no positive row where positives weigh) is used all the same.
                Some(value) => {
                    tally.n += 1;
                    batch.push(value, found.weight, values);
                }
            }
        });
        let weight = batch.finish(values);
        state.count(&tally, weight.as_ref());
        Ok(())
    }

    fn finish(&self, state: &Sums<1>) -> Value {
        let why = if state.tally().undefined > 0 { self.formula.why_undefined() } else { "no segments" };
        state.mean(why)
    }

    fn segment_values(&self, view: &View<'_>) -> Option<Vec<Option<f64>>> {
        let mut values = Vec::new();
        self.each(view, |found| values.push(found.value));
        Some(values)
    }
}

#[cfg(test)]
mod tests;
