//! The catalogue: one metric per file, one list, and the few kinds of state that the metrics run on.
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod calibration;
pub mod log_loss;
pub mod mae;
pub mod precision;
pub mod rmse;
pub mod roc_auc;
pub mod states;

mod roc_auc_thresholds;

use fuseval_core::{AnyMetric, Entry, MetricId, Result};

/// The catalogue, in the order of the field: pointwise, probabilistic, AUC, segment ranking.
pub const ALL: &[Entry] =
    &[mae::ENTRY, rmse::ENTRY, log_loss::ENTRY, calibration::ENTRY, roc_auc::ENTRY, precision::ENTRY];

/// Makes the metric that a name asks for; an unknown name, option or value is an error that suggests the nearest.
///
/// ```
/// let metric = fuseval_metrics::metric(&fuseval_core::MetricId::parse("precision@10[denominator=k]")?)?;
/// assert_eq!(metric.id().to_string(), "precision@10");
/// # Ok::<(), fuseval_core::Error>(())
/// ```
pub fn metric(id: &MetricId) -> Result<Box<dyn AnyMetric>> {
    fuseval_core::registry::metric(ALL, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_are_left_out_when_printed() {
        for (place, entry) in ALL.iter().enumerate() {
            assert!(ALL.iter().skip(place + 1).all(|other| other.name != entry.name), "{} twice", entry.name);
            let name = if entry.cutoff { format!("{}@3", entry.name) } else { entry.name.to_string() };
            assert_eq!(metric(&MetricId::parse(&name).unwrap()).unwrap().id().to_string(), name);
            for option in entry.options.iter().filter(|option| !option.values.is_empty()) {
                for value in option.values {
                    let written = format!("{name}[{}={value}]", option.name);
                    let printed = metric(&MetricId::parse(&written).unwrap()).unwrap().id().to_string();
                    assert_eq!(printed, if *value == option.default { name.clone() } else { written });
                }
            }
        }
    }

    #[test]
    fn what_is_unknown_is_refused_with_the_nearest() {
        for (name, message) in [
            ("roc_acu", "expected a metric of the catalogue, found `roc_acu`; did you mean `roc_auc`?"),
            (
                "precision@5[tie=stable]",
                "metric `precision@5[tie=stable]`: expected an option of `precision`, found `tie`; did you mean `ties`?",
            ),
            (
                "precision@5[ties=optimist]",
                "metric `precision@5[ties=optimist]`: expected a value of `ties`, found `optimist`; did you mean `optimistic`?",
            ),
            (
                "precision",
                "metric `precision`: expected a cut-off k for `precision`, found none; write for example `precision@10`",
            ),
            (
                "precision@0",
                "metric `precision@0`: expected a cut-off k that is a whole number from 1 on, found k = 0; write for example `precision@10`",
            ),
            ("mae@3", "metric `mae@3`: expected no cut-off k for `mae`, found k = 3; write `mae`"),
            (
                "log_loss[clip=x]",
                "metric `log_loss[clip=x]`: expected a number for `clip`, found `x`; write for example `clip=1e-12`",
            ),
        ] {
            let error = metric(&MetricId::parse(name).unwrap()).err().unwrap();
            assert_eq!(error.to_string(), message);
        }
    }
}
