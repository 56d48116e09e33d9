//! The steps without each fold, for intervals. Where there are few distinct scores they are exact; where there are many they
//! are those of the histogram, which is as good for the spread of the values as it is quick.

use fuseval_core::Folds;

use super::histogram::Histogram;
use super::table::{Entry, ScoreTable, steps_of_sorted};
use super::{Content, Exact, Scores};

/// The number of distinct scores up to which they are exact.
const MOST_EXACT: usize = 1 << 13;

pub(super) fn without_each(folds: &Folds<Scores>) -> Vec<ScoreTable> {
    let settled: Vec<_> = folds.states().iter().map(|state| state.within_budget()).collect();
    let exact: Option<Vec<&Exact>> = settled
        .iter()
        .map(|state| match &state.content {
            Content::Exact(exact) => Some(exact),
            Content::Histogram(_) => None,
        })
        .collect();
    if let Some(exact) = exact
        && exact.iter().map(|exact| exact.most_distinct()).sum::<u64>() <= MOST_EXACT as u64
    {
        return exactly(&exact);
    }
    let histograms: Vec<Histogram> = settled.iter().map(|state| state.histogram().into_owned()).collect();
    by_histogram(&histograms)
}

fn exactly(folds: &[&Exact]) -> Vec<ScoreTable> {
    let mut entries: Vec<(Entry, usize)> = Vec::new();
    for (fold, exact) in folds.iter().enumerate() {
        let mut exact = (*exact).clone();
        exact.compact();
        entries.extend(exact.groups_with_keys().into_iter().map(|entry| (entry, fold)));
    }
    entries.sort_unstable();
    let one = 1.0f64.to_bits();
    let table = |fold: usize| {
        let others = || entries.iter().filter(|(_, of)| *of != fold).map(|(entry, _)| *entry);
        let weighted = others().any(|(_, _, weight, _)| weight != one);
        ScoreTable::of_steps(steps_of_sorted(others()), weighted, true)
    };
    (0..folds.len()).map(table).collect()
}

/// Sums before and after each fold, merged once each.
fn by_histogram(folds: &[Histogram]) -> Vec<ScoreTable> {
    let mut after = vec![Histogram::default()];
    for fold in folds.iter().skip(1).rev() {
        let mut sum = fold.clone();
        if let Some(last) = after.last() {
            sum.merge(last);
        }
        after.push(sum);
    }
    let mut before = Histogram::default();
    let mut tables = Vec::with_capacity(folds.len());
    for (fold, mut others) in folds.iter().zip(after.into_iter().rev()) {
        others.merge(&before);
        tables.push(ScoreTable::of_histogram(&others));
        before.merge(fold);
    }
    tables
}
