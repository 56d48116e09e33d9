//! The scores of a cell at the end: steps of equal score (bins of the histogram) in order, for all folds together and without
//! each fold. Made once for all metrics that share the state.

use std::borrow::Cow;

use fuseval_core::{ExactSum, Folds, Tally};

use super::histogram::{Histogram, SHIFT, half_key, single_score};
use super::leave_out::without_each;
use super::multiset::{Key, Multiset};
use super::weighted::score_of;
use super::{Class, Content, Exact, Scores};
use crate::blocks::BLOCK;
use crate::states::radix::{self, Digits};
use crate::states::twofold::Twofold;

/// The rows of one class in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Side {
    /// The number of rows.
    pub(crate) rows: u64,
    /// The sum of their weights.
    pub(crate) weight: f64,
}

impl Side {
    fn of_rows(rows: usize) -> Self {
        Self { rows: rows as u64, weight: rows as f64 }
    }
}

/// All rows of one score, or of one bin of scores.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Step {
    /// The least score it may hold.
    pub(crate) low: f64,
    /// The greatest score it may hold; the same as `low` for exact scores.
    pub(crate) high: f64,
    /// Rows of the negative class.
    pub(crate) negative: Side,
    /// Rows of the positive class.
    pub(crate) positive: Side,
}

/// Rows and weights of both classes, and of both together, each sum rounded once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    negative: Side,
    positive: Side,
    weight: f64,
}

impl Totals {
    fn of_rows(negative: usize, positive: usize) -> Self {
        Self {
            negative: Side::of_rows(negative),
            positive: Side::of_rows(positive),
            weight: (negative + positive) as f64,
        }
    }

    /// From the rows and the exact weight of each class.
    pub(super) fn of_sums([negative, positive]: [(u64, ExactSum); 2]) -> Self {
        let side = |(rows, sum): &(u64, ExactSum)| Side { rows: *rows, weight: sum.value() };
        let (negative_side, positive_side) = (side(&negative), side(&positive));
        let (_, mut weight) = negative;
        weight.merge(&positive.1);
        Self { negative: negative_side, positive: positive_side, weight: weight.value() }
    }
}

/// The steps of a state.
#[derive(Debug, Clone)]
pub(crate) struct ScoreTable {
    content: Rows,
    totals: Totals,
    /// Whether some row has another weight than 1.
    pub(crate) weighted: bool,
    /// Whether each step is one score.
    pub(crate) exact: bool,
    /// Whether the scores are logits.
    pub(crate) logits: bool,
    /// How many threads may walk over it.
    threads: usize,
}

/// Rows of weight 1 whose scores hardly repeat are kept as sorted keys; everything else as steps.
#[derive(Debug, Clone)]
enum Rows {
    Steps(Vec<Step>),
    Narrow { negative: Vec<u32>, positive: Vec<u32> },
    Wide { negative: Vec<u64>, positive: Vec<u64> },
}

/// Steps in ascending order; from the back in descending order.
#[derive(Debug, Clone)]
pub(crate) enum Steps<'a> {
    Made(std::slice::Iter<'a, Step>),
    Narrow { negative: &'a [u32], positive: &'a [u32] },
    Wide { negative: &'a [u64], positive: &'a [u64] },
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        match self {
            Self::Made(steps) => steps.next().copied(),
            Self::Narrow { negative, positive } => {
                first(negative, positive).map(|step| step.scored(|key| f64::from(single_score(key))))
            }
            Self::Wide { negative, positive } => first(negative, positive).map(|step| step.scored(score_of)),
        }
    }
}

impl DoubleEndedIterator for Steps<'_> {
    fn next_back(&mut self) -> Option<Step> {
        match self {
            Self::Made(steps) => steps.next_back().copied(),
            Self::Narrow { negative, positive } => {
                last(negative, positive).map(|step| step.scored(|key| f64::from(single_score(key))))
            }
            Self::Wide { negative, positive } => last(negative, positive).map(|step| step.scored(score_of)),
        }
    }
}

/// The rows of one key: (key, negative rows, positive rows).
struct KeyStep<K>(K, usize, usize);

