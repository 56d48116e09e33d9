//! Sorting of keys by their digits: keys of one width in as many passes as there are digits that differ.

/// Bits of a digit: its counts stay in the first-level cache.
const DIGIT: u32 = 11;
const DIGITS: usize = 1 << DIGIT;
/// Fewer keys than this are sorted by comparison.
const FEWEST: usize = 1 << 10;

/// A key that has digits.
pub(crate) trait Digits: Copy + Ord + Default {
    const BITS: u32;
    /// The digit that begins at a bit.
    fn digit(self, shift: u32) -> usize;
}

impl Digits for u32 {
    const BITS: u32 = 32;

    fn digit(self, shift: u32) -> usize {
        (self >> shift) as usize & (DIGITS - 1)
    }
}

impl Digits for u64 {
    const BITS: u32 = 64;

    fn digit(self, shift: u32) -> usize {
        (self >> shift) as usize & (DIGITS - 1)
    }
}

/// Sorts keys in ascending order.
#[allow(clippy::indexing_slicing)] // digits are below `DIGITS`, and the counts add up to the number of keys
pub(crate) fn sort<K: Digits>(keys: &mut Vec<K>) {
    if keys.len() < FEWEST {
        keys.sort_unstable();
        return;
    }
    let passes = K::BITS.div_ceil(DIGIT) as usize;
    let mut counts = vec![[0usize; DIGITS]; passes];
    for key in keys.iter() {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[key.digit(pass as u32 * DIGIT)] += 1;
        }
    }
    let mut from = std::mem::take(keys);
    let mut to = vec![K::default(); from.len()];
    for (pass, counts) in counts.iter().enumerate() {
        // A digit that all keys share orders nothing.
        if counts.contains(&from.len()) {
            continue;
        }
        let mut place = 0;
        let mut places = [0usize; DIGITS];
        for (start, count) in places.iter_mut().zip(counts) {
            *start = place;
            place += count;
        }
        for key in &from {
            let next = &mut places[key.digit(pass as u32 * DIGIT)];
            to[*next] = *key;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    *keys = from;
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;

    #[test]
    fn sorts_as_comparison_does() {
        let mut rng = KeyedRng::new(2, &["radix"]);
        for (len, bits) in [(0, 64), (10, 64), (5000, 64), (5000, 20), (3000, 12), (2000, 0), (4096, 33)] {
            let draw = |rng: &mut KeyedRng| if bits == 0 { 7 } else { rng.next_u64() >> (64 - bits) };
            let mut wide: Vec<u64> = (0..len).map(|_| draw(&mut rng)).collect();
            let mut narrow: Vec<u32> = wide.iter().map(|key| *key as u32).collect();
            let (mut sorted_wide, mut sorted_narrow) = (wide.clone(), narrow.clone());
            sorted_wide.sort_unstable();
            sorted_narrow.sort_unstable();
            sort(&mut wide);
            sort(&mut narrow);
            assert!(wide == sorted_wide && narrow == sorted_narrow, "{len} keys of {bits} bits");
        }
    }
}
