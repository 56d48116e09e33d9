//! The catalogue: one metric per file, one list, and the few kinds of state that the metrics run on.
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod accuracy;
pub mod balanced_accuracy;
pub mod bias;
pub mod brier;
pub mod calibration;
pub mod capped_recall;
pub mod capture;
pub mod confusion_matrix;
pub mod count;
pub mod dcg;
pub mod ece;
pub mod err;
pub mod f1;
pub mod f_beta;
pub mod flip_rate;
pub mod gain;
pub mod gauc;
pub mod hit_rate;
pub mod jaccard;
pub mod kappa;
pub mod ks;
pub mod lift;
pub mod log_loss;
pub mod mae;
pub mod map;
pub mod mape;
pub mod mcc;
pub mod mce;
pub mod mean_label;
pub mod mean_prediction;
pub mod mean_rank;
pub mod mrr;
pub mod mse;
pub mod ndcg;
pub mod normalized_entropy;
pub mod npv;
pub mod pair_accuracy;
pub mod partial_auc;
pub mod pearson;
pub mod pr_auc;
pub mod pr_curve;
pub mod precision;
pub mod precision_at_recall;
pub mod r2;
pub mod r_precision;
pub mod rank_biased_overlap;
pub mod rbp;
pub mod recall;
pub mod recall_at_precision;
pub mod reliability_curve;
pub mod rig;
pub mod rmse;
pub mod roc_auc;
pub mod roc_curve;
pub mod score_shift;
pub mod specificity;
pub mod states;
pub mod sum_ratio;
pub mod threshold_at_recall;
pub mod top_k_overlap;
pub mod uauc;
pub mod wmape;

mod blocks;
mod cross_entropy;
mod moments;
mod on_scores;
mod over_rows;
mod roc_auc_thresholds;
mod score_distance;
mod segments;
mod totals;

use fuseval_core::{AnyMetric, Defaults, Entry, MetricId, Result};

/// The catalogue, in the order of the field.
pub const ALL: &[Entry] = &[
    // What is there.
    count::ENTRY,
    mean_label::ENTRY,
    mean_prediction::ENTRY,
    // Pointwise.
    mae::ENTRY,
    mse::ENTRY,
    rmse::ENTRY,
    r2::ENTRY,
    bias::ENTRY,
    sum_ratio::ENTRY,
    mape::ENTRY,
    wmape::ENTRY,
    pearson::ENTRY,
    // Probabilistic.
    log_loss::ENTRY,
    normalized_entropy::ENTRY,
    rig::ENTRY,
    brier::ENTRY,
    calibration::ENTRY,
    ece::ENTRY,
    mce::ENTRY,
    reliability_curve::ENTRY,
    // At thresholds.
    confusion_matrix::ENTRY,
    f_beta::ENTRY,
    specificity::ENTRY,
    npv::ENTRY,
    accuracy::ENTRY,
    balanced_accuracy::ENTRY,
    mcc::ENTRY,
    kappa::ENTRY,
    jaccard::ENTRY,
    roc_curve::ENTRY,
    pr_curve::ENTRY,
    precision_at_recall::ENTRY,
    recall_at_precision::ENTRY,
    threshold_at_recall::ENTRY,
    ks::ENTRY,
    lift::ENTRY,
    gain::ENTRY,
    capture::ENTRY,
    // Areas under curves.
    roc_auc::ENTRY,
    partial_auc::ENTRY,
    pr_auc::ENTRY,
    // Ranking within segments.
    precision::ENTRY,
    recall::ENTRY,
    capped_recall::ENTRY,
    f1::ENTRY,
    hit_rate::ENTRY,
    r_precision::ENTRY,
    mrr::ENTRY,
    map::ENTRY,
    ndcg::ENTRY,
    dcg::ENTRY,
    err::ENTRY,
    rbp::ENTRY,
    mean_rank::ENTRY,
    gauc::ENTRY,
    uauc::ENTRY,
    pair_accuracy::ENTRY,
    // Against the baseline.
    flip_rate::ENTRY,
    score_shift::ENTRY,
    top_k_overlap::ENTRY,
    rank_biased_overlap::ENTRY,
];

