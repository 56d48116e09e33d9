//! `precision@k`: the share of relevant rows among the first k of a segment, averaged over segments.
//!
//! **Definition** h / k, where h is the number of relevant rows in the top k; the mean over segments.
//! **Relevant** label > 0, or label ≥ `rel_threshold`.
//! **Ties** `expected` (default): the mean over all orders of the rows tied across k (McSherry and Najork 2008);
//! `optimistic`, `pessimistic`: relevant rows first or last; `stable`: input order. Segments with such a tie are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** without segments. A segment without relevant rows has precision 0 (`no_positive=skip` leaves it out and
//! counts it as undefined, `no_positive=one` gives it 1). A segment shorter than k is divided by k all the same, as if
//! filled with rows that are not relevant (`denominator=min_k_n` divides by its length); it is counted as short.
//! **State** `sums`: Σ w·precision, Σ w over segments.
//! **Oracle** trec_eval `P_k` where nothing is tied; full enumeration of orders where something is.

use std::fmt;

use fuseval_core::{
    Direction, Entry, LabelRange, Layout, Metric, MetricId, Needs, OptionEntry, Result, ScoreNeed, Value, View,
};

use crate::states::sums::Sums;

const TIES: &[(&str, Ties)] = &[
    ("expected", Ties::Expected),
    ("optimistic", Ties::Optimistic),
    ("pessimistic", Ties::Pessimistic),
    ("stable", Ties::Stable),
];
const DENOMINATORS: &[(&str, bool)] = &[("k", false), ("min_k_n", true)];
const NO_POSITIVE: &[(&str, Option<f64>)] = &[("zero", Some(0.0)), ("skip", None), ("one", Some(1.0))];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "precision",
    summary: "share of relevant rows among the first k of a segment, mean over segments",
    cutoff: true,
    options: &[
        OptionEntry { name: "ties", values: &["expected", "optimistic", "pessimistic", "stable"], default: "expected" },
        OptionEntry { name: "denominator", values: &["k", "min_k_n"], default: "k" },
        OptionEntry { name: "no_positive", values: &["zero", "skip", "one"], default: "zero" },
        OptionEntry { name: "rel_threshold", values: &[], default: "above 0" },
    ],
    build: |settings| {
        let rel_threshold = match settings.get("rel_threshold") {
            None => None,
            Some(_) => Some(settings.number("rel_threshold", 1.0)?),
        };
        Ok(Box::new(Precision {
            k: settings.k(),
            ties: settings.choice("ties", TIES)?,
            by_length: settings.choice("denominator", DENOMINATORS)?,
            no_positive: settings.choice("no_positive", NO_POSITIVE)?,
            rel_threshold,
        }))
    },
};

/// How rows of equal score share the places they hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    Expected,
    Optimistic,
    Pessimistic,
    Stable,
}

/// The metric.
#[derive(Debug, Clone, Copy)]
pub struct Precision {
    k: usize,
    ties: Ties,
    by_length: bool,
    no_positive: Option<f64>,
    rel_threshold: Option<f64>,
}

impl Precision {
    fn is_relevant(&self, label: f64) -> bool {
        self.rel_threshold.map_or(label > 0.0, |threshold| label >= threshold)
    }

    /// The number of relevant rows among the first k of the ranked rows, and whether a tie lies across k.
    fn hits(&self, view: &View<'_>, ranked: &[usize]) -> (f64, bool) {
        let relevant = |row: &usize| view.labels.get(*row).is_some_and(|label| self.is_relevant(*label));
        let count = |rows: &[usize]| rows.iter().filter(|row| relevant(row)).count();
        let Some((top, rest)) = ranked.split_at_checked(self.k) else {
            return (count(ranked) as f64, false);
        };
        let score = |row: Option<&usize>| row.and_then(|row| view.scores.get(*row));
        let (Some(last), Some(next)) = (score(top.last()), score(rest.first())) else {
            return (count(top) as f64, false);
        };
        if last != next {
            return (count(top) as f64, false);
        }
        // The rows tied across k: `inside` of them stand in the top k, `outside` of them below.
        let inside = top.iter().rev().take_while(|row| score(Some(row)) == Some(last)).count();
        let outside = rest.iter().take_while(|row| score(Some(row)) == Some(last)).count();
        let above = count(top.get(..top.len() - inside).unwrap_or_default());
        let block = ranked.get(top.len() - inside..top.len() + outside).unwrap_or_default();
        let tied = count(block);
        let hits = match self.ties {
            Ties::Expected => above as f64 + (inside * tied) as f64 / block.len() as f64,
            Ties::Optimistic => (above + tied.min(inside)) as f64,
            Ties::Pessimistic => (above + tied.saturating_sub(outside)) as f64,
            Ties::Stable => count(top) as f64,
        };
        (hits, true)
    }
}

