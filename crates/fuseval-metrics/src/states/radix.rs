//! Sorting of keys by their bits: the upper ones divide the keys into buckets, each of which is then sorted by the others while
//! it stays near the core.
//!
//! ```text
//!   keys      share of thread 1 │ share of thread 2      counted; then each key goes to a place of its share in its bucket
//!   buckets   1 2 │ 1 2 │ 1 2 │ 1 2 │ …                  in ascending order, in each the keys of both shares
//!   sorted    thread 1 ─────▶ │ thread 2 ─────▶          bucket by bucket
//! ```
//! There is one ascending order of the keys, so neither buckets nor threads can be seen in it.

use std::panic::resume_unwind;
use std::slice::IterMut;

/// Bits of a digit: its counts stay in the first-level cache.
const DIGIT: u32 = 9;
const DIGITS: usize = 1 << DIGIT;
/// Fewer keys than this are sorted by comparison.
const FEWEST: usize = 1 << 8;
/// Keys from which it is worth dividing them into buckets.
const FEWEST_DIVIDED: usize = 1 << 15;
const BUCKETS: usize = 1 << 10;
/// Keys that are looked at to tell where most of them lie.
const SAMPLE: usize = 1 << 12;
/// So many of them at either end may be strays: the buckets divide what lies between.
const STRAYS: usize = 8;

/// An unsigned integer.
pub(crate) trait Digits: Copy + Ord + Default + Into<u64> + Send + Sync {
    fn value(self) -> u64 {
        self.into()
    }
}

impl Digits for u32 {}
impl Digits for u64 {}

/// Sorts keys in ascending order.
pub(crate) fn sort<K: Digits>(keys: &mut Vec<K>) {
    if keys.len() < FEWEST_DIVIDED {
        sort_bucket(keys, &mut Vec::new());
    } else {
        *keys = sorted(&[keys], 1);
    }
}

/// All keys of some parts in ascending order, by so many threads.
pub(crate) fn sorted<K: Digits>(parts: &[&[K]], threads: usize) -> Vec<K> {
    let count: usize = parts.iter().map(|part| part.len()).sum();
    if count < FEWEST_DIVIDED {
        let mut keys = parts.concat();
        sort_bucket(&mut keys, &mut Vec::new());
        return keys;
    }
    let buckets = &Buckets::of(parts, count);
    let per_thread = count.div_ceil(threads.max(1));
    let shares = shares(parts, per_thread);
    let counts = in_threads(shares.iter().map(|share| move || buckets.counts(share)).collect());
    let mut keys = vec![K::default(); count];
    let places = places(&mut keys, &counts);
    in_threads(shares.iter().zip(places).map(|(share, places)| move || buckets.put(share, places)).collect());
    in_threads(works(&mut keys, &counts, per_thread).into_iter().map(|work| move || sort_buckets(work)).collect());
    keys
}

/// What some pieces of work give, each done by a thread of its own.
pub(crate) fn in_threads<R: Send>(works: Vec<impl FnOnce() -> R + Send>) -> Vec<R> {
    if works.len() < 2 {
        return works.into_iter().map(|work| work()).collect();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = works.into_iter().map(|work| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The keys in shares of at most so many.
fn shares<'k, K>(parts: &[&'k [K]], most: usize) -> Vec<Vec<&'k [K]>> {
    let mut shares = vec![Vec::new()];
    let mut room = most;
    for part in parts {
        let mut rest = *part;
        while !rest.is_empty() {
            if room == 0 {
                shares.push(Vec::new());
                room = most;
            }
            let (now, later) = rest.split_at(room.min(rest.len()));
            shares.last_mut().into_iter().for_each(|share| share.push(now));
            (rest, room) = (later, room - now.len());
        }
    }
    shares
}

/// Ranges of keys that are equally wide; the first and the last one hold whatever lies beyond.
struct Buckets<K> {
    least: K,
    most: K,
    shift: u32,
}

impl<K: Digits> Buckets<K> {
    fn of(parts: &[&[K]], count: usize) -> Self {
        let step = (count / SAMPLE).max(1);
        let mut sample: Vec<K> = parts.iter().flat_map(|part| part.iter().step_by(step)).copied().collect();
        sample.sort_unstable();
        let at = |place: usize| sample.get(place).copied().unwrap_or_default();
        let (least, most) = (at(STRAYS.min(sample.len() / 2)), at(sample.len().saturating_sub(STRAYS + 1)));
        let (least, most) = (least.min(most), most.max(least));
        let width = u64::BITS - (most.value() - least.value()).leading_zeros();
        Self { least, most, shift: width.saturating_sub(BUCKETS.trailing_zeros()) }
    }

    #[inline]
    fn place(&self, key: K) -> usize {
        let above = key.clamp(self.least, self.most).value() - self.least.value();
        (above >> self.shift) as usize % BUCKETS
    }

