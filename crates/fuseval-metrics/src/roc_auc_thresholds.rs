//! `roc_auc[thresholds=…]`: the area under the ROC curve from summed confusion matrices at fixed thresholds. Each row costs
//! one look-up of its bin, and the matrices are running sums over the bins, made once when the state is finished.

use fuseval_core::view::{ScoreKind, sigmoid};
use fuseval_core::{Error, Metric, MetricId, OptionValue, Profile, Result, Value, View};

use crate::roc_auc::{ENTRY, PROFILE};
use crate::states::area::Area;
use crate::states::thresholds::{MOST_BINS, Thresholds};

/// The metric.
#[derive(Debug, Clone)]
pub(crate) struct RocAucThresholds {
    thresholds: Vec<f64>,
    /// The number of equal steps, unless the thresholds were listed.
    steps: Option<u32>,
}

impl RocAucThresholds {
    /// From a count of equal steps or a list; a list is sorted and freed of repeats.
    pub(crate) fn new(value: &OptionValue) -> Result<Self> {
        let wrong = |found: String| {
            Error::usage(
                format!("a count of equal steps from 1 to {}, or a list of numbers", MOST_BINS - 2),
                found,
                "write for example `thresholds=100` or `thresholds=[0,0.25,0.5,0.75,1]`",
            )
        };
        match value {
            OptionValue::One(text) => {
                let steps: u32 = text.parse().map_err(|_| wrong(format!("`{text}`")))?;
                if steps == 0 || steps > MOST_BINS - 2 {
                    return Err(wrong(text.clone()));
                }
                let thresholds = (0..=steps).map(|i| f64::from(i) / f64::from(steps)).collect();
                Ok(Self { thresholds, steps: Some(steps) })
            }
            OptionValue::List(texts) => {
                let mut thresholds = Vec::new();
                for text in texts {
                    let number: f64 = text.parse().map_err(|_| wrong(format!("`{text}`")))?;
                    if number.is_nan() {
                        return Err(wrong("NaN".to_string()));
                    }
                    thresholds.push(number + 0.0);
                }
                thresholds.sort_by(f64::total_cmp);
                thresholds.dedup();
                if thresholds.is_empty() || thresholds.len() >= MOST_BINS as usize {
                    return Err(wrong(format!("{} thresholds", thresholds.len())));
                }
                Ok(Self { thresholds, steps: None })
            }
        }
    }

    /// The thresholds in ascending order.
    pub(crate) fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// The thresholds as an option.
    pub(crate) fn option(&self) -> OptionValue {
        match self.steps {
            Some(steps) => OptionValue::One(steps.to_string()),
            None => OptionValue::List(self.thresholds.iter().map(f64::to_string).collect()),
        }
    }

    /// How many thresholds are at or below the score. With equal steps the place is computed and then corrected by
    /// comparison, since score · N can round across a threshold i / N.
    fn bin(&self, score: f64) -> u32 {
        let Some(steps) = self.steps else {
            return self.thresholds.partition_point(|threshold| *threshold <= score) as u32;
        };
        if score < 0.0 {
            return 0;
        }
        if score >= 1.0 {
            return steps + 1;
        }
        let at_or_below = |bin: u32| self.thresholds.get(bin as usize).is_some_and(|threshold| *threshold <= score);
        let mut bin = (score * f64::from(steps)) as u32;
        while bin > 0 && !at_or_below(bin) {
            bin -= 1;
        }
        while at_or_below(bin) {
            bin += 1;
        }
        bin
    }
}

impl Metric for RocAucThresholds {
    type State = Thresholds;

    fn id(&self) -> MetricId {
        MetricId { options: vec![("thresholds".to_string(), self.option())], ..MetricId::new(ENTRY.name) }
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn empty(&self) -> Thresholds {
        Thresholds::new(self.thresholds.len() as u32 + 1)
    }

    fn update(&self, state: &mut Thresholds, view: &View<'_>) -> Result<()> {
        for (label, score, weight) in view.each() {
            let score = if view.kind == ScoreKind::Logit { sigmoid(score) } else { score };
            state.add(self.bin(score), label > 0.0, weight);
        }
        state.tally.n += view.rows() as u64;
        Ok(())
    }

    fn finish(&self, state: &Thresholds) -> Value {
        let mut area = Area::new(state.largest_weight());
        if area.is_weighted() {
            state.bin_weights().for_each(|(negative, positive)| area.add_weights(negative, positive));
        } else {
            state.counts().for_each(|(negative, positive)| area.add_rows(negative, positive));
        }
        let (outcome, half) = area.finish();
        let mut weight = fuseval_core::ExactSum::new();
        state.bin_weights().for_each(|(negative, positive)| {
            weight.add(negative);
            weight.add(positive);
        });
        // Inside a bin the exact area gives anything from nothing to full credit, and the trapezoid gives half.
        Value { outcome, error_bound: half, weight: weight.value(), tally: state.tally, mode: "thresholds" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_computed_bin_is_the_counted_one() {
        for steps in ["1", "3", "10", "100", "1000", "977"] {
            let metric = RocAucThresholds::new(&OptionValue::One(steps.to_string())).unwrap();
            let counted = |score: f64| metric.thresholds.iter().filter(|threshold| **threshold <= score).count() as u32;
            let mut scores = vec![-0.1, -0.0, 0.0, 1.0, 1.1, f64::INFINITY, f64::NEG_INFINITY, 0.999_999_999_999_999_9];
            scores.extend(metric.thresholds.iter().flat_map(|t| [*t, t.next_down(), t.next_up()]));
            scores.extend((0..10_000).map(|i| f64::from(i) * 1.000_1e-4));
            scores.iter().for_each(|score| assert_eq!(metric.bin(*score), counted(*score), "{score} of {steps}"));
        }
    }

    #[test]
    fn thresholds_that_are_none_are_refused() {
        for value in ["0", "-1", "1.5", "ten", "2000000"] {
            assert!(RocAucThresholds::new(&OptionValue::One(value.to_string())).is_err(), "{value}");
        }
        for list in [vec![], vec!["a"], vec!["NaN"]] {
            assert!(RocAucThresholds::new(&OptionValue::List(list.into_iter().map(str::to_string).collect())).is_err());
        }
    }
}
