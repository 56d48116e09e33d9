//! `normalized_entropy`: log loss over the entropy of the base rate; below 1 it beats predicting the base rate.
//!
//! **Definition** L / H: L is the log loss as in `log_loss`, H = −r ln r − (1 − r) ln(1 − r), and r = Σ w·y / Σ w the
//! weighted base rate of the same rows (He et al. 2014, Practical Lessons from Predicting Clicks on Ads at Facebook). The
//! unit of the logarithm cancels. In a slice r is that of the slice.
//! **Relevant** labels lie in [0, 1]; fractional ones count partly for each side.
//! **Ties** play no part.
//! **Weights** multiply the loss and the label; rows of weight 0 are not there.
//! **Undefined** when the base rate is 0 or 1, and H so 0. (TorchRec clamps the rate to 1e-12, torcheval to 2.2e-16.)
//! **Clipped** rows in which the floor changed the loss are counted.
//! **Options** `clip` as in `log_loss`; `base_rate`: a number between 0 and 1 to take for r, such as the rate of the
//! training data, with which values of different days and slices can be compared; then H is never 0.
//! **State** `sums`: Σ w·loss, Σ w·y, Σ w, shared with `log_loss` and `rig` of the same `clip`.
//! **Oracle** scikit-learn `log_loss` over SciPy `entropy`.

use fuseval_core::registry::Settings;
use fuseval_core::{
    Cutoff, Direction, Entry, Error, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, Result,
    ScoreNeed, Tally, View,
};

use crate::cross_entropy::{CLIP, CrossEntropy, SKLEARN_CLIP};
use crate::moments::difference;
use crate::over_rows::{OverRows, RowMetric};

/// The rate whose entropy the loss is divided by.
pub(crate) const BASE_RATE: OptionEntry = OptionEntry { name: "base_rate", values: &[], default: "of the data" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "normalized_entropy",
    summary: "log loss over the entropy of the base rate",
    file: include_str!("normalized_entropy.rs"),
    cutoff: Cutoff::None,
    options: &[CLIP, BASE_RATE],
    presets: &[SKLEARN_CLIP],
    build: |settings| Ok(Box::new(OverRows(NormalizedEntropy::read(settings)?))),
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Probability, LabelRange::Unit));

/// The formula.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormalizedEntropy {
    loss: CrossEntropy,
    base_rate: Option<f64>,
}

impl NormalizedEntropy {
    /// Reads the options.
    pub(crate) fn read(settings: &Settings<'_>) -> Result<Self> {
        let base_rate = settings.optional_number("base_rate")?;
        if let Some(rate) = base_rate.filter(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            return Err(Error::usage(
                "`base_rate` between 0 and 1",
                rate.to_string(),
                "leave it out for the base rate of the data",
            ));
        }
        Ok(Self { loss: CrossEntropy::read(settings)?, base_rate })
    }

    /// The name with the options.
    pub(crate) fn printed(&self, id: MetricId) -> MetricId {
        let id = self.loss.printed(id);
        match self.base_rate {
            Some(rate) => id.with("base_rate", rate, ""),
            None => id,
        }
    }

    /// The weight times the entropy of the base rate; 0 only where there is one class.
    fn entropy(&self, labels: &ExactSum, weights: &ExactSum) -> f64 {
        let weight = weights.value();
        let (positive, negative) = match self.base_rate {
            Some(rate) => (weight * rate, weight * (1.0 - rate)),
            None => (labels.value(), difference(weights, labels).value()),
        };
        let (less, more) = if positive < negative { (positive, negative) } else { (negative, positive) };
        if less <= 0.0 {
            return 0.0;
        }
        // The share of the larger class may round to 1, that of the smaller does not round to 0.
        -(less * libm::log(less / weight) + more * libm::log1p(-(less / weight)))
    }
}

impl RowMetric<2> for NormalizedEntropy {
    fn id(&self) -> MetricId {
        self.printed(MetricId::new(ENTRY.name))
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    fn sums_name(&self) -> String {
        self.loss.sums_name()
    }

    fn add(&self, sums: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
        self.loss.add(sums, view)
    }

    fn outcome(&self, [losses, labels]: &[ExactSum; 2], weights: &ExactSum) -> Outcome {
        Outcome::ratio(losses.value(), self.entropy(labels, weights), "labels are constant")
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::View;

    #[test]
    fn the_base_rate_predicted_everywhere_gives_1() {
        let view = View { weights: Some(&[3.0, 1.0, 4.0]), ..rows(&[1.0, 0.0, 0.0], &[0.375; 3]) };
        has_values(&view, &[("normalized_entropy", Ok(1.0)), ("normalized_entropy[base_rate=0.375]", Ok(1.0))]);
        assert!(value("rig", None, &view).outcome.number().unwrap().abs() <= 2.0 * f64::EPSILON);
        let entropy = |rate: f64| -(rate * rate.ln() + (1.0 - rate) * (1.0 - rate).ln());
        let other = entropy(0.375) / entropy(0.1);
        has_values(&view, &[("normalized_entropy[base_rate=0.1]", Ok(other)), ("rig[base_rate=0.1]", Ok(1.0 - other))]);
    }

    #[test]
    fn one_class_has_no_entropy() {
        for labels in [[0.0, 0.0], [1.0, 1.0]] {
            let view = rows(&labels, &[0.25, 0.25]);
            has_values(
                &view,
                &[("normalized_entropy", Err("labels are constant")), ("rig", Err("labels are constant"))],
            );
            assert!(value("rig[base_rate=0.5]", None, &view).outcome.number().is_some());
        }
        for rate in ["0", "1", "-1"] {
            let id = fuseval_core::MetricId::parse(&format!("rig[base_rate={rate}]")).unwrap();
            assert!(crate::metric(&id, &fuseval_core::Defaults::default()).is_err(), "{rate}");
        }
    }

    #[test]
    fn a_rate_near_0_or_1_keeps_its_digits() {
        // One row in 2^53 differs: its share of the weight is lost beside 1.
        for label in [0.0, 1.0] {
            let share = libm::exp2(-53.0);
            let labels = [label, 1.0 - label];
            let view = View { weights: Some(&[1.0, share]), ..rows(&labels, &[0.5, 0.5]) };
            let entropy = share * (53.0 * std::f64::consts::LN_2 + 1.0);
            has_values(&view, &[("normalized_entropy", Ok(std::f64::consts::LN_2 / entropy))]);
        }
    }
}
