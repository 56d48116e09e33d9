//! One ranked segment, as formulas see it: labels in rank order, with rows of equal score as blocks.

use std::borrow::Cow;
use std::collections::HashSet;

use fuseval_core::{LabelSide, Marks, RankedSegment, View};

use super::options::{SegmentOptions, Ties};
use super::order::{Order, put_in_order};

/// A ranked segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The place among the segments of the view.
    place: usize,
    /// Rows of the view in rank order.
    rows: &'a [u32],
    /// Labels in rank order.
    pub(crate) labels: &'a [f64],
    /// For each place whether its row has the score of the next one; empty when every row stands alone: without ties, and
    /// wherever a rule has put tied rows in order.
    tied_with_next: &'a [bool],
    /// Where relevant and tied rows are; none in a long segment, and where something else is relevant than labels above 0.
    marks: Option<Marks>,
    /// The number that depends on labels alone; see `SegmentMetric::label_side`. Rows without a rank count in it.
    pub(crate) label_side: f64,
    /// The cut-off, at most the number of ranked rows.
    pub(crate) top: usize,
    /// The cut-off as asked for.
    pub(crate) k: Option<usize>,
    options: &'a SegmentOptions,
    tied_across: bool,
    view: &'a View<'a>,
}

/// Rows of equal score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The number of rows ranked above it.
    pub(crate) before: usize,
    /// The labels of its rows.
    pub(crate) labels: &'a [f64],
    /// How many of its rows are relevant.
    pub(crate) relevant: usize,
    /// How many of its places lie above the cut-off.
    pub(crate) inside: usize,
}

/// Memory that segments of one view share.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    rows: Vec<u32>,
    labels: Vec<f64>,
    tied: Vec<bool>,
}

impl<'a> Segment<'a> {
    pub(super) fn new(
        view: &'a View<'a>,
        place: usize,
        options: &'a SegmentOptions,
        side: &LabelSide,
        scratch: &'a mut Scratch,
    ) -> Self {
        let none = RankedSegment { rows: &[], labels: &[], tied_with_next: &[], marks: None };
        let ranked = view.ranking.map_or(none, |ranking| ranking.segment_at(place));
        let mut label_side = view.label_side.get(place).copied().unwrap_or_default();
        let (mut rows, mut labels, mut tied_with_next) = (ranked.rows, ranked.labels, ranked.tied_with_next);
        let mut marks = ranked.marks.filter(|_| options.rel_threshold.is_none());
        let across = |tied: &[bool], rows: usize| {
            let at = options.k.filter(|k| *k < rows).and_then(|k| k.checked_sub(1));
            at.and_then(|at| tied.get(at)).copied().unwrap_or_default()
        };
        let mut tied_across = across(tied_with_next, labels.len());
        let orders = !tied_with_next.is_empty() && options.ties != Ties::Expected;
        if orders || options.first_of_item {
            scratch.fill(&ranked);
            if orders {
                put_in_order(&mut scratch.rows, ranked.tied_with_next, view, options);
                scratch.tied.clear();
            }
            scratch.read_labels(view);
            if options.first_of_item {
                scratch.keep_first_of_items(view);
                tied_across = across(&scratch.tied, scratch.labels.len()) || orders && tied_across;
                label_side = (side.of)(&scratch.with_unranked(view, place));
            }
            (rows, labels, tied_with_next) = (&scratch.rows, &scratch.labels, &scratch.tied);
            marks = None;
        }
        let top = options.k.unwrap_or(usize::MAX).min(labels.len());
        Self { place, rows, labels, tied_with_next, marks, label_side, top, k: options.k, options, tied_across, view }
    }

    /// Whether a row with this label is relevant.
    pub(crate) fn is_relevant(&self, label: f64) -> bool {
        self.options.is_relevant(label)
    }

    /// The number of relevant rows among some.
    fn relevant(&self, labels: &[f64]) -> usize {
        labels.iter().filter(|label| self.is_relevant(**label)).count()
    }

    /// Whether rows tie across the cut-off.
    pub(super) fn is_tied_across_k(&self) -> bool {
        self.tied_across
    }

    /// Whether every row stands alone: then [`Self::blocks`] are single rows, and the plain formula does.
    pub(crate) fn is_strict(&self) -> bool {
        self.tied_with_next.is_empty()
    }

