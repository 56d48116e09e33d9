//! The formulas, for the labels of a segment in rank order.

use super::Asked;

/// The value of an order.
pub(super) fn of_order(asked: &Asked<'_>, labels: &[f64]) -> f64 {
    let k = asked.k as f64;
    let all = labels.iter().filter(|y| **y > 0.0).count() as f64;
    let top = &labels[..asked.k.min(labels.len())];
    let ranks: Vec<f64> = top.iter().zip(1..).filter(|(y, _)| **y > 0.0).map(|(_, rank)| f64::from(rank)).collect();
    let hits = ranks.len() as f64;
    match asked.base {
        "precision" => match asked.option("denominator") {
            Some("min_k_n") => hits / k.min(labels.len() as f64),
            Some("min_k_relevant") => hits / k.min(all),
            _ => hits / k,
        },
        "recall" if asked.option("denominator").is_none() => hits / all,
        "recall" | "capped_recall" => hits / k.min(all),
        "f1" => {
            let (precision, recall) = (hits / k, hits / all);
            if hits == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
        }
        "hit_rate" => f64::from(u8::from(hits > 0.0)),
        "r_precision" => labels[..all as usize].iter().filter(|y| **y > 0.0).count() as f64 / all,
        "mrr" => ranks.first().map_or(0.0, |rank| 1.0 / rank),
        "map" => {
            let precisions: f64 = ranks.iter().zip(1..).map(|(rank, hits)| f64::from(hits) / rank).sum();
            match asked.option("denominator") {
                Some("hits") if hits == 0.0 => 0.0,
                Some("hits") => precisions / hits,
                Some("relevant") => precisions / all,
                Some("k") => precisions / k,
                _ => precisions / k.min(all),
            }
        }
        "dcg" => dcg(asked, top),
        "ndcg" => {
            let mut ideal = labels.to_vec();
            ideal.sort_by(|a, b| b.total_cmp(a));
            ideal.truncate(asked.k);
            if asked.option("ideal") == Some("full") {
                ideal = vec![1.0; asked.k];
            }
            dcg(asked, top) / dcg(asked, &ideal)
        }
        "err" => {
            let satisfies: Vec<f64> =
                top.iter().map(|y| (y.exp2() - 1.0) / asked.number("max_grade", 0.0).exp2()).collect();
            let reached = |place: usize| satisfies[..place].iter().map(|r| 1.0 - r).product::<f64>();
            (0..top.len()).map(|place| satisfies[place] * reached(place) / (place + 1) as f64).sum()
        }
        "rbp" => {
            let p = asked.number("p", 0.8);
            (1.0 - p) * ranks.iter().map(|rank| p.powf(rank - 1.0)).sum::<f64>()
        }
        "mean_rank" if asked.option("of") == Some("first") => ranks[0],
        "mean_rank" => ranks.iter().sum::<f64>() / hits,
        base => panic!("no naive implementation of {base}"),
    }
}

fn dcg(asked: &Asked<'_>, labels: &[f64]) -> f64 {
    let gain = |label: f64| match asked.option("gain") {
        None => label,
        Some("exp2") => label.exp2() - 1.0,
        Some(table) => {
            let gains = table.trim_matches(['[', ']']).split(',');
            gains.clone().nth(label as usize).expect("a gain").parse().expect("a number")
        }
    };
    labels.iter().zip(1..).map(|(label, rank)| gain(*label) / f64::from(rank + 1).log2()).sum()
}