impl<K> KeyStep<K> {
    fn scored(self, score: impl Fn(K) -> f64) -> Step {
        let Self(key, negative, positive) = self;
        let score = score(key);
        Step { low: score, high: score, negative: Side::of_rows(negative), positive: Side::of_rows(positive) }
    }
}

/// Takes the rows of the least key.
fn first<K: Copy + Ord>(negative: &mut &[K], positive: &mut &[K]) -> Option<KeyStep<K>> {
    let key = match (negative.first(), positive.first()) {
        (Some(a), Some(b)) => *a.min(b),
        (a, b) => *a.or(b)?,
    };
    let take = |keys: &mut &[K]| {
        let count = keys.iter().take_while(|other| **other == key).count();
        *keys = keys.get(count..).unwrap_or_default();
        count
    };
    Some(KeyStep(key, take(negative), take(positive)))
}

/// Steps in descending order in which negative rows between two scores of positive rows are one step: their scores make no
/// difference to whoever only asks for the rows above each positive row.
#[derive(Debug, Clone)]
pub(crate) struct CoarseSteps<'a>(Steps<'a>);

impl Iterator for CoarseSteps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let rows = match &mut self.0 {
            Steps::Made(_) => 0,
            Steps::Narrow { negative, positive } => take_above(negative, positive),
            Steps::Wide { negative, positive } => take_above(negative, positive),
        };
        match rows {
            0 => self.0.next_back(),
            rows => Some(Step { negative: Side::of_rows(rows), ..Step::default() }),
        }
    }
}

/// Takes the negative rows above the greatest positive key; all of them if there is none.
fn take_above<K: Copy + Ord>(negative: &mut &[K], positive: &[K]) -> usize {
    let Some(key) = positive.last() else {
        let rows = negative.len();
        *negative = &[];
        return rows;
    };
    // In steps that double, since mostly there are few.
    let mut step = 1;
    let is_above = |place: usize| negative.get(place).is_some_and(|other| other > key);
    while step <= negative.len() && is_above(negative.len() - step) {
        step *= 2;
    }
    let from = negative.len().saturating_sub(step);
    let tail = negative.get(from..).unwrap_or_default();
    let rows = tail.len() - tail.partition_point(|other| other <= key);
    *negative = negative.get(..negative.len() - rows).unwrap_or_default();
    rows
}

/// Takes the rows of the greatest key.
fn last<K: Copy + Ord>(negative: &mut &[K], positive: &mut &[K]) -> Option<KeyStep<K>> {
    let key = match (negative.last(), positive.last()) {
        (Some(a), Some(b)) => *a.max(b),
        (a, b) => *a.or(b)?,
    };
    let take = |keys: &mut &[K]| {
        let count = keys.iter().rev().take_while(|other| **other == key).count();
        *keys = keys.get(..keys.len() - count).unwrap_or_default();
        count
    };
    Some(KeyStep(key, take(negative), take(positive)))
}

impl ScoreTable {
    /// A table of steps in ascending order.
    pub(super) fn of_steps((steps, totals): (Vec<Step>, Totals), weighted: bool, exact: bool) -> Self {
        Self { content: Rows::Steps(steps), totals, weighted, exact, logits: false, threads: 1 }
    }

    fn empty() -> Self {
        Self::of_steps((Vec::new(), Totals::default()), false, true)
    }

    /// The steps of one state.
    pub(crate) fn of(state: &Scores) -> Self {
        Self::of_states(&[state], 1)
    }

    /// The steps of all folds together. They are exact where every fold is.
    pub(crate) fn of_folds(folds: &Folds<Scores>, threads: usize) -> Self {
        Self::of_states(&folds.states().iter().collect::<Vec<_>>(), threads)
    }

    /// The steps without each fold, in the order of the folds.
    pub(crate) fn without_each(folds: &Folds<Scores>) -> Vec<Self> {
        let logits = folds.states().iter().any(|state| state.logits);
        without_each(folds).into_iter().map(|table| Self { logits, ..table }).collect()
    }

    fn of_states(states: &[&Scores], threads: usize) -> Self {
        Self { logits: states.iter().any(|state| state.logits), ..Self::of_contents(states, threads) }
    }

