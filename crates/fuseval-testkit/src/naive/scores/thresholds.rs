//! Rates at thresholds, and what is best over all of them: every confusion matrix by a look at all rows.

use super::{distinct, each, number, weight};
use crate::generate::Table;

/// (tp, fp, tn, fn) at a threshold.
fn confusion(table: &Table, threshold: f64) -> [f64; 4] {
    let weight = |class: f64, called: bool| weight(table, class, |score| (score >= threshold) == called);
    [weight(1.0, true), weight(0.0, true), weight(0.0, false), weight(1.0, false)]
}

/// A ratio, unless it is 0/0.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// A rate by its name.
pub(super) fn rate(table: &Table, base: &str, options: &str) -> Option<f64> {
    let [tp, fp, tn, fn_] = confusion(table, number(options, "threshold", 0.5));
    let all = tp + fp + tn + fn_;
    if all == 0.0 {
        return None;
    }
    let (recall, specificity) = (ratio(tp, tp + fn_), ratio(tn, tn + fp));
    let value = match base {
        "precision" => ratio(tp, tp + fp),
        "recall" => recall,
        "f_beta" => {
            // By precision and recall, as it is defined, where both are there.
            let square = number(options, "beta", 1.0).powi(2);
            match (ratio(tp, tp + fp), recall) {
                (Some(p), Some(r)) if p + r > 0.0 => Some((1.0 + square) * p * r / (square * p + r)),
                _ => ratio(0.0, square * fn_ + fp),
            }
        }
        "specificity" => specificity,
        "npv" => ratio(tn, tn + fn_),
        "accuracy" => Some((tp + tn) / all),
        "balanced_accuracy" => match (recall, specificity) {
            (Some(a), Some(b)) => Some((a + b) / 2.0),
            (a, b) if options.contains("skip") => a.or(b),
            _ => None,
        },
        // By the covariance of calls and labels, each 0 or 1.
        "mcc" => {
            let (called, positive) = ((tp + fp) / all, (tp + fn_) / all);
            let call = |score: f64| f64::from(u8::from(score >= number(options, "threshold", 0.5)));
            let sum = |f: fn(f64, f64) -> f64| {
                each(table).map(|(y, s, w)| w * f(y - positive, call(s) - called)).sum::<f64>()
            };
            let defined = tp + fn_ > 0.0 && tn + fp > 0.0 && tp + fp > 0.0 && tn + fn_ > 0.0;
            let (covariance, a, b) = (sum(|y, c| y * c), sum(|y, _| y * y), sum(|_, c| c * c));
            defined.then(|| covariance / (a * b).sqrt())
        }
        "kappa" => {
            // 1 − the share of disagreement over that expected by chance.
            let chance = (tp + fp) * (tn + fp) + (tn + fn_) * (tp + fn_);
            ratio(all * (fp + fn_), chance).map(|share| 1.0 - share)
        }
        "jaccard" => ratio(tp, tp + fp + fn_),
        _ => panic!("no naive implementation of {base}"),
    };
    match options.split("undefined=").nth(1) {
        Some("zero") => Some(value.unwrap_or(0.0)),
        Some("one") => Some(value.unwrap_or(1.0)),
        _ => value,
    }
}

/// The best threshold that reaches a recall or a precision.
pub(super) fn best(table: &Table, base: &str, least: f64) -> Option<f64> {
    let mut best: Option<(f64, f64)> = None;
    for threshold in distinct(table) {
        let [tp, fp, _, fn_] = confusion(table, threshold);
        if tp + fn_ == 0.0 {
            return None;
        }
        let (precision, recall) = (tp / (tp + fp), tp / (tp + fn_));
        let (reached, rate) = if base == "recall_at_precision" { (precision, recall) } else { (recall, precision) };
        if reached >= least && best.is_none_or(|(other, _)| rate > other) {
            best = Some((rate, threshold));
        }
    }
    best.map(|(rate, threshold)| if base == "threshold_at_recall" { threshold } else { rate })
}

/// The largest distance of the rates.
pub(super) fn ks(table: &Table) -> Option<f64> {
    let rates = distinct(table).into_iter().map(|threshold| {
        let [tp, fp, tn, fn_] = confusion(table, threshold);
        (tp / (tp + fn_) - fp / (fp + tn)).abs()
    });
    rates.reduce(f64::max).filter(|_| weight(table, 0.0, |_| true) > 0.0 && weight(table, 1.0, |_| true) > 0.0)
}

/// Each row with the share of it that is among the top q percent.
pub(super) fn top(table: &Table, base: &str, q: f64) -> Option<f64> {
    let all = each(table).map(|row| row.2).sum::<f64>();
    let positives = weight(table, 1.0, |_| true);
    let top = all * q / 100.0;
    let mut caught = 0.0;
    for (label, score, weight) in each(table) {
        let above = each(table).filter(|row| row.1 > score).map(|row| row.2).sum::<f64>();
        let tied = each(table).filter(|row| row.1 == score).map(|row| row.2).sum::<f64>();
        caught += weight * label * ((top - above) / tied).clamp(0.0, 1.0);
    }
    match base {
        "gain" => ratio(caught, top),
        "capture" => ratio(caught, positives),
        _ => ratio(caught, positives * q / 100.0),
    }
}
