//! Every order that ties allow, one by one.

use super::Asked;
use crate::generate::Table;

/// Calls `f` with the labels in rank order, for each order that looks different: each of them stands for equally many orders
/// of the rows.
pub(super) fn each_order_of_labels(table: &Table, rows: &[usize], ties: Option<&str>, f: &mut impl FnMut(&[f64])) {
    let mut blocks: Vec<Vec<f64>> = Vec::new();
    for block in blocks_of(table, &table.scores, rows, ties) {
        blocks.push(block.iter().map(|row| table.labels[*row]).collect());
    }
    arrange(&mut blocks, &mut Vec::new(), f);
}

/// Goes through the arrangements of the first block that is left, and for each through those of the rest.
fn arrange(blocks: &mut [Vec<f64>], above: &mut Vec<f64>, f: &mut impl FnMut(&[f64])) {
    let Some(first) = blocks.iter().position(|block| !block.is_empty()) else { return f(above) };
    let mut different = blocks[first].clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    for label in different {
        let place = blocks[first].iter().position(|other| *other == label).expect("its label");
        above.push(blocks[first].remove(place));
        arrange(blocks, above, f);
        above.pop();
        blocks[first].insert(place, label);
    }
}

/// The rows in blocks of equal score, best first; under a rule for ties each row is a block.
fn blocks_of(table: &Table, scores: &[f64], rows: &[usize], ties: Option<&str>) -> Vec<Vec<usize>> {
    let mut rows = rows.to_vec();
    let weight = |row: usize| table.weights.as_ref().map_or(1.0, |w| w[row]);
    let higher = |a: f64, b: f64| b.partial_cmp(&a).expect("no NaN");
    rows.sort_by(|a, b| {
        let rest = match ties {
            Some("stable") => a.cmp(b),
            Some("pessimistic") => higher(table.labels[*b], table.labels[*a]),
            Some("key_asc") => table.items[*a].cmp(&table.items[*b]),
            Some("key_desc") => table.items[*b].cmp(&table.items[*a]),
            _ => std::cmp::Ordering::Equal,
        };
        // What the rule leaves open: higher labels first, then higher weights, then the input order.
        let canonical = higher(table.labels[*a], table.labels[*b]).then(higher(weight(*a), weight(*b))).then(a.cmp(b));
        higher(scores[*a], scores[*b]).then(rest).then(canonical)
    });
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for row in rows {
        match blocks.last_mut() {
            Some(block) if ties.is_none() && scores[block[0]] == scores[row] => block.push(row),
            _ => blocks.push(vec![row]),
        }
    }
    blocks
}

/// Leaves out the rows of items that rank higher in the segment.
pub(super) fn keep_first_of_items(rows: &mut Vec<usize>, table: &Table, ties: Option<&str>) {
    let ranked: Vec<usize> = blocks_of(table, &table.scores, rows, ties).concat();
    let first = |row: &usize| ranked.iter().find(|other| table.items[**other] == table.items[*row]) == Some(row);
    rows.retain(first);
}

/// The mean over both rankings, in every order that ties allow, of what they have in common.
pub(super) fn overlap(asked: &Asked<'_>, table: &Table, rows: &[usize]) -> f64 {
    let ties = asked.option("ties");
    let rankings = [&table.scores, &table.baseline].map(|scores| blocks_of(table, scores, rows, ties));
    let factorial = |rows: &Vec<usize>| (1..=rows.len()).map(|i| i as f64).product::<f64>();
    let count: f64 = rankings.iter().flatten().map(factorial).product();
    if count > 2000.0 {
        return by_probabilities(asked, &rankings, rows);
    }
    let [experiment, baseline] = rankings.map(|blocks| all_orders(&blocks));
    let mut sum = 0.0;
    for a in &experiment {
        for b in &baseline {
            sum += common(asked, rows.len(), |depth| {
                a[..depth].iter().filter(|row| b[..depth].contains(row)).count() as f64
            });
        }
    }
    sum / (experiment.len() * baseline.len()) as f64
}

/// The same for too many orders: a row is in the first d of both with the product of both probabilities.
fn by_probabilities(asked: &Asked<'_>, rankings: &[Vec<Vec<usize>>; 2], rows: &[usize]) -> f64 {
    let probability = |blocks: &[Vec<usize>], row: &usize, depth: usize| {
        let mut before = 0;
        for block in blocks {
            if block.contains(row) {
                return (depth.saturating_sub(before) as f64 / block.len() as f64).min(1.0);
            }
            before += block.len();
        }
        0.0
    };
    let both =
        |row: &usize, depth: usize| rankings.iter().map(|blocks| probability(blocks, row, depth)).product::<f64>();
    common(asked, rows.len(), |depth| rows.iter().map(|row| both(row, depth)).sum())
}

/// The value, from the number of rows in common at each depth.
fn common(asked: &Asked<'_>, rows: usize, at: impl Fn(usize) -> f64) -> f64 {
    if asked.base == "top_k_overlap" {
        return at(asked.k.min(rows)) / asked.k.min(rows) as f64;
    }
    let p = asked.number("p", 0.9);
    let agreements = (1..=rows).map(|depth| (1.0 - p) * p.powi(depth as i32 - 1) * at(depth) / depth as f64);
    agreements.sum::<f64>() + p.powi(rows as i32)
}

/// Every order of the rows of each block.
fn all_orders(blocks: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for block in blocks {
        let inside = permutations(block);
        orders = orders
            .iter()
            .flat_map(|above| inside.iter().map(move |order| [above.as_slice(), order].concat()))
            .collect();
    }
    orders
}

fn permutations(rows: &[usize]) -> Vec<Vec<usize>> {
    if rows.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let rest = [&rows[..place], &rows[place + 1..]].concat();
        all.extend(permutations(&rest).iter().map(|order| [&[*row], order.as_slice()].concat()));
    }
    all
}
