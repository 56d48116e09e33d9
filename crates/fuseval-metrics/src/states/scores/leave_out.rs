//! The steps without each fold, for intervals. Where there are few distinct scores they are exact. Where there are many, scores
//! are put into bins that are the same for every fold: those of the histogram if enough of them are used, otherwise blocks of
//! about equal size over the sorted scores. For the spread of the values that is as good as the scores themselves.
//!
//! Which of the three it is depends on the distinct scores of all folds, not on how far they have been sorted.

use std::borrow::Cow;

use fuseval_core::Folds;

use super::histogram::Histogram;
use super::table::{Entry, ScoreTable, steps_of_sorted};
use super::{Content, Exact, Scores};

/// The number of distinct scores up to which they are exact, and the number of blocks.
const MOST_EXACT: usize = 1 << 13;
/// The least number of bins of the histogram that are worth taking.
const FEWEST_BINS: usize = 1 << 10;

pub(super) fn without_each(folds: &Folds<Scores>) -> Vec<ScoreTable> {
    let settled: Vec<_> = folds.states().iter().map(|state| state.within_budget()).collect();
    let exact: Option<Vec<&Exact>> = settled
        .iter()
        .map(|state| match &state.content {
            Content::Exact(exact) => Some(exact),
            Content::Histogram(_) => None,
        })
        .collect();
    let Some(exact) = exact else {
        return by_histogram(&settled.iter().map(|state| state.histogram().into_owned()).collect::<Vec<_>>());
    };
    let most: u64 = exact.iter().map(|exact| exact.most_distinct()).sum();
    if most <= MOST_EXACT as u64 {
        return of_entries(&sorted_entries(&exact), exact.len(), false);
    }
    let histograms: Vec<Histogram> = exact.iter().map(|exact| exact.histogram()).collect();
    let mut all = Histogram::default();
    histograms.iter().for_each(|histogram| all.merge(histogram));
    if all.bins().len() >= FEWEST_BINS {
        // Each used bin holds a distinct score; only where that does not tell are the scores counted.
        let bins: u64 = histograms.iter().map(Histogram::used).sum();
        let distinct = || exact.iter().map(|exact| sorted(exact).distinct()).sum::<u64>();
        if bins > MOST_EXACT as u64 || distinct() > MOST_EXACT as u64 {
            return by_histogram(&histograms);
        }
    }
    let entries = sorted_entries(&exact);
    if entries.len() <= MOST_EXACT {
        return of_entries(&entries, exact.len(), false);
    }
    of_entries(&blocks(&entries), exact.len(), true)
}

/// The same with everything sorted in.
fn sorted(exact: &Exact) -> Cow<'_, Exact> {
    if exact.is_compact() {
        return Cow::Borrowed(exact);
    }
    let mut sorted = exact.clone();
    sorted.compact();
    Cow::Owned(sorted)
}

/// The groups of all folds in ascending order, each with the place of its fold.
fn sorted_entries(folds: &[&Exact]) -> Vec<(Entry, usize)> {
    let mut entries: Vec<(Entry, usize)> = Vec::new();
    for (fold, exact) in folds.iter().enumerate() {
        entries.extend(sorted(exact).groups_with_keys().into_iter().map(|entry| (entry, fold)));
    }
    entries.sort_unstable();
    entries
}

/// The entries with the keys of blocks in the place of their own: about as many blocks as there may be exact scores, each with
/// about as many rows, none of which divides a score.
fn blocks(entries: &[(Entry, usize)]) -> Vec<(Entry, usize)> {
    let rows: u64 = entries.iter().map(|((.., count), _)| count).sum();
    let target = rows.div_ceil(MOST_EXACT as u64).max(1);
    let mut blocked = Vec::with_capacity(entries.len());
    let (mut block, mut in_block) = (0, 0);
    for same in entries.chunk_by(|a, b| a.0.0 == b.0.0) {
        let Some(((key, ..), _)) = same.first() else { continue };
        if in_block >= target || blocked.is_empty() {
            (block, in_block) = (*key, 0);
        }
        for ((_, positive, weight, count), fold) in same {
            in_block += count;
            blocked.push(((block, *positive, *weight, *count), *fold));
        }
    }
    blocked.sort_unstable();
    blocked
}