    fn of_contents(states: &[&Scores], threads: usize) -> Self {
        let settled: Vec<Cow<'_, Scores>> = states.iter().map(|state| state.within_budget()).collect();
        let exact: Option<Vec<&Exact>> = settled
            .iter()
            .map(|state| match &state.content {
                Content::Exact(exact) => Some(exact),
                Content::Histogram(_) => None,
            })
            .collect();
        let Some(exact) = exact else {
            let mut sum = Histogram::default();
            settled.iter().for_each(|state| sum.merge(&state.histogram()));
            return Self::of_histogram(&sum);
        };
        if exact.iter().all(|exact| exact.weighted.is_empty()) {
            let repeats = |exact: &Exact| (exact.rows(), exact.most_distinct());
            let (rows, distinct) = exact.iter().map(|exact| repeats(exact)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            if rows < 2 * distinct {
                return Self::of_keys(&exact, threads);
            }
        }
        let mut sum = Exact::default();
        exact.iter().for_each(|exact| sum.merge(exact));
        sum.compact();
        Self::of_steps(steps_of(&mut sum.groups_with_keys()), !sum.weighted.is_empty(), true)
    }

    /// Sorted keys of rows of weight 1.
    fn of_keys(exact: &[&Exact], threads: usize) -> Self {
        let narrow = exact
            .iter()
            .all(|exact| matches!((&exact.negative, &exact.positive), (Class::Narrow(_), Class::Narrow(_))));
        let content = if narrow {
            let keys = |class: fn(&Exact) -> &Class| {
                let sets = exact.iter().filter_map(|exact| match class(exact) {
                    Class::Narrow(set) => Some(Cow::Borrowed(set)),
                    Class::Wide(_) => None,
                });
                sorted_keys(&sets.collect::<Vec<_>>(), threads)
            };
            Rows::Narrow { negative: keys(|exact| &exact.negative), positive: keys(|exact| &exact.positive) }
        } else {
            let keys = |class: fn(&Exact) -> &Class| {
                let sets = exact.iter().map(|exact| match class(exact) {
                    Class::Narrow(set) => Cow::Owned(set.mapped(super::widened)),
                    Class::Wide(set) => Cow::Borrowed(set),
                });
                sorted_keys(&sets.collect::<Vec<_>>(), threads)
            };
            Rows::Wide { negative: keys(|exact| &exact.negative), positive: keys(|exact| &exact.positive) }
        };
        let totals = match &content {
            Rows::Narrow { negative, positive } => Totals::of_rows(negative.len(), positive.len()),
            Rows::Wide { negative, positive } => Totals::of_rows(negative.len(), positive.len()),
            Rows::Steps(_) => Totals::default(),
        };
        Self { content, totals, weighted: false, exact: true, logits: false, threads }
    }

    pub(super) fn of_histogram(histogram: &Histogram) -> Self {
        let steps = histogram.bins().into_iter().map(|bin| {
            let side = |class: usize| Side {
                rows: bin.rows.get(class).copied().unwrap_or_default(),
                weight: bin.weight.get(class).copied().unwrap_or_default(),
            };
            Step { low: bin.low, high: bin.high, negative: side(0), positive: side(1) }
        });
        let steps: Vec<Step> = steps.collect();
        // Bins of float16 numbers hold one score each.
        let exact = steps.iter().all(|step| step.low == step.high);
        Self::of_steps((steps, Totals::of_sums(histogram.sums())), histogram.is_weighted(), exact)
    }

    /// The steps in ascending order of score; each holds a row. `rev()` for descending order.
    pub(crate) fn steps(&self) -> Steps<'_> {
        match &self.content {
            Rows::Steps(steps) => Steps::Made(steps.iter()),
            Rows::Narrow { negative, positive } => Steps::Narrow { negative, positive },
            Rows::Wide { negative, positive } => Steps::Wide { negative, positive },
        }
    }