impl Metric for Precision {
    type State = Sums<2>;

    fn id(&self) -> MetricId {
        let id = MetricId::new(ENTRY.name)
            .at(self.k)
            .with("ties", name(TIES, self.ties), "expected")
            .with("denominator", name(DENOMINATORS, self.by_length), "k")
            .with("no_positive", name(NO_POSITIVE, self.no_positive), "zero");
        match self.rel_threshold {
            None => id,
            Some(threshold) => id.with("rel_threshold", threshold, ""),
        }
    }

    fn layout(&self) -> Layout {
        Layout::Segments
    }

    fn direction(&self) -> Direction {
        Direction::Higher
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Order, labels: LabelRange::Any, ranking: true }
    }

    fn empty(&self) -> Sums<2> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<2>, view: &View<'_>) -> Result<()> {
        let [values, weights] = &mut state.sums;
        for segment in view.each_segment() {
            let ranked = view.ranking.map(|ranking| ranking.rows(segment.clone())).unwrap_or_default();
            let (hits, tied) = self.hits(view, ranked);
            state.tally.short += u64::from(ranked.len() < self.k);
            state.tally.tied += u64::from(tied);
            let labels = view.labels.get(segment.clone()).unwrap_or_default();
            let denominator = if self.by_length { self.k.min(ranked.len()) } else { self.k };
            let precision = match self.no_positive {
                rule if !labels.iter().any(|label| self.is_relevant(*label)) => rule,
                _ => Some(hits / denominator as f64),
            };
            let Some(precision) = precision else {
                state.tally.undefined += 1;
                continue;
            };
            let weight = view.segment_weight(segment);
            values.add_product(weight, precision);
            weights.add(weight);
            state.tally.n += 1;
        }
        Ok(())
    }

    fn finish(&self, state: &Sums<2>) -> Value {
        state.mean(if state.tally.undefined > 0 { "no segment with a relevant row" } else { "no segments" })
    }
}

/// The name of a choice.
fn name<T: PartialEq>(choices: &[(&'static str, T)], chosen: T) -> impl fmt::Display {
    choices.iter().find(|(_, choice)| *choice == chosen).map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::ranking::Ranking;

    fn hits(ties: Ties, k: usize, scores: &[f64], labels: &[f64]) -> (f64, bool) {
        let metric = Precision { k, ties, by_length: false, no_positive: Some(0.0), rel_threshold: None };
        let ranking = Ranking::new(scores, &[0, scores.len()]);
        let view = View {
            labels,
            scores,
            weights: None,
            segments: &[0, scores.len()],
            ranking: Some(&ranking),
            kind: fuseval_core::ScoreKind::Raw,
            dropped: 0,
        };
        metric.hits(&view, ranking.rows(0..scores.len()))
    }

    #[test]
    fn rows_tied_across_k_share_its_places() {
        let (scores, labels) = ([0.9, 0.5, 0.5, 0.5, 0.1], [1.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!(hits(Ties::Expected, 2, &scores, &labels), (1.0 + 2.0 / 3.0, true));
        assert_eq!(hits(Ties::Optimistic, 2, &scores, &labels), (2.0, true));
        assert_eq!(hits(Ties::Pessimistic, 2, &scores, &labels), (1.0, true));
        assert_eq!(hits(Ties::Pessimistic, 3, &scores, &labels), (2.0, true));
        assert_eq!(hits(Ties::Stable, 2, &scores, &labels), (1.0, true));
        assert_eq!(hits(Ties::Expected, 4, &scores, &labels), (3.0, false));
        assert_eq!(hits(Ties::Expected, 9, &scores, &labels), (4.0, false));
    }
}
