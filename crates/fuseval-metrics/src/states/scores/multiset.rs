//! A multiset of keys: a sorted run of distinct keys with their counts, and new keys that are sorted in when they have grown to
//! a multiple of the run.

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::{Result, state};

use super::pending::Pending;
use crate::states::radix;

/// Keys that are added before the first sort.
const LEAST_PENDING: usize = 4096;

/// An unsigned integer that orders as the score it stands for.
pub(super) trait Key: Copy + Ord + 'static {
    const BYTES: usize;
    fn write(self, out: &mut Writer);
    fn read(input: &mut Reader<'_>) -> Result<Self>;
    /// Sorts keys; an order of equal keys cannot be seen.
    fn sort(keys: &mut Vec<Self>);
}

impl Key for u32 {
    const BYTES: usize = 4;

    fn write(self, out: &mut Writer) {
        out.u32(self);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self> {
        input.u32()
    }

    fn sort(keys: &mut Vec<Self>) {
        radix::sort(keys);
    }
}

impl Key for u64 {
    const BYTES: usize = 8;

    fn write(self, out: &mut Writer) {
        out.u64(self);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self> {
        input.u64()
    }

    fn sort(keys: &mut Vec<Self>) {
        radix::sort(keys);
    }
}

/// Where keys repeat, the buffer is sorted in when it has grown to so many times the length of the run: so rows do not cost
/// memory.
const GROWTH_REPEATING: usize = 4;
/// Where keys hardly repeat, sorting would save none: the buffer is looked at again when it has grown so many times.
const GROWTH_DISTINCT: usize = 8;
/// The latest keys that are looked at to tell.
const SAMPLE: usize = 1024;

#[derive(Debug, Clone)]
pub(super) struct Multiset<K> {
    run: Vec<K>,
    /// How often each key of the run occurs; empty when each occurs once.
    counts: Vec<u64>,
    pending: Pending<K>,
    /// Whether most keys of the run occur more than once.
    repeating: bool,
    /// The number of new keys at which they are looked at.
    limit: usize,
}

impl<K> Default for Multiset<K> {
    fn default() -> Self {
        Self {
            run: Vec::new(),
            counts: Vec::new(),
            pending: Pending::default(),
            repeating: false,
            limit: LEAST_PENDING,
        }
    }
}

impl<K: Key> Multiset<K> {
    /// A multiset whose keys are known to repeat.
    pub(super) fn of_few_keys() -> Self {
        Self { repeating: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, key: K) {
        self.pending.push(key);
        if self.pending.len() >= self.limit {
            self.look_at_pending();
        }
    }

    /// Sorts the buffer in, if that is likely to make it shorter.
    fn look_at_pending(&mut self) {
        let mut sample = self.pending.latest(SAMPLE);
        sample.sort_unstable();
        let drawn = sample.len();
        sample.dedup();
        if 2 * sample.len() > drawn && !self.repeating {
            self.limit = GROWTH_DISTINCT * self.pending.len();
            return;
        }
        self.compact();
        self.limit = LEAST_PENDING.max(GROWTH_REPEATING * self.run.len());
    }

    /// Sorts the new keys into the run.
    pub(super) fn compact(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending).into_keys();
        K::sort(&mut pending);
        let mut other = Self::default();
        for same in pending.chunk_by(|a, b| a == b) {
            other.append(same.first().copied(), same.len() as u64);
        }
        self.merge_run(&other);
        self.look_for_repeats();
    }

    fn look_for_repeats(&mut self) {
        self.repeating = self.len() > self.run.len().saturating_mul(2) as u64;
    }

    /// The multiset of ascending keys with their counts.
    pub(super) fn of_sorted(groups: impl Iterator<Item = (K, u64)>) -> Self {
        let mut set = Self::default();
        groups.for_each(|(key, count)| set.append(Some(key), count));
        set.look_for_repeats();
        set
    }

    /// Appends a key that is above all others.
    fn append(&mut self, key: Option<K>, count: u64) {
        let Some(key) = key else { return };
        if count > 1 && self.counts.is_empty() {
            self.counts.resize(self.run.len(), 1);
        }
        self.run.push(key);
        if count > 1 || !self.counts.is_empty() {
            self.counts.push(count);
        }
    }

    fn merge_run(&mut self, other: &Self) {
        if self.run.is_empty() {
            self.run.clone_from(&other.run);
            self.counts.clone_from(&other.counts);
            return;
        }
        let mut merged = Self::default();
        merged.run.reserve_exact(self.run.len() + other.run.len());
        let mut own = self.groups().peekable();
        for (key, count) in other.groups() {
            while let Some((before, times)) = own.next_if(|(own, _)| *own < key) {
                merged.append(Some(before), times);
            }
            let same = own.next_if(|(own, _)| *own == key).map_or(0, |(_, times)| times);
            merged.append(Some(key), count + same);
        }
        for (key, times) in own {
            merged.append(Some(key), times);
        }
        *self = Self { pending: std::mem::take(&mut self.pending), ..merged };
    }