/// Makes the metric that a name asks for; an unknown name, option or value is an error that suggests the nearest.
///
/// ```
/// let id = fuseval_core::MetricId::parse("precision@10[denominator=k]")?;
/// let metric = fuseval_metrics::metric(&id, &fuseval_core::Defaults::default())?;
/// assert_eq!(metric.id().to_string(), "precision@10");
/// # Ok::<(), fuseval_core::Error>(())
/// ```
pub fn metric(id: &MetricId, defaults: &Defaults) -> Result<Box<dyn AnyMetric>> {
    fuseval_core::registry::metric(ALL, id, defaults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Box<dyn AnyMetric>> {
        metric(&MetricId::parse(name)?, &Defaults::default())
    }

    #[test]
    fn names_are_unique_and_defaults_are_left_out_when_printed() {
        for (place, entry) in ALL.iter().enumerate() {
            assert!(ALL.iter().skip(place + 1).all(|other| other.name != entry.name), "{} twice", entry.name);
            let forms = forms(entry);
            for option in entry.options.iter().filter(|option| !option.values.is_empty()) {
                for value in option.values {
                    let written = |form: &str| match form.strip_suffix(']') {
                        Some(form) => format!("{form},{}={value}]", option.name),
                        None => format!("{form}[{}={value}]", option.name),
                    };
                    let form = forms.iter().find(|form| named(&written(form)).is_ok());
                    let form = form.unwrap_or_else(|| panic!("{} takes no {}={value}", entry.name, option.name));
                    let printed = named(&written(form)).unwrap().id().to_string();
                    assert_eq!(printed, if *value == option.default { form.clone() } else { written(form) });
                }
            }
        }
    }

    /// The shortest names of a metric; they print as they are.
    fn forms(entry: &Entry) -> Vec<String> {
        let name = entry.name;
        let forms = [
            name.to_string(),
            format!("{name}@3"),
            format!("{name}[threshold=0.25]"),
            format!("{name}@3[max_grade=4]"),
            format!("{name}[recall=0.9]"),
            format!("{name}[precision=0.9]"),
        ];
        let forms: Vec<String> = forms.into_iter().filter(|form| named(form).is_ok()).collect();
        assert!(!forms.is_empty(), "{name}");
        forms.iter().for_each(|form| assert_eq!(named(form).unwrap().id().to_string(), *form));
        forms
    }

    #[test]
    fn what_is_unknown_is_refused_with_the_nearest() {
        for (name, message) in [
            ("roc_acu", "expected a metric of the catalogue, found `roc_acu`; did you mean `roc_auc`?"),
            ("AUC", "expected a metric of the catalogue, found `AUC`; did you mean `roc_auc`?"),
            ("hits", "expected a metric of the catalogue, found `hits`; did you mean `hit_rate@k`?"),
            ("P@10", "expected a metric of the catalogue, found `P`; did you mean `precision@10`?"),
            (
                "f1",
                "metric `f1`: expected a cut-off k for `f1`, found none; write for example `f1@10`, or `f_beta[threshold=0.5]` for all rows",
            ),
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
                "metric `precision`: expected a cut-off k or a threshold for `precision`, found neither; write `precision@10` for segments, or `precision[threshold=0.5]` for all rows",
            ),
            (
                "precision@10[threshold=0.5]",
                "metric `precision@10[threshold=0.5]`: expected an option of `precision@k`, found `threshold`; leave it out, or write `precision[threshold=…]`",
            ),
            (
                "recall[threshold=0.5,ties=stable]",
                "metric `recall[threshold=0.5,ties=stable]`: expected an option of `recall[threshold=…]`, found `ties`; leave it out, or write `recall@k`",
            ),
            (
                "err@10",
                "metric `err@10`: expected the highest grade that there can be, from 1 to 900, found no `max_grade`; write for example `err@10[max_grade=4]`",
            ),
            (
                "ndcg@5[gain=[1,2]]",
                "metric `ndcg@5[gain=[1,2]]`: expected the gains of grades 0, 1, 2, … in `gain`: numbers from 0 on, the first of them 0, found `[1,2]`; write for example `gain=[0,1,3,7]`",
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
            let error = named(name).err().unwrap();
            assert_eq!(error.to_string(), message);
        }
        let far = named("zzzz").err().unwrap().to_string();
        assert!(far.ends_with(" and others; `fuseval metrics` lists them"), "{far}");
    }

    #[test]
    fn a_name_from_elsewhere_leads_to_a_metric() {
        for (_, ours) in fuseval_core::registry::OTHER_NAMES {
            assert!(named(&ours.replace("@k", "@5")).is_ok(), "{ours}");
        }
    }
}