    /// The steps in descending order, those of negative rows between positive ones as one where that is quick. Such a step has
    /// no score.
    pub(crate) fn coarse_steps(&self) -> CoarseSteps<'_> {
        CoarseSteps(self.steps())
    }

    /// Where every row weighs 1 and scores hardly repeat: twice the number of pairs ranked right, with tied pairs counted once,
    /// and the number of tied pairs.
    pub(crate) fn pairs(&self) -> Option<(u128, u128)> {
        match &self.content {
            Rows::Steps(_) => None,
            Rows::Narrow { negative, positive } => Some(pairs(negative, positive, self.threads)),
            Rows::Wide { negative, positive } => Some(pairs(negative, positive, self.threads)),
        }
    }

    /// Where every row weighs 1 and scores are float32 numbers that hardly repeat: the rows of both classes by bins of the
    /// histogram, in ascending order. None where they are float16 numbers, whose bins are others.
    pub(crate) fn key_bins<'a>(&'a self) -> Option<impl Iterator<Item = KeyBin<'a>>> {
        let Rows::Narrow { negative, positive } = &self.content else { return None };
        let is_half = |key: &u32| half_key(f64::from(single_score(*key))).is_some();
        if negative.iter().chain(positive).all(is_half) {
            return None;
        }
        let (mut negative, mut positive) = (negative.as_slice(), positive.as_slice());
        Some(std::iter::from_fn(move || {
            let first = [negative.first(), positive.first()].into_iter().flatten().min()? >> SHIFT;
            let split = |keys: &'a [u32]| keys.split_at(keys.partition_point(|key| key >> SHIFT <= first));
            let ((of_negative, later_negative), (of_positive, later_positive)) = (split(negative), split(positive));
            (negative, positive) = (later_negative, later_positive);
            Some(KeyBin { negative: of_negative, positive: of_positive })
        }))
    }

    /// Rows and weight of both classes: (negative, positive).
    pub(crate) fn totals(&self) -> (Side, Side) {
        (self.totals.negative, self.totals.positive)
    }

    /// The counts and the weight that go with a value of these steps.
    pub(crate) fn tally(&self) -> (Tally, f64) {
        let n = self.totals.negative.rows + self.totals.positive.rows;
        (Tally { n, ..Tally::default() }, self.totals.weight)
    }

    /// How it was computed.
    pub(crate) fn mode(&self) -> &'static str {
        if self.exact { "exact" } else { "histogram" }
    }
}

/// Rows of weight 1 in a bin of the histogram, by their keys in ascending order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyBin<'a> {
    negative: &'a [u32],
    positive: &'a [u32],
}

impl KeyBin<'_> {
    /// The number of rows of each class: (negative, positive).
    pub(crate) fn rows(&self) -> (u64, u64) {
        (self.negative.len() as u64, self.positive.len() as u64)
    }

    /// Adds a function of each score to a sum.
    pub(crate) fn add(&self, sum: &mut ExactSum, of: impl Fn(f64) -> f64) {
        let mut values = [0.0; BLOCK];
        for keys in self.negative.chunks(BLOCK).chain(self.positive.chunks(BLOCK)) {
            values.iter_mut().zip(keys).for_each(|(value, key)| *value = of(f64::from(single_score(*key))));
            sum.add_all(values.get(..keys.len()).unwrap_or_default());
        }
    }
}

