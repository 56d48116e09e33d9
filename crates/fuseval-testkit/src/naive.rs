//! A second implementation, as plain as can be: everything collected, textbook formulas, no code of the product.

pub mod rows;
pub mod scores;
pub mod segments;

use crate::generate::Table;

/// The value of a metric of one list.
type Formula = fn(&str, &Table) -> Option<f64>;

/// The value of a metric by its name, or `None` where it is undefined.
///
/// # Panics
/// On a name that it does not know.
pub fn value(name: &str, table: &Table) -> Option<f64> {
    let lists: [(&[&str], Formula); 3] =
        [(rows::METRICS, rows::value), (scores::METRICS, scores::value), (segments::METRICS, segments::value)];
    let (_, value) = lists
        .iter()
        .find(|(names, _)| names.contains(&name))
        .unwrap_or_else(|| panic!("no naive implementation of {name}"));
    value(name, table)
}

/// A name in its parts: base, cut-off (0 for none), options.
fn parts(name: &str) -> (&str, usize, &str) {
    let (base, options) = name.split_once('[').map_or((name, ""), |(base, rest)| (base, &rest[..rest.len() - 1]));
    let (base, k) = base.split_once('@').map_or((base, 0), |(base, k)| (base, k.parse().expect("k")));
    (base, k, options)
}

/// (label, score, weight) of each row.
fn each(table: &Table) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    (0..table.rows()).map(|row| (table.labels[row], table.scores[row], table.weights.as_ref().map_or(1.0, |w| w[row])))
}
