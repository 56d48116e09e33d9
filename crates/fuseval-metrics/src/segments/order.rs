//! The order of rows: as scores rank them, and as the rules for ties put rows of equal score.

use std::borrow::Cow;
use std::cmp::Reverse;

use fuseval_core::View;
use fuseval_core::random::keyed_hash;

use super::options::{SegmentOptions, Ties};

/// Rows in rank order.
#[derive(Debug, Clone)]
pub(crate) struct Order<'a> {
    /// Rows of the view, best first.
    pub(crate) rows: Cow<'a, [u32]>,
    /// For each place whether its row has the score of the next one; empty when every row stands alone.
    pub(crate) tied_with_next: &'a [bool],
}

/// Puts the rows of each block into the order of a rule.
pub(super) fn put_in_order(rows: &mut [u32], tied_with_next: &[bool], view: &View<'_>, options: &SegmentOptions) {
    let item = |row: u32| view.items.and_then(|items| items.get(row as usize)).copied().unwrap_or_default();
    let hash = |row: u32| {
        let identity = view.identities.and_then(|identities| identities.get(row as usize)).copied();
        keyed_hash(options.seed, identity.unwrap_or_default())
    };
    let (mut rest, mut tied) = (rows, tied_with_next);
    while !rest.is_empty() {
        let len = 1 + tied.iter().take_while(|tied| **tied).count();
        let (block, after) = rest.split_at_mut(len.min(rest.len()));
        match options.ties {
            // Canonical order has higher labels first.
            Ties::Expected | Ties::Optimistic => {}
            Ties::Pessimistic => block.reverse(),
            Ties::Stable => block.sort_unstable(),
            Ties::KeyAsc => block.sort_by_key(|row| item(*row)),
            Ties::KeyDesc => block.sort_by_key(|row| Reverse(item(*row))),
            Ties::Random => block.sort_by_key(|row| hash(*row)),
        }
        rest = after;
        tied = tied.get(len..).unwrap_or_default();
    }
}
