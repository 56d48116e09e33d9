//! Metrics of the distribution of scores in both classes.

mod areas;
mod bins;
mod thresholds;

use super::{each, parts};
use crate::generate::Table;

/// The names with the options that change the formula.
pub const METRICS: &[&str] = &[
    "roc_auc",
    "roc_auc[thresholds=10]",
    "roc_auc[thresholds=1000]",
    "roc_auc[thresholds=[0,0.25,0.5,0.75,1]]",
    "partial_auc",
    "partial_auc[max_fpr=0.37,standardise=none]",
    "partial_auc[max_fpr=1]",
    "pr_auc",
    "pr_auc[no_positive=zero]",
    "pr_auc[curve=trapezoid]",
    "pr_auc[curve=trapezoid,anchor=first]",
    "pr_auc[curve=interpolated]",
    "precision[threshold=0.5]",
    "precision[threshold=0.75,undefined=one]",
    "recall[threshold=0.5]",
    "recall[threshold=0.25,undefined=zero]",
    "f_beta",
    "f_beta[threshold=0.3,beta=2,undefined=zero]",
    "f_beta[beta=0]",
    "specificity",
    "specificity[threshold=0.75,undefined=one]",
    "npv",
    "npv[threshold=0.1,undefined=zero]",
    "accuracy",
    "accuracy[threshold=0.25]",
    "balanced_accuracy",
    "balanced_accuracy[undefined=skip]",
    "balanced_accuracy[undefined=zero]",
    "mcc",
    "mcc[threshold=0.7,undefined=zero]",
    "kappa",
    "kappa[threshold=0.25,undefined=one]",
    "jaccard",
    "jaccard[threshold=0.9,undefined=zero]",
    "precision_at_recall[recall=0.8]",
    "recall_at_precision[precision=0.6]",
    "threshold_at_recall[recall=0.5]",
    "ks",
    "capture",
    "capture[q=37.5]",
    "lift",
    "lift[q=100]",
    "gain",
    "gain[q=1]",
    "ece",
    "ece[bins=3]",
    "ece[strategy=uniform]",
    "ece[bins=100,strategy=uniform]",
    "mce",
    "mce[bins=4]",
    "mce[strategy=uniform]",
    "score_shift[measure=psi]",
    "score_shift[measure=ks]",
];

/// The value of one of [`METRICS`].
///
/// # Panics
/// On another name.
pub fn value(name: &str, table: &Table) -> Option<f64> {
    let (base, _, options) = parts(name);
    match base {
        "roc_auc" if options.is_empty() => auc(table),
        "roc_auc" => auc_at(table, &grid(options)),
        "partial_auc" => areas::partial_auc(table, number(options, "max_fpr", 0.1), !options.contains("none")),
        "pr_auc" if table.rows() > 0 && options.contains("zero") => Some(areas::pr_auc(table, options).unwrap_or(0.0)),
        "pr_auc" => areas::pr_auc(table, options),
        "ks" => thresholds::ks(table),
        "capture" | "lift" | "gain" => thresholds::top(table, base, number(options, "q", 10.0)),
        "precision_at_recall" | "recall_at_precision" | "threshold_at_recall" => {
            thresholds::best(table, base, options.split('=').nth(1).expect("a value").parse().expect("a number"))
        }
        "ece" | "mce" => bins::calibration_error(table, base, options),
        "score_shift" => bins::score_shift(table, options),
        _ => thresholds::rate(table, base, options),
    }
}

/// The number of an option.
fn number(options: &str, option: &str, default: f64) -> f64 {
    let value = options.split(',').find_map(|written| written.strip_prefix(option)?.strip_prefix('='));
    value.map_or(default, |value| value.parse().expect("a number"))
}

/// The weight of the rows of a class with a score in a range.
fn weight(table: &Table, class: f64, has: impl Fn(f64) -> bool) -> f64 {
    each(table).filter(|row| row.0 == class && has(row.1)).map(|row| row.2).sum()
}

/// The distinct scores in descending order.
fn distinct(table: &Table) -> Vec<f64> {
    let mut scores = table.scores.clone();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.dedup();
    scores
}

/// All pairs, one by one.
fn auc(table: &Table) -> Option<f64> {
    let (mut right, mut pairs) = (0.0, 0.0);
    for (_, positive, w) in each(table).filter(|row| row.0 == 1.0) {
        for (_, negative, v) in each(table).filter(|row| row.0 == 0.0) {
            pairs += w * v;
            right += w
                * v
                * if positive > negative {
                    1.0
                } else if positive == negative {
                    0.5
                } else {
                    0.0
                };
        }
    }
    (pairs > 0.0).then(|| right / pairs)
}

fn grid(options: &str) -> Vec<f64> {
    let value = options.strip_prefix("thresholds=").expect("thresholds");
    match value.strip_prefix('[') {
        Some(list) => list.trim_end_matches(']').split(',').map(|t| t.parse().expect("a threshold")).collect(),
        None => {
            let steps: u32 = value.parse().expect("steps");
            (0..=steps).map(|i| f64::from(i) / f64::from(steps)).collect()
        }
    }
}

/// A confusion matrix per threshold, one by one, and the trapezoid through the rates.
fn auc_at(table: &Table, thresholds: &[f64]) -> Option<f64> {
    let total = |class: f64| each(table).filter(|row| row.0 == class).map(|row| row.2).sum::<f64>();
    let (positives, negatives) = (total(1.0), total(0.0));
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let mut points = vec![(1.0, 1.0)];
    for threshold in thresholds {
        let above =
            |class: f64| each(table).filter(|row| row.0 == class && row.1 >= *threshold).map(|row| row.2).sum::<f64>();
        points.push((above(0.0) / negatives, above(1.0) / positives));
    }
    points.push((0.0, 0.0));
    Some(points.windows(2).map(|p| (p[0].0 - p[1].0) * (p[0].1 + p[1].1) / 2.0).sum())
}
