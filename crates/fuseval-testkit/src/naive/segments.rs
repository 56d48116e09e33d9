//! Metrics over ranked segments: the textbook formula of one order without ties, averaged over every order that ties allow.

mod formulas;
mod orders;
mod pairs;
#[cfg(test)]
mod tests;

use super::parts;
use crate::generate::Table;

/// The names with the options that change the formula.
pub const METRICS: &[&str] = &[
    "precision@1",
    "precision@3",
    "precision@10",
    "precision@3[ties=optimistic]",
    "precision@3[ties=pessimistic]",
    "precision@3[ties=stable]",
    "precision@3[ties=key_asc]",
    "precision@5[denominator=min_k_n]",
    "precision@5[denominator=min_k_relevant]",
    "precision@2[no_positive=skip]",
    "precision@2[no_positive=one]",
    "precision@2[average=rows]",
    "precision@2[average=positives]",
    "recall@1",
    "recall@4",
    "recall@3[denominator=min_k_relevant]",
    "recall@2[duplicates=first]",
    "capped_recall@3",
    "f1@3",
    "hit_rate@1",
    "hit_rate@3",
    "hit_rate@3[ties=pessimistic]",
    "r_precision",
    "mrr",
    "mrr@2",
    "mrr[ties=key_desc]",
    "map",
    "map@3",
    "map@3[denominator=relevant]",
    "map@3[denominator=hits]",
    "map@4[denominator=k]",
    "map[ties=stable,duplicates=first]",
    "ndcg",
    "ndcg@3",
    "ndcg@4[gain=exp2]",
    "ndcg@3[gain=[0,2.5]]",
    "ndcg@3[ideal=full]",
    "ndcg@3[ties=optimistic]",
    "ndcg@3[no_positive=zero]",
    "dcg",
    "dcg@3",
    "err[max_grade=1]",
    "err@3[max_grade=4]",
    "rbp",
    "rbp@3[p=0.5]",
    "mean_rank",
    "mean_rank[of=first]",
    "gauc",
    "gauc[single_class=half]",
    "gauc[constant_scores=skip,single_class=half]",
    "gauc[average=positives]",
    "uauc",
    "pair_accuracy",
    "top_k_overlap@1",
    "top_k_overlap@3",
    "top_k_overlap@3[ties=stable]",
    "rank_biased_overlap",
    "rank_biased_overlap[p=0.5]",
    "rank_biased_overlap[ties=key_asc]",
];

/// What a metric asks of a segment.
struct Asked<'a> {
    base: &'a str,
    k: usize,
    options: &'a str,
}

impl<'a> Asked<'a> {
    fn option(&self, name: &str) -> Option<&'a str> {
        let from = self.options.find(&format!("{name}="))? + name.len() + 1;
        let rest = &self.options[from..];
        // A list ends with its bracket.
        let to = if rest.starts_with('[') { rest.find(']').map(|end| end + 1) } else { rest.find(',') };
        Some(&rest[..to.unwrap_or(rest.len())])
    }

    fn number(&self, name: &str, default: f64) -> f64 {
        self.option(name).map_or(default, |text| text.parse().expect("a number"))
    }
}

/// The value of one of [`METRICS`].
///
/// # Panics
/// On another name.
pub fn value(name: &str, table: &Table) -> Option<f64> {
    let (base, k, options) = parts(name);
    let asked = Asked { base, k: if k == 0 { usize::MAX } else { k }, options };
    let (mut sum, mut weight) = (0.0, 0.0);
    for pair in table.segments.windows(2) {
        let rows: Vec<usize> = (pair[0]..pair[1]).collect();
        let Some(value) = of_segment(&asked, table, &rows) else { continue };
        let positives = rows.iter().filter(|row| table.labels[**row] > 0.0).count();
        let average = asked.option("average").unwrap_or(if base == "gauc" { "rows" } else { "macro" });
        let mut w =
            table.weights.as_ref().map_or(1.0, |w| rows.iter().map(|row| w[*row]).sum::<f64>() / rows.len() as f64);
        w *= match average {
            "rows" => rows.len() as f64,
            "positives" => positives as f64,
            _ => 1.0,
        };
        sum += w * value;
        weight += w;
    }
    (weight > 0.0).then(|| sum / weight)
}

fn of_segment(asked: &Asked<'_>, table: &Table, rows: &[usize]) -> Option<f64> {
    match asked.base {
        "gauc" | "uauc" | "pair_accuracy" => return pairs::share(asked, table, rows),
        "top_k_overlap" | "rank_biased_overlap" => return Some(orders::overlap(asked, table, rows)),
        _ => {}
    }
    let mut rows = rows.to_vec();
    if asked.option("duplicates") == Some("first") {
        orders::keep_first_of_items(&mut rows, table, asked.option("ties"));
    }
    let positives = rows.iter().filter(|row| table.labels[**row] > 0.0).count();
    if positives == 0 {
        let default = if ["precision", "dcg", "err", "rbp"].contains(&asked.base) { "zero" } else { "skip" };
        return match asked.option("no_positive").unwrap_or(default) {
            "zero" => Some(0.0),
            "one" => Some(1.0),
            _ => None,
        };
    }
    let (mut sum, mut count) = (0.0, 0);
    orders::each_order_of_labels(table, &rows, asked.option("ties"), &mut |labels| {
        sum += formulas::of_order(asked, labels);
        count += 1;
    });
    Some(sum / f64::from(count))
}
