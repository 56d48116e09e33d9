//! `log_loss`: mean negative log-likelihood of the label.
//!
//! **Definition** −Σ w·[y ln p + (1 − y) ln(1 − p)] / Σ w, where p is the probability. For logits it is computed from the
//! logit itself. For probabilities each logarithm's argument has the floor `clip`, so a row that is certain and right costs
//! exactly 0.
//! **Relevant** labels lie in [0, 1]; fractional ones count partly for each side.
//! **Ties** play no part.
//! **Weights** multiply the loss; rows of weight 0 are not there.
//! **Undefined** without rows.
//! **Clipped** rows in which the floor changed the loss are counted.
//! **Options** `unit`: `nats` (default) or `bits`, which divides the value by ln 2 (TorchRec reports bits). `clip` (default
//! 1e-12; 0 shows the infinity); logits need no floor, and have none. scikit-learn clips p to [ε, 1 − ε] with the ε of the
//! type, 2.2e-16 for float64 and 1.2e-7 for float32; torcheval stops each logarithm at −100.
//! **State** `sums`: Σ w·loss, Σ w·y, Σ w, shared with `normalized_entropy` and `rig` of the same `clip`.
//! **Oracle** scikit-learn `log_loss`; equal where nothing is clipped.

use fuseval_core::{
    Cutoff, Direction, Entry, ExactSum, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed, Tally,
    View,
};

use crate::cross_entropy::{CLIP, CrossEntropy, SKLEARN_CLIP};
use crate::over_rows::{OverRows, RowMetric, mean};
use crate::segments::options::name;

const UNITS: &[(&str, Unit)] = &[("nats", Unit::Nats), ("bits", Unit::Bits)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "log_loss",
    summary: "mean negative log-likelihood of the label",
    file: include_str!("log_loss.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "unit", values: &["nats", "bits"], default: "nats" }, CLIP],
    presets: &[SKLEARN_CLIP],
    build: |settings| {
        let formula = LogLoss { unit: settings.choice("unit", UNITS)?, loss: CrossEntropy::read(settings)? };
        Ok(Box::new(OverRows(formula)))
    },
};

const PROFILE: Profile =
    Profile::rows(Direction::Lower, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Probability, LabelRange::Unit));

/// What the loss is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Natural logarithms.
    Nats,
    /// Logarithms of base 2.
    Bits,
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct LogLoss {
    unit: Unit,
    loss: CrossEntropy,
}

impl RowMetric<2> for LogLoss {
    fn id(&self) -> MetricId {
        self.loss.printed(MetricId::new(ENTRY.name).with("unit", name(UNITS, self.unit), "nats"))
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

    fn outcome(&self, sums: &[ExactSum; 2], weight: &ExactSum) -> Outcome {
        mean(sums, weight).map(|nats| if self.unit == Unit::Bits { nats / std::f64::consts::LN_2 } else { nats })
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::{ScoreKind, View};

    #[test]
    fn certain_and_wrong_costs_what_the_floor_says() {
        // Case 047 of the hard cases.
        let view = rows(&[0.0, 0.0, 1.0], &[0.25, 1.0, 0.75]);
        has_values(
            &view,
            &[
                ("log_loss", Ok(9.402_128_420_277_37)),
                ("log_loss[unit=bits]", Ok(9.402_128_420_277_37 / std::f64::consts::LN_2)),
                ("log_loss[clip=1e-15]", Ok(11.704_713_513_271_416)),
                ("log_loss[clip=1.1920928955078125e-07]", Ok(5.505_916_432_594_101)),
                ("log_loss[clip=0]", Ok(f64::INFINITY)),
            ],
        );
        assert_eq!(value("log_loss", None, &view).tally.clipped, 1);
        assert_eq!(value("log_loss[clip=0]", None, &view).tally.clipped, 0);
        let sklearn = value("log_loss", Some("sklearn"), &view).outcome.number().unwrap();
        assert!((sklearn - (-libm::log(f64::EPSILON) - 2.0 * libm::log(0.75)) / 3.0).abs() < 1e-14);
    }

    #[test]
    fn large_logits() {
        // Case 046 of the hard cases.
        let view = rows(&[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0], &[41.5, 40.25, 39.0, 38.75, 42.125, 38.5, 40.25]);
        has_values(&View { kind: ScoreKind::Logit, ..view }, &[("log_loss", Ok(16.821_428_571_428_573))]);
    }

    #[test]
    fn names_print_the_floor_as_it_is_written() {
        for name in ["log_loss[clip=0]", "log_loss[unit=bits,clip=1e-15]", "log_loss[clip=2.220446049250313e-16]"] {
            let id = fuseval_core::MetricId::parse(name).unwrap();
            let metric = crate::metric(&id, &fuseval_core::Defaults::default()).unwrap();
            assert_eq!(metric.id().to_string(), name);
        }
    }
}