    /// The distinct keys of the run with their counts, ascending. Complete after [`Self::compact`].
    pub(super) fn groups(&self) -> impl Iterator<Item = (K, u64)> {
        let counts = self.counts.iter().copied().chain(std::iter::repeat(1));
        self.run.iter().copied().zip(counts)
    }

    /// The distinct keys of the run. Complete after [`Self::compact`].
    pub(super) fn distinct(&self) -> usize {
        self.run.len()
    }

    /// All keys with repeats, in no order.
    pub(super) fn each(&self, mut f: impl FnMut(K, u64)) {
        self.groups().for_each(|(key, count)| f(key, count));
        self.pending.parts().flatten().for_each(|key| f(*key, 1));
    }

    /// The number of keys, repeats counted.
    pub(super) fn len(&self) -> u64 {
        let run = if self.counts.is_empty() {
            self.run.len() as u64
        } else {
            self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        run.saturating_add(self.pending.len() as u64)
    }

    /// An upper bound of the number of distinct keys, without sorting.
    pub(super) fn most_distinct(&self) -> usize {
        self.run.len() + self.pending.len()
    }

    /// Adds many keys.
    pub(super) fn extend(&mut self, keys: &[K]) {
        self.pending.extend(keys);
        if self.pending.len() >= self.limit {
            self.look_at_pending();
        }
    }

    /// Whether all keys are such.
    pub(super) fn all(&self, mut f: impl FnMut(K) -> bool) -> bool {
        self.run.iter().chain(self.pending.parts().flatten()).all(|key| f(*key))
    }

    /// The keys as they lie, if none is counted more than once.
    pub(super) fn parts(&self) -> Option<impl Iterator<Item = &[K]>> {
        self.counts.is_empty().then(|| std::iter::once(self.run.as_slice()).chain(self.pending.parts()))
    }

    /// Appends all keys, repeats included, to a vector, in no order.
    pub(super) fn append_to(&self, keys: &mut Vec<K>) {
        if self.counts.is_empty() {
            keys.extend_from_slice(&self.run);
        } else {
            for (key, count) in self.groups() {
                keys.extend(std::iter::repeat_n(key, count as usize));
            }
        }
        self.pending.parts().for_each(|part| keys.extend_from_slice(part));
    }

    /// Adds the keys of another multiset and takes its memory over where that saves a copy.
    pub(super) fn absorb(&mut self, other: Self) {
        if other.repeating || !other.counts.is_empty() {
            return self.merge(&other);
        }
        self.pending.absorb(Pending::of(other.run));
        self.pending.absorb(other.pending);
        if self.pending.len() >= self.limit {
            self.look_at_pending();
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if !other.repeating {
            // Keys that hardly repeat are sorted once, at the end.
            match other.parts() {
                Some(parts) => parts.for_each(|part| self.pending.extend(part)),
                None => other.each(|key, count| (0..count).for_each(|_| self.pending.push(key))),
            }
            if self.pending.len() >= self.limit {
                self.look_at_pending();
            }
            return;
        }
        let mut sorted;
        let other = if other.pending.is_empty() {
            other
        } else {
            sorted = other.clone();
            sorted.compact();
            &sorted
        };
        self.compact();
        self.merge_run(other);
        self.look_for_repeats();
    }

    /// The same keys by another width.
    pub(super) fn mapped<T: Key>(&self, f: impl Fn(K) -> T) -> Multiset<T> {
        Multiset {
            run: self.run.iter().map(|key| f(*key)).collect(),
            counts: self.counts.clone(),
            pending: Pending::of(self.pending.parts().flatten().map(|key| f(*key)).collect()),
            repeating: self.repeating,
            limit: self.limit,
        }
    }

    /// Writes the run; call [`Self::compact`] first.
    pub(super) fn encode(&self, out: &mut Writer) {
        out.u64(self.run.len() as u64);
        out.u8(u8::from(!self.counts.is_empty()));
        self.run.iter().for_each(|key| key.write(out));
        self.counts.iter().for_each(|count| out.u64(*count));
    }

    pub(super) fn decode(input: &mut Reader<'_>, fits: impl Fn(K) -> bool) -> Result<Self> {
        let wrong = || damaged("distinct scores in ascending order with their counts", "another order or count");
        let len = input.count(K::BYTES)?;
        let counted = input.u8()?;
        let mut set = Self::default();
        for _ in 0..len {
            let key = K::read(input)?;
            if set.run.last().is_some_and(|last| *last >= key) || !fits(key) {
                return Err(wrong());
            }
            set.run.push(key);
        }
        if counted > 1 {
            return Err(wrong());
        }
        if counted == 1 {
            for _ in 0..len {
                set.counts.push(state::count(input)?);
            }
            if set.counts.contains(&0) || set.counts.iter().all(|count| *count == 1) {
                return Err(wrong());
            }
        }
        set.look_for_repeats();
        Ok(set)
    }
}