/// The tables of sorted entries without those of each fold; `blocked` when a key stands for a block of scores.
fn of_entries(entries: &[(Entry, usize)], folds: usize, blocked: bool) -> Vec<ScoreTable> {
    let one = 1.0f64.to_bits();
    let table = |fold: usize| {
        let others = || entries.iter().filter(|(_, of)| *of != fold).map(|(entry, _)| *entry);
        let weighted = others().any(|(_, _, weight, _)| weight != one);
        ScoreTable::of_steps(steps_of_sorted(others()), weighted, !blocked)
    };
    (0..folds).map(table).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::area::Area;
    use crate::states::scores::Mode;
    use fuseval_core::random::KeyedRng;
    use fuseval_core::{Fold, State};

    fn folds(rows: usize, parts: usize, score: impl Fn(&mut KeyedRng) -> f64) -> Folds<Scores> {
        let mut rng = KeyedRng::new(11, &["leave out"]);
        let drawn: Vec<(u8, f64, f64)> = (0..rows)
            .map(|_| (rng.below(32) as u8, score(&mut rng), f64::from(u8::from(rng.below(10) == 0))))
            .collect();
        let mut all = Folds::default();
        for part in drawn.chunks(rows.div_ceil(parts)) {
            let mut folds = Folds::<Scores>::default();
            for (fold, score, label) in part {
                let state = folds.state(Fold::new(*fold).unwrap(), || Scores::new(Mode::Auto, u64::MAX));
                state.add_rows(&[*label], &[*score]);
            }
            all.merge(&folds).unwrap();
        }
        all
    }

    fn areas(folds: &Folds<Scores>) -> Vec<f64> {
        without_each(folds).iter().map(|table| Area::of(table).finish().0.number().unwrap()).collect()
    }

    /// The area without each fold, from the states themselves.
    fn exact_areas(folds: &Folds<Scores>) -> Vec<f64> {
        let area = |state: &Scores| Area::of(&ScoreTable::of(state)).finish().0;
        let without = folds.without_each(|| Scores::new(Mode::Auto, u64::MAX), area).unwrap();
        without.into_iter().map(|outcome| outcome.number().unwrap()).collect()
    }

    fn spread(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn few_distinct_scores_are_exact_however_far_they_were_sorted() {
        let few = |rng: &mut KeyedRng| rng.below(25) as f64 / 32.0;
        let (one, many) = (folds(40_000, 1, few), folds(40_000, 40, few));
        assert_eq!(areas(&one), areas(&many));
        assert_eq!(areas(&one), exact_areas(&one));
    }

    #[test]
    fn many_scores_in_many_bins_or_in_few_have_nearly_the_exact_spread() {
        let unit = |rng: &mut KeyedRng| f64::from((rng.next_u64() >> 40) as f32 / 16_777_216.0);
        let narrow = move |rng: &mut KeyedRng| 1000.0 + f64::from(unit(rng) as f32);
        for (name, folds) in [("many", folds(40_000, 3, unit)), ("few", folds(40_000, 3, narrow))] {
            let (near, exact) = (spread(&areas(&folds)), spread(&exact_areas(&folds)));
            assert!((near / exact - 1.0).abs() < 0.01, "{name} bins: {near} instead of {exact}");
        }
    }

    #[test]
    fn the_budget_is_that_of_all_folds_together() {
        let budget = 1000;
        let mut folds = Folds::<Scores>::default();
        for row in 0..1100u32 {
            let fold = Fold::new((row % 32) as u8).unwrap();
            folds.state(fold, || Scores::new(Mode::Auto, budget)).add(f64::from(row), true, 1.0);
            let mut settled = folds.clone();
            let mut states = settled.states().to_vec();
            Scores::settle(&mut states);
            let exact = states.iter().all(|state| matches!(state.content, Content::Exact(_)));
            assert_eq!(exact, u64::from(row) < budget, "{row}");
            settled.merge(&Folds::default()).unwrap();
        }
    }
}
