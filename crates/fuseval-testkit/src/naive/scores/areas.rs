//! Areas under curves, by rows rather than by steps.

use super::{distinct, each, weight};
use crate::generate::Table;

/// Each negative row with the share of it that lies below the border of the false positive rate, and the positives it meets.
pub(super) fn partial_auc(table: &Table, max_fpr: f64, standardise: bool) -> Option<f64> {
    let (positives, negatives) = (weight(table, 1.0, |_| true), weight(table, 0.0, |_| true));
    let mut area = 0.0;
    for (_, score, w) in each(table).filter(|row| row.0 == 0.0) {
        let above = weight(table, 0.0, |other| other > score);
        let tied = weight(table, 0.0, |other| other == score);
        let share = ((max_fpr * negatives - above) / tied).clamp(0.0, 1.0);
        let met = weight(table, 1.0, |other| other > score) + share * weight(table, 1.0, |other| other == score) / 2.0;
        area += w * share * met;
    }
    let area = (positives > 0.0 && negatives > 0.0).then(|| area / positives / negatives)?;
    let chance = max_fpr * max_fpr / 2.0;
    Some(if standardise { 0.5 * (1.0 + (area - chance) / (max_fpr - chance)) } else { area })
}

/// The area under the precision-recall curve.
pub(super) fn pr_auc(table: &Table, options: &str) -> Option<f64> {
    let positives = weight(table, 1.0, |_| true);
    if positives == 0.0 {
        return None;
    }
    let point = |threshold: f64| {
        (weight(table, 1.0, |score| score >= threshold), weight(table, 0.0, |score| score >= threshold))
    };
    let precision = |(tp, fp): (f64, f64)| tp / (tp + fp);
    if !options.contains("curve") {
        let gains = each(table).filter(|row| row.0 == 1.0).map(|(_, score, w)| w * precision(point(score)));
        return Some(gains.sum::<f64>() / positives);
    }
    let points: Vec<(f64, f64)> = distinct(table).into_iter().map(point).collect();
    let first = points[0];
    let area: f64 = if options.contains("interpolated") {
        let rest: f64 = points.windows(2).map(|pair| interpolated(pair[0], pair[1])).sum();
        rest + first.0 * precision(first)
    } else {
        let anchor = if options.contains("anchor=first") { precision(first) } else { 1.0 };
        let rest: f64 = points
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) * (precision(pair[0]) + precision(pair[1])) / 2.0)
            .sum();
        rest + first.0 * (anchor + precision(first)) / 2.0
    };
    Some(area / positives)
}

/// ∫ precision d(tp) between two points by Gauss' rule with five nodes, on parts over which tp + fp grows by a tenth.
fn interpolated(from: (f64, f64), to: (f64, f64)) -> f64 {
    const NODES: [(f64, f64); 3] = [
        (0.0, 128.0 / 225.0),
        (0.538_469_310_105_683, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let (gain, start) = (to.0 - from.0, from.0 + from.1);
    let growth = gain + (to.1 - from.1);
    let precision = |share: f64| (from.0 + share * gain) / (start + share * growth);
    let mut area = 0.0;
    let (mut at, mut rows) = (0.0, start);
    while at < 1.0 {
        rows *= 1.1;
        let next = ((rows - start) / growth).min(1.0);
        for (node, factor) in NODES {
            let (middle, half) = (f64::midpoint(at, next), (next - at) / 2.0);
            let values = precision(middle - node * half) + precision(middle + node * half);
            area += factor * half * gain * if node == 0.0 { values / 2.0 } else { values };
        }
        at = next;
    }
    area
}
