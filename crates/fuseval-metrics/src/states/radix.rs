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

/// Keys from which sorting is worth a second thread.
const FEWEST_SHARED: usize = 1 << 19;
/// Keys that are looked at to share the others out evenly.
const SAMPLE: usize = 1 << 12;

/// All keys of some parts in ascending order, each range of keys sorted by a thread of its own. There is one such order, so the
/// number of threads cannot be seen in it.
pub(crate) fn sorted<K: Digits + Send + Sync>(parts: &[&[K]], threads: usize) -> Vec<K> {
    let count: usize = parts.iter().map(|part| part.len()).sum();
    if threads < 2 || count < FEWEST_SHARED {
        let mut keys = parts.concat();
        sort(&mut keys);
        return keys;
    }
    let step = count / SAMPLE;
    let mut sample: Vec<K> = parts.iter().flat_map(|part| part.iter().step_by(step)).copied().collect();
    sample.sort_unstable();
    let pivot = |thread: usize| sample.get(thread * sample.len() / threads).copied();
    let ranges = (0..threads).map(|thread| {
        let above = if thread == 0 { None } else { pivot(thread) };
        let below = if thread + 1 == threads { None } else { pivot(thread + 1) };
        (above, below)
    });
    let sorted: Vec<Vec<K>> = std::thread::scope(|scope| {
        let workers: Vec<_> = ranges.map(|range| scope.spawn(move || sorted_range(parts, range))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let mut sorted = sorted.into_iter();
    let mut all = sorted.next().unwrap_or_default();
    all.reserve_exact(count - all.len());
    sorted.for_each(|part| all.extend_from_slice(&part));
    all
}

/// The keys from one key on and below another, in ascending order.
fn sorted_range<K: Digits>(parts: &[&[K]], (from, below): (Option<K>, Option<K>)) -> Vec<K> {
    const CHUNK: usize = 512;
    let mut keys = Vec::new();
    for chunk in parts.iter().flat_map(|part| part.chunks(CHUNK)) {
        // Every key is written, and the place moves on where it is in the range: no branch to guess wrong.
        let (mut kept, mut len) = ([K::default(); CHUNK], 0);
        for key in chunk {
            if let Some(slot) = kept.get_mut(len) {
                *slot = *key;
            }
            let inside = from.is_none_or(|from| *key >= from) & below.is_none_or(|below| *key < below);
            len += usize::from(inside);
        }
        keys.extend_from_slice(kept.get(..len).unwrap_or_default());
    }
    sort(&mut keys);
    keys
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

    #[test]
    fn threads_share_the_keys_without_a_trace() {
        let mut rng = KeyedRng::new(3, &["shared"]);
        for bits in [32, 8, 1] {
            let keys: Vec<u32> = (0..FEWEST_SHARED + 7).map(|_| (rng.next_u64() >> (64 - bits)) as u32).collect();
            let (a, b) = keys.split_at(1000);
            let alone = sorted(&[a, b], 1);
            for threads in [2, 3, 8] {
                assert!(sorted(&[a, b], threads) == alone, "{bits} bits, {threads} threads");
            }
        }
    }
}
