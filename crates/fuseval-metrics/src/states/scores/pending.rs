//! Keys in the order in which they came, in parts: none is copied to make room for more, and those of another buffer are taken
//! over as they lie.

/// Keys of the first part, and of the largest.
const LEAST: usize = 1 << 6;
const MOST: usize = 1 << 16;

/// Keys that wait to be sorted.
#[derive(Debug, Clone)]
pub(super) struct Pending<K> {
    parts: Vec<Vec<K>>,
    len: usize,
}

impl<K> Default for Pending<K> {
    fn default() -> Self {
        Self { parts: Vec::new(), len: 0 }
    }
}

impl<K: Copy> Pending<K> {
    pub(super) fn of(keys: Vec<K>) -> Self {
        Self { len: keys.len(), parts: vec![keys] }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, key: K) {
        self.extend(&[key]);
    }

    pub(super) fn extend(&mut self, keys: &[K]) {
        let mut keys = keys;
        while !keys.is_empty() {
            let room = self.parts.last().map_or(0, |part| part.capacity() - part.len());
            if room == 0 {
                // As much again as there is.
                self.parts.push(Vec::with_capacity(self.len.clamp(LEAST, MOST)));
                continue;
            }
            let (now, later) = keys.split_at(room.min(keys.len()));
            self.parts.last_mut().into_iter().for_each(|part| part.extend_from_slice(now));
            self.len += now.len();
            keys = later;
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.len += other.len;
        self.parts.extend(other.parts);
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &[K]> {
        self.parts.iter().map(Vec::as_slice)
    }

    /// The latest keys, at most so many.
    pub(super) fn latest(&self, most: usize) -> Vec<K> {
        self.parts.iter().rev().flat_map(|part| part.iter().rev()).take(most).copied().collect()
    }

    pub(super) fn into_keys(self) -> Vec<K> {
        self.parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_their_order_across_parts() {
        let keys: Vec<u32> = (0..200_000).collect();
        let mut pending = Pending::default();
        assert!(pending.is_empty());
        keys.chunks(777).for_each(|keys| pending.extend(keys));
        let other = Pending::of(vec![7, 8]);
        pending.absorb(other);
        pending.push(9);
        assert_eq!((pending.len(), pending.latest(3)), (200_003, vec![9, 8, 7]));
        assert_eq!(pending.into_keys(), [keys, vec![7, 8, 9]].concat());
    }
}