    /// The number of keys in each bucket.
    #[allow(clippy::indexing_slicing)] // the place of a bucket is below `BUCKETS`
    fn counts(&self, share: &[&[K]]) -> Vec<usize> {
        let mut counts = [0u32; BUCKETS];
        let mut all = vec![0usize; BUCKETS];
        // Now and then the small counts go to the large ones, before they can overflow.
        for keys in share.iter().flat_map(|part| part.chunks(1 << 30)) {
            for key in keys {
                counts[self.place(*key)] += 1;
            }
            all.iter_mut().zip(&mut counts).for_each(|(all, count)| *all += std::mem::take(count) as usize);
        }
        all
    }

    /// Puts each key into the next place of its bucket.
    fn put(&self, share: &[&[K]], mut places: Vec<IterMut<'_, K>>) {
        for key in share.iter().copied().flatten() {
            if let Some(place) = places.get_mut(self.place(*key)).and_then(Iterator::next) {
                *place = *key;
            }
        }
    }
}

/// For each share the places of its keys in each bucket.
fn places<'k, K>(keys: &'k mut [K], counts: &[Vec<usize>]) -> Vec<Vec<IterMut<'k, K>>> {
    let mut places: Vec<Vec<IterMut<'k, K>>> = counts.iter().map(|_| Vec::with_capacity(BUCKETS)).collect();
    let mut rest = keys;
    for bucket in 0..BUCKETS {
        for (counts, places) in counts.iter().zip(&mut places) {
            let count = counts.get(bucket).copied().unwrap_or_default().min(rest.len());
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            places.push(now.iter_mut());
            rest = later;
        }
    }
    places
}

/// The buckets for each thread, in ascending order, each thread with about so many keys.
fn works<'k, K>(keys: &'k mut [K], counts: &[Vec<usize>], per_thread: usize) -> Vec<Vec<&'k mut [K]>> {
    let mut works: Vec<Vec<&'k mut [K]>> = vec![Vec::new()];
    let (mut rest, mut given) = (keys, 0);
    for bucket in 0..BUCKETS {
        let count = counts.iter().filter_map(|counts| counts.get(bucket)).sum::<usize>().min(rest.len());
        let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
        if given >= per_thread * works.len() {
            works.push(Vec::new());
        }
        if let Some(work) = works.last_mut() {
            work.push(now);
        }
        (rest, given) = (later, given + count);
    }
    works
}

fn sort_buckets<K: Digits>(buckets: Vec<&mut [K]>) {
    let mut scratch = Vec::new();
    buckets.into_iter().for_each(|bucket| sort_bucket(bucket, &mut scratch));
}

/// Sorts keys by the digits in which they differ, the lowest first.
#[allow(clippy::indexing_slicing)] // digits are below `DIGITS`, and the counts add up to the number of keys
fn sort_bucket<K: Digits>(keys: &mut [K], scratch: &mut Vec<K>) {
    let Some(first) = keys.first().copied() else { return };
    if keys.len() < FEWEST {
        return keys.sort_unstable();
    }
    let differing = keys.iter().fold(0, |bits, key| bits | (key.value() ^ first.value()));
    let width = u64::BITS - differing.leading_zeros();
    let digit = |key: K, shift: u32| (key.value() >> shift) as usize % DIGITS;
    if scratch.len() < keys.len() {
        scratch.resize(keys.len(), K::default());
    }
    let (mut from, mut to) = (keys, scratch.as_mut_slice());
    let count = from.len();
    let mut in_scratch = false;
    for shift in (0..width).step_by(DIGIT as usize) {
        let mut places = [0usize; DIGITS];
        for key in &from[..count] {
            places[digit(*key, shift)] += 1;
        }
        let mut place = 0;
        for start in &mut places {
            place += std::mem::replace(start, place);
        }
        for key in &from[..count] {
            let next = &mut places[digit(*key, shift)];
            to[*next] = *key;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
        in_scratch = !in_scratch;
    }
    if in_scratch {
        to[..count].copy_from_slice(&from[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;

    #[test]
    fn sorts_as_comparison_does() {
        let mut rng = KeyedRng::new(2, &["radix"]);
        let few = [(0, 64), (10, 64), (5000, 64), (5000, 20), (3000, 12), (2000, 0), (4096, 33)];
        let many = [(40_000, 64), (40_000, 31), (50_000, 9), (33_000, 1), (33_000, 0)];
        for (len, bits) in few.into_iter().chain(many) {
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
        for bits in [32, 20, 8, 1] {
            let draw = |rng: &mut KeyedRng| (rng.next_u64() >> (64 - bits)) as u32;
            let mut keys: Vec<u32> = (0..3 * FEWEST_DIVIDED + 7).map(|_| draw(&mut rng)).collect();
            // Strays far away from all others.
            keys.iter_mut().step_by(9999).for_each(|key| *key |= 0xf000_0000);
            let mut expected = keys.clone();
            expected.sort_unstable();
            let (a, b) = keys.split_at(1000);
            for threads in [1, 2, 3, 8] {
                assert!(sorted(&[a, b, &[]], threads) == expected, "{bits} bits, {threads} threads");
            }
        }
    }
}
