//! A second implementation, as plain as can be: everything collected, textbook formulas, no code of the product.

use crate::generate::Table;

/// The value of a metric by its name, or `None` where it is undefined.
///
/// # Panics
/// On a name that it does not know.
pub fn value(name: &str, table: &Table) -> Option<f64> {
    let (base, options) = name.split_once('[').map_or((name, ""), |(base, rest)| (base, rest.trim_end_matches(']')));
    match base.split_once('@').map_or((base, 0), |(base, k)| (base, k.parse().expect("k"))) {
        ("mae", _) => mean(table, |y, p| (p - y).abs()),
        ("rmse", _) => mean(table, |y, p| (p - y) * (p - y)).map(f64::sqrt),
        ("log_loss", _) => {
            let floor = if options == "clip=0" { 0.0 } else { 1e-12 };
            mean(table, |y, p| if y == 1.0 { -p.max(floor).ln() } else { -(1.0 - p).max(floor).ln() })
        }
        ("calibration", _) => {
            let labels: f64 = each(table).map(|(y, _, w)| w * y).sum();
            (labels > 0.0).then(|| each(table).map(|(_, p, w)| w * p).sum::<f64>() / labels)
        }
        ("roc_auc", _) if options.is_empty() => auc(table),
        ("roc_auc", _) => auc_at(table, &grid(options)),
        ("precision", k) => precision(table, k, options),
        _ => panic!("no naive implementation of {name}"),
    }
}

fn each(table: &Table) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    (0..table.rows()).map(|row| (table.labels[row], table.scores[row], table.weights.as_ref().map_or(1.0, |w| w[row])))
}

fn mean(table: &Table, f: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let weight: f64 = each(table).map(|(_, _, w)| w).sum();
    (weight > 0.0).then(|| each(table).map(|(y, p, w)| w * f(y, p)).sum::<f64>() / weight)
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

/// The mean over every order that ties allow, by counting for each row in how many of them it is in the top k.
fn precision(table: &Table, k: usize, options: &str) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for pair in table.segments.windows(2) {
        let rows: Vec<usize> = (pair[0]..pair[1]).collect();
        let positives = rows.iter().filter(|row| table.labels[**row] > 0.0).count();
        let mut hits = 0.0;
        for row in rows.iter().filter(|row| table.labels[**row] > 0.0) {
            let score = table.scores[*row];
            let above = rows.iter().filter(|other| table.scores[**other] > score).count();
            let tied: Vec<&usize> = rows.iter().filter(|other| table.scores[**other] == score).collect();
            let places = k.saturating_sub(above).min(tied.len());
            let same = |relevant: bool| tied.iter().filter(|other| (table.labels[***other] > 0.0) == relevant).count();
            hits += match options {
                "ties=optimistic" => places.min(same(true)) as f64 / same(true) as f64,
                "ties=pessimistic" => places.saturating_sub(same(false)) as f64 / same(true) as f64,
                "ties=stable" => f64::from(u8::from(tied.iter().position(|other| *other == row) < Some(places))),
                _ => places as f64 / tied.len() as f64,
            };
        }
        let denominator = if options == "denominator=min_k_n" { k.min(rows.len()) } else { k };
        let value = match (positives, options) {
            (0, "no_positive=skip") => continue,
            (0, "no_positive=one") => 1.0,
            _ => hits / denominator as f64,
        };
        let w = table.weights.as_ref().map_or(1.0, |w| rows.iter().map(|row| w[*row]).sum::<f64>() / rows.len() as f64);
        sum += w * value;
        weight += w;
    }
    (weight > 0.0).then(|| sum / weight)
}
