//! Segment keys as canonical text, their fingerprints, and the fold that a key belongs to.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

/// How many folds there are: the resampling units of intervals.
pub const FOLDS: u8 = 32;

/// The seed of version 1 of the fold hash. Another hash is another version of the partial format.
const FOLD_SEED: u64 = 0x6675_7365_7661_6c31;

/// A fold, `0..32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fold(u8);

impl Fold {
    /// The fold of the given number, or `None` from 32 on.
    pub fn new(number: u8) -> Option<Self> {
        (number < FOLDS).then_some(Self(number))
    }

    /// The fold of a row that belongs to no segment: by its place in the logical order, before any filter.
    pub fn of_place(place: u64) -> Self {
        Self::of_bytes(&place.to_le_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self((xxh3_64_with_seed(bytes, FOLD_SEED) >> 59) as u8)
    }

    /// The number, `0..32`.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// The key of one segment: the canonical text of each of its columns, or null. The integer 7 and the text "7" are the same
/// key; null is a key of its own, apart from the empty text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SegmentKey {
    bytes: Vec<u8>,
}

impl SegmentKey {
    /// An empty key, to be filled column by column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the columns, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends the text of the next column.
    pub fn push(&mut self, text: Option<&str>) {
        match text {
            None => self.bytes.push(0),
            Some(text) => {
                self.bytes.push(1);
                self.bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// The fold of the key.
    pub fn fold(&self) -> Fold {
        Fold::of_bytes(&self.bytes)
    }

    /// 128 bits that stand for the key where it must be recognised again.
    pub fn fingerprint(&self) -> u128 {
        xxh3_128(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[Option<&str>]) -> SegmentKey {
        let mut key = SegmentKey::new();
        parts.iter().for_each(|part| key.push(*part));
        key
    }

    #[test]
    fn null_empty_and_split_keys_differ() {
        let keys = [
            key(&[None]),
            key(&[Some("")]),
            key(&[Some("null")]),
            key(&[Some("ab"), Some("c")]),
            key(&[Some("a"), Some("bc")]),
        ];
        for (i, a) in keys.iter().enumerate() {
            for b in keys.iter().skip(i + 1) {
                assert_ne!(a.fingerprint(), b.fingerprint());
            }
        }
    }

    #[test]
    fn folds_are_fixed_and_all_used() {
        let folds: Vec<u8> = (0..8).map(|i| key(&[Some(&i.to_string())]).fold().number()).collect();
        assert_eq!(folds, FIRST_FOLDS, "the fold hash is part of the format: it never changes within a version");
        let mut seen = [false; FOLDS as usize];
        (0..2000).for_each(|i| seen[usize::from(key(&[Some(&i.to_string())]).fold().number())] = true);
        assert!(seen.iter().all(|seen| *seen));
    }

    const FIRST_FOLDS: [u8; 8] = [4, 0, 16, 9, 30, 21, 11, 22];
}