    /// The labels above the cut-off, in rank order.
    pub(crate) fn top_labels(&self) -> &'a [f64] {
        self.labels.get(..self.top).unwrap_or(self.labels)
    }

    /// Whether all rows have the same score.
    pub(crate) fn is_constant(&self) -> bool {
        self.blocks_to(1).all(|block| block.labels.len() == self.labels.len())
    }

    /// The blocks of equal score that begin above the cut-off, in rank order.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'a>> {
        self.blocks_to(self.top)
    }

    fn blocks_to(&self, cut: usize) -> impl Iterator<Item = Block<'a>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            if from >= cut {
                return None;
            }
            let tied = self.tied_with_next.get(from..).unwrap_or_default();
            let block = self.block(from, from + 1 + tied.iter().take_while(|tied| **tied).count(), cut)?;
            from += block.labels.len();
            Some(block)
        })
    }

    /// The blocks with a relevant row that begin above the cut-off, in rank order.
    #[inline]
    pub(crate) fn relevant_blocks(&self) -> impl Iterator<Item = Block<'a>> {
        self.relevant_blocks_to(self.top)
    }

    #[inline]
    fn relevant_blocks_to(&self, cut: usize) -> impl Iterator<Item = Block<'a>> {
        let mut blocks = self.blocks_to(cut);
        let (marked, Marks { mut positive, tied }) = (self.marks.is_some(), self.marks.unwrap_or_default());
        std::iter::from_fn(move || {
            if !marked {
                return blocks.find(|block| block.relevant > 0);
            }
            if positive == 0 {
                return None;
            }
            let (from, to) = marked_block(positive, tied);
            positive &= u64::MAX.checked_shl(to as u32).unwrap_or_default();
            if from < cut { self.block(from, to, cut) } else { None }
        })
    }

    fn block(&self, from: usize, to: usize, cut: usize) -> Option<Block<'a>> {
        let labels = self.labels.get(from..to)?;
        Some(Block { before: from, labels, relevant: self.relevant(labels), inside: labels.len().min(cut - from) })
    }

    /// The expected number of relevant rows among the first `k`.
    pub(crate) fn hits(&self, k: usize) -> f64 {
        let mut hits = 0.0;
        for Block { labels, relevant, inside, .. } in self.relevant_blocks_to(k) {
            let rows = labels.len();
            hits += if inside == rows { relevant as f64 } else { (inside * relevant) as f64 / rows as f64 };
        }
        hits
    }

    /// The first row of the segment in the view.
    pub(crate) fn first_row(&self) -> usize {
        self.view.segments.get(self.place).copied().unwrap_or_default()
    }

    /// The number of rows of the segment, with those that have no rank.
    pub(crate) fn all_rows(&self) -> usize {
        let end = self.view.segments.get(self.place + 1).copied().unwrap_or_default();
        end.saturating_sub(self.first_row())
    }

    /// The rows in rank order.
    pub(crate) fn order(&self) -> Order<'a> {
        Order { rows: Cow::Borrowed(self.rows), tied_with_next: self.tied_with_next }
    }

    /// The rows as the baseline ranks them, ties under the same rule; `None` where the view has no baseline.
    pub(crate) fn baseline_order(&self) -> Option<Order<'a>> {
        let ranked = self.view.baseline_ranking?.segment_at(self.place);
        let (mut rows, mut tied_with_next) = (Cow::Borrowed(ranked.rows), ranked.tied_with_next);
        if !tied_with_next.is_empty() && self.options.ties != Ties::Expected {
            put_in_order(rows.to_mut(), tied_with_next, self.view, self.options);
            tied_with_next = &[];
        }
        Some(Order { rows, tied_with_next })
    }
}

/// The places of the first block with a positive row.
#[inline]
fn marked_block(positive: u64, tied: u64) -> (usize, usize) {
    let place = positive.trailing_zeros();
    // It begins after the last place before this one that does not tie with its next, and ends with the next such place.
    let before = !tied & ((1 << place) - 1);
    ((u64::BITS - before.leading_zeros()) as usize, (place + 1 + (tied >> place).trailing_ones()) as usize)
}

impl Scratch {
    fn fill(&mut self, ranked: &RankedSegment<'_>) {
        self.rows.clear();
        self.rows.extend_from_slice(ranked.rows);
        self.tied.clear();
        self.tied.extend_from_slice(ranked.tied_with_next);
    }

    fn read_labels(&mut self, view: &View<'_>) {
        self.labels.clear();
        let label = |row: &u32| view.labels.get(*row as usize).copied().unwrap_or_default();
        self.labels.extend(self.rows.iter().map(label));
    }

    /// Leaves out rows of items that stand higher up.
    fn keep_first_of_items(&mut self, view: &View<'_>) {
        let mut seen = HashSet::new();
        let tied = std::mem::take(&mut self.tied);
        let mut kept = Vec::with_capacity(self.rows.len());
        for (place, row) in self.rows.iter().enumerate() {
            let item = view.items.and_then(|items| items.get(*row as usize));
            if item.is_none_or(|item| seen.insert(*item)) {
                kept.push(*row);
                if !tied.is_empty() {
                    self.tied.push(tied.get(place).copied().unwrap_or_default());
                }
            } else if let (Some(last), Some(false)) = (self.tied.last_mut(), tied.get(place)) {
                // The row that ended the block is gone: the one before it ends it now.
                *last = false;
            }
        }
        self.rows = kept;
        self.read_labels(view);
    }

    /// The labels that count in the label side: those of the rows kept, and of items without a rank.
    fn with_unranked(&self, view: &View<'_>, place: usize) -> Vec<f64> {
        let mut labels = self.labels.clone();
        let border = |place: usize| view.segments.get(place).copied().unwrap_or_default();
        for row in border(place)..border(place + 1) {
            if view.scores.get(row).is_some_and(|score| score.is_nan()) {
                labels.extend(view.labels.get(row));
            }
        }
        labels
    }
}
