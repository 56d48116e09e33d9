//! Pairs of rows, one by one.

use super::Asked;
use crate::generate::Table;

/// The share of pairs of different labels that are ranked right, tied pairs half.
pub(super) fn share(asked: &Asked<'_>, table: &Table, rows: &[usize]) -> Option<f64> {
    let score = |row: &usize| table.scores[*row];
    if asked.option("constant_scores") == Some("skip") && rows.iter().all(|row| score(row) == score(&rows[0])) {
        return None;
    }
    let (mut right, mut pairs) = (0.0, 0.0);
    for high in rows {
        for low in rows.iter().filter(|low| table.labels[**low] < table.labels[*high]) {
            pairs += 1.0;
            right +=
                if score(high) > score(low) { 1.0 } else { 0.0 } + if score(high) == score(low) { 0.5 } else { 0.0 };
        }
    }
    match asked.option("single_class") {
        Some("half") if pairs == 0.0 => Some(0.5),
        _ => (pairs > 0.0).then(|| right / pairs),
    }
}