/// All keys of some multisets in ascending order.
fn sorted_keys<K: Key + Digits>(sets: &[Cow<'_, Multiset<K>>], threads: usize) -> Vec<K> {
    let expanded: Vec<Vec<K>> = sets
        .iter()
        .map(|set| {
            let mut keys = Vec::new();
            if set.parts().is_none() {
                set.append_to(&mut keys);
            }
            keys
        })
        .collect();
    let mut parts: Vec<&[K]> = Vec::new();
    for (set, expanded) in sets.iter().zip(&expanded) {
        match set.parts() {
            Some(some) => parts.extend(some),
            None => parts.push(expanded),
        }
    }
    radix::sorted(&parts, threads)
}

/// See [`ScoreTable::pairs`]; each thread has some of the positive rows.
fn pairs<K: Digits>(negative: &[K], positive: &[K], threads: usize) -> (u128, u128) {
    let most = positive.len().div_ceil(threads.max(1)).max(FEWEST_SHARED);
    let mut shares = Vec::new();
    let mut rest = positive;
    while let Some(last) = rest.get(most.min(rest.len()).saturating_sub(1)).copied() {
        // Rows of one score stay together.
        let (share, others) = rest.split_at(rest.partition_point(|key| *key <= last));
        shares.push(share);
        rest = others;
    }
    let sums = radix::in_threads(shares.into_iter().map(|share| move || pairs_of(negative, share)).collect());
    sums.into_iter().fold((0, 0), |all, some| (all.0 + some.0, all.1 + some.1))
}

/// Positive rows that are worth a thread of their own.
const FEWEST_SHARED: usize = 1 << 14;

fn pairs_of<K: Digits>(mut negative: &[K], mut positive: &[K]) -> (u128, u128) {
    let (mut twice, mut ties) = (0, 0);
    let mut below = positive.first().map_or(0, |least| negative.partition_point(|other| other < least));
    negative = negative.get(below..).unwrap_or_default();
    while let Some(key) = positive.first().copied() {
        let run = positive.iter().take_while(|other| **other == key).count();
        let before = count_below(negative, key);
        negative = negative.get(before..).unwrap_or_default();
        below += before;
        let tied = negative.iter().take_while(|other| **other == key).count();
        twice += run as u128 * (2 * below + tied) as u128;
        ties += run as u128 * tied as u128;
        negative = negative.get(tied..).unwrap_or_default();
        below += tied;
        positive = positive.get(run..).unwrap_or_default();
    }
    (twice, ties)
}

/// The number of keys below one, of keys in ascending order; quick where there are few.
fn count_below<K: Copy + Ord>(keys: &[K], key: K) -> usize {
    const AT_ONCE: usize = 16;
    let mut below = 0;
    for some in keys.chunks(AT_ONCE) {
        // All of them, without an early end, so that the compiler vectorises it.
        let count = some.iter().fold(0, |count, other| count + usize::from(*other < key));
        below += count;
        if count < AT_ONCE {
            break;
        }
    }
    below
}

/// Rows that agree: key, class, bits of the weight, and their number.
pub(super) type Entry = (u64, bool, u64, u64);

/// The steps of entries, which are sorted here. Sums within a step are taken in the order of the weights, which no split can
/// change; entries that agree are added up first.
pub(super) fn steps_of(entries: &mut [Entry]) -> (Vec<Step>, Totals) {
    entries.sort_unstable();
    steps_of_sorted(entries.iter().copied())
}

/// The steps of entries in ascending order.
pub(super) fn steps_of_sorted(entries: impl Iterator<Item = Entry>) -> (Vec<Step>, Totals) {
    let mut sums = [(0, ExactSum::new()), (0, ExactSum::new())];
    let mut steps: Vec<Step> = Vec::new();
    let mut open: Option<(u64, Step, [Twofold; 2])> = None;
    let close = |open: Option<(u64, Step, [Twofold; 2])>, steps: &mut Vec<Step>| {
        if let Some((_, mut step, [negative, positive])) = open {
            step.negative.weight = negative.value();
            step.positive.weight = positive.value();
            steps.push(step);
        }
    };
    let mut entries = entries.peekable();
    while let Some((key, positive, weight, mut count)) = entries.next() {
        while let Some((.., more)) = entries.next_if(|next| (next.0, next.1, next.2) == (key, positive, weight)) {
            count += more;
        }
        if let Some((rows, sum)) = sums.get_mut(usize::from(positive)) {
            *rows += count;
            sum.add_product(f64::from_bits(weight), count as f64);
        }
        if open.as_ref().is_none_or(|(other, ..)| *other != key) {
            close(open.take(), &mut steps);
            let score = score_of(key);
            open = Some((key, Step { low: score, high: score, ..Step::default() }, Default::default()));
        }
        if let Some((_, step, [negative_sum, positive_sum])) = &mut open {
            let (side, sum) =
                if positive { (&mut step.positive, positive_sum) } else { (&mut step.negative, negative_sum) };
            side.rows += count;
            sum.add_product(f64::from_bits(weight), count as f64);
        }
    }
    close(open, &mut steps);
    (steps, Totals::of_sums(sums))
}

impl Default for ScoreTable {
    fn default() -> Self {
        Self::empty()
    }
}
