//! Metrics that are sums over rows.

use super::{each, parts};
use crate::generate::Table;

/// The names with the options that change the formula.
pub const METRICS: &[&str] = &[
    "count",
    "count[of=positives]",
    "count[of=segments]",
    "mean_label",
    "mean_prediction",
    "mae",
    "mse",
    "rmse",
    "r2",
    "r2[constant=one]",
    "r2[constant=zero_one]",
    "bias",
    "sum_ratio",
    "mape",
    "mape[zero_labels=eps]",
    "wmape",
    "pearson",
    "log_loss",
    "log_loss[unit=bits]",
    "log_loss[clip=0]",
    "normalized_entropy",
    "normalized_entropy[base_rate=0.25]",
    "normalized_entropy[clip=1e-3]",
    "rig",
    "rig[base_rate=0.25]",
    "brier",
    "calibration",
    "flip_rate",
    "flip_rate[threshold=0.25]",
    "flip_rate[of=up]",
    "flip_rate[threshold=0.75,of=down]",
    "score_shift",
];

/// The value of one of [`METRICS`].
///
/// # Panics
/// On another name.
pub fn value(name: &str, table: &Table) -> Option<f64> {
    let (base, _, options) = parts(name);
    let sum = |f: fn(f64, f64) -> f64| each(table).map(|(y, p, w)| w * f(y, p)).sum::<f64>();
    let ratio = |above: f64, below: f64| (below != 0.0).then(|| above / below);
    match base {
        "count" => Some(match options {
            "of=positives" => table.labels.iter().filter(|label| **label > 0.0).count() as f64,
            "of=segments" => table.segments.len() as f64 - 1.0,
            _ => table.rows() as f64,
        }),
        "mean_label" => mean(table, |y, _| y),
        "mean_prediction" => mean(table, |_, p| p),
        "mae" => mean(table, |y, p| (p - y).abs()),
        "mse" | "brier" => mean(table, |y, p| (p - y) * (p - y)),
        "rmse" => mean(table, |y, p| (p - y) * (p - y)).map(f64::sqrt),
        "r2" => r2(table, options),
        "bias" => mean(table, |y, p| p - y),
        "sum_ratio" | "calibration" => ratio(sum(|_, p| p), sum(|y, _| y)),
        "mape" if options == "zero_labels=eps" => {
            mean(table, |y, p| (p - y).abs() / if y == 0.0 { 2.220_446_049_250_313e-16 } else { y.abs() })
        }
        "mape" => {
            let weight = sum(|y, _| if y == 0.0 { 0.0 } else { 1.0 });
            ratio(sum(|y, p| if y == 0.0 { 0.0 } else { (p - y).abs() / y.abs() }), weight)
        }
        "wmape" => ratio(sum(|y, p| (p - y).abs()), sum(|y, _| y.abs())),
        "pearson" => pearson(table),
        "log_loss" if options == "unit=bits" => log_loss(table, "").map(|nats| nats / 2f64.ln()),
        "log_loss" => log_loss(table, options),
        "normalized_entropy" => normalized_entropy(table, options),
        "rig" => normalized_entropy(table, options).map(|entropy| 1.0 - entropy),
        "flip_rate" => flip_rate(table, options),
        "score_shift" => mean_of(table, |row| (table.scores[row] - table.baseline[row]).abs()),
        _ => panic!("no naive implementation of {name}"),
    }
}

fn mean(table: &Table, f: impl Fn(f64, f64) -> f64) -> Option<f64> {
    mean_of(table, |row| f(table.labels[row], table.scores[row]))
}

fn mean_of(table: &Table, f: impl Fn(usize) -> f64) -> Option<f64> {
    let weight: f64 = each(table).map(|(_, _, w)| w).sum();
    (weight > 0.0).then(|| each(table).enumerate().map(|(row, (_, _, w))| w * f(row)).sum::<f64>() / weight)
}

fn are_constant(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// In two passes: the mean first, then the distances from it.
fn r2(table: &Table, options: &str) -> Option<f64> {
    let mean_label = mean(table, |y, _| y)?;
    let errors = mean(table, |y, p| (p - y) * (p - y))?;
    if !are_constant(&table.labels) {
        return Some(1.0 - errors / mean(table, |y, _| (y - mean_label) * (y - mean_label))?);
    }
    match options {
        "constant=one" => Some(1.0),
        "constant=zero_one" => Some(if table.labels == table.scores { 1.0 } else { 0.0 }),
        _ => None,
    }
}

fn pearson(table: &Table) -> Option<f64> {
    let (label, score) = (mean(table, |y, _| y)?, mean(table, |_, p| p)?);
    if are_constant(&table.labels) || are_constant(&table.scores) {
        return None;
    }
    let covariance = mean(table, |y, p| (y - label) * (p - score))?;
    let (labels, scores) =
        (mean(table, |y, _| (y - label) * (y - label))?, mean(table, |_, p| (p - score) * (p - score))?);
    Some(covariance / (labels.sqrt() * scores.sqrt()))
}

fn log_loss(table: &Table, options: &str) -> Option<f64> {
    let floor: f64 = options.strip_prefix("clip=").map_or(1e-12, |clip| clip.parse().expect("a number"));
    mean(table, |y, p| if y == 1.0 { -p.max(floor).ln() } else { -(1.0 - p).max(floor).ln() })
}

fn normalized_entropy(table: &Table, options: &str) -> Option<f64> {
    let (rate, rest) = match options.strip_prefix("base_rate=") {
        Some(rate) => rate.parse().map(|rate: f64| (rate, 1.0 - rate)).expect("a number"),
        None if table.rows() == 0 || are_constant(&table.labels) => return None,
        None => (mean(table, |y, _| y)?, mean(table, |y, _| 1.0 - y)?),
    };
    // The share of the larger class can round to 1.
    let ln = |share: f64, rest: f64| if share > 0.5 { (-rest).ln_1p() } else { share.ln() };
    let loss = log_loss(table, if options.starts_with("clip") { options } else { "" })?;
    Some(loss / -(rate * ln(rate, rest) + rest * ln(rest, rate)))
}

fn flip_rate(table: &Table, options: &str) -> Option<f64> {
    let threshold = if options.contains("0.25") {
        0.25
    } else if options.contains("0.75") {
        0.75
    } else {
        0.5
    };
    mean_of(table, |row| {
        let (now, before) = (table.scores[row] >= threshold, table.baseline[row] >= threshold);
        let counts = match (before, now) {
            (false, true) => !options.contains("down"),
            (true, false) => !options.contains("up"),
            _ => false,
        };
        f64::from(u8::from(counts))
    })
}
