//! Rows that two rankings of a segment have in common in their first d places, for each d.

use super::order::Order;

/// One of the two rankings, gone through block by block.
struct Side<'a> {
    order: &'a Order<'a>,
    /// The number of the block of each row of the segment; none for rows without a rank.
    block_of: Vec<u32>,
    /// The places of the block at hand and its number. Past the last place it is empty.
    from: usize,
    to: usize,
    number: u32,
}

impl<'a> Side<'a> {
    fn new(order: &'a Order<'a>, first_row: usize, rows: usize) -> Self {
        let mut block_of = vec![u32::MAX; rows];
        let mut number = 0;
        for (place, row) in order.rows.iter().enumerate() {
            if let Some(block) = block_of.get_mut((*row as usize).wrapping_sub(first_row)) {
                *block = number;
            }
            number += u32::from(!order.tied_with_next.get(place).copied().unwrap_or_default());
        }
        let mut side = Self { order, block_of, from: 0, to: 0, number: 0 };
        side.to = side.end_of_block();
        side
    }

    fn end_of_block(&self) -> usize {
        let tied = self.order.tied_with_next.get(self.from..).unwrap_or_default();
        (self.from + 1 + tied.iter().take_while(|tied| **tied).count()).min(self.order.rows.len())
    }

    /// Goes on to the next block.
    fn advance(&mut self) {
        self.from = self.to;
        self.to = self.end_of_block();
        self.number += 1;
    }

    /// The share of the block at hand that the first `depth` places hold.
    fn share(&self, depth: usize) -> f64 {
        if self.from == self.to { 0.0 } else { (depth - self.from) as f64 / (self.to - self.from) as f64 }
    }

    /// Of the rows of the block at hand: how many lie in earlier blocks of the other ranking, and in its block at hand.
    fn shared_with(&self, other: &Self, first_row: usize) -> (u64, u64) {
        let (mut earlier, mut same) = (0, 0);
        for row in self.order.rows.get(self.from..self.to).unwrap_or_default() {
            let block = other.block_of.get((*row as usize).wrapping_sub(first_row)).copied().unwrap_or(u32::MAX);
            earlier += u64::from(block < other.number);
            same += u64::from(block == other.number);
        }
        (earlier, same)
    }
}

/// Calls `f` with each depth from 1 to `depth` and the expected number of rows that the first places of both rankings have in
/// common, until it returns false. Tied rows stand in every order with the same probability, independently in the two
/// rankings. The segment has `rows` rows from `first_row` on.
///
/// At each depth a ranking has blocks that lie wholly above, and one of which a share lies above; so the expectation is a sum
/// of four counts, which change only where a block ends.
pub(crate) fn overlaps(
    [a, b]: [&Order<'_>; 2],
    first_row: usize,
    rows: usize,
    depth: usize,
    mut f: impl FnMut(usize, f64) -> bool,
) {
    if a.tied_with_next.is_empty() && b.tied_with_next.is_empty() {
        return strict_overlaps([&a.rows, &b.rows], first_row, rows, depth, f);
    }
    let (mut a, mut b) = (Side::new(a, first_row, rows), Side::new(b, first_row, rows));
    // Rows above in both; at hand in a and above in b; above in a and at hand in b; at hand in both.
    let mut above = 0;
    let (mut at_hand_in_a, mut both) = a.shared_with(&b, first_row);
    let mut at_hand_in_b = 0;
    for depth in 1..=depth {
        if depth > a.to && a.from < a.to {
            above += at_hand_in_a;
            at_hand_in_b += both;
            a.advance();
            (at_hand_in_a, both) = a.shared_with(&b, first_row);
        }
        if depth > b.to && b.from < b.to {
            above += at_hand_in_b;
            at_hand_in_a += both;
            b.advance();
            (at_hand_in_b, both) = b.shared_with(&a, first_row);
        }
        let (share_a, share_b) = (a.share(depth), b.share(depth));
        let expected = above as f64
            + share_a * at_hand_in_a as f64
            + share_b * at_hand_in_b as f64
            + share_a * share_b * both as f64;
        if !f(depth, expected) {
            return;
        }
    }
}

/// The same where no rows tie: a row is in common from the lower of its two ranks on.
fn strict_overlaps(
    [a, b]: [&[u32]; 2],
    first_row: usize,
    rows: usize,
    depth: usize,
    mut f: impl FnMut(usize, f64) -> bool,
) {
    let mut place_in_a = vec![usize::MAX; rows];
    for (place, row) in a.iter().enumerate() {
        if let Some(to) = place_in_a.get_mut((*row as usize).wrapping_sub(first_row)) {
            *to = place;
        }
    }
    let mut from_here = vec![0u32; depth];
    for (place, row) in b.iter().enumerate() {
        let other = place_in_a.get((*row as usize).wrapping_sub(first_row)).copied().unwrap_or(usize::MAX);
        if let Some(count) = from_here.get_mut(place.max(other)) {
            *count += 1;
        }
    }
    let mut common = 0;
    for (depth, count) in (1..).zip(from_here) {
        common += count;
        if !f(depth, f64::from(common)) {
            return;
        }
    }
}
