//! Whether every segment was whole: a key that comes back after its segment ended is found, over the whole input.
//!
//! 16 bytes per segment: the fingerprints of all ended segments. They are sorted whenever their number has doubled, so a
//! scattered input is noticed early, and once more at the end.

use std::collections::HashMap;

use fuseval_core::{Error, Result, Scan, SegmentKey, Source};

use crate::bucket::{borders, key_of};
use crate::columns::KeyColumn;
use crate::plan::Plan;

/// The segments that have ended.
#[derive(Debug, Clone, Default)]
pub struct Completeness {
    ended: Vec<u128>,
    check_at: usize,
    last: SegmentKey,
    /// Whether some key was not above the one before: as long as keys ascend, none can have come back.
    unordered: bool,
    /// How many there were, where rows were brought together by key so that none can come back.
    together: Option<u64>,
}

const FIRST_CHECK: usize = 1 << 16;

impl Completeness {
    /// For rows that were brought together by key: segments are counted, nothing is kept of them.
    pub(crate) fn together() -> Self {
        Self { together: Some(0), ..Self::default() }
    }

    /// Of fingerprints, each once.
    pub fn of_fingerprints(ended: Vec<u128>) -> Self {
        Self { ended, unordered: true, ..Self::default() }
    }

    /// Of so many segments, of which nothing else is known.
    pub fn of_count(segments: u64) -> Self {
        Self { together: Some(segments), ..Self::default() }
    }

    /// Notes the end of a run of rows with one key; whether, as far as is looked at now, a key ended twice.
    pub(crate) fn ended(&mut self, key: &SegmentKey) -> bool {
        self.note(key);
        if !self.unordered || self.ended.len() < self.check_at.max(FIRST_CHECK) {
            return false;
        }
        let repeated = self.is_repeated();
        self.check_at = 2 * self.ended.len();
        repeated
    }

    /// As [`Self::ended`], where a key may come back: each is kept once.
    pub(crate) fn seen(&mut self, key: &SegmentKey) {
        self.note(key);
        if self.unordered && self.ended.len() >= self.check_at.max(FIRST_CHECK) {
            self.distinct();
            self.check_at = 2 * self.ended.len();
        }
    }

    fn note(&mut self, key: &SegmentKey) {
        if let Some(count) = &mut self.together {
            *count += 1;
            return;
        }
        self.unordered |= !self.ended.is_empty() && *key <= self.last;
        self.ended.push(key.fingerprint());
        self.last.clone_from(key);
    }

    /// Whether a key ended more than once.
    pub(crate) fn is_repeated(&mut self) -> bool {
        if !self.unordered {
            return false;
        }
        self.ended.sort_unstable();
        self.ended.windows(2).any(|pair| pair.first() == pair.last())
    }

    /// The number of different keys.
    pub fn distinct(&mut self) -> u64 {
        if let Some(count) = self.together {
            return count;
        }
        if self.unordered {
            self.ended.sort_unstable();
            self.ended.dedup();
        }
        self.ended.len() as u64
    }

    /// The fingerprints of the keys, ascending, each once; `None` where rows were brought together by key.
    pub fn fingerprints(&mut self) -> Option<&[u128]> {
        if self.together.is_some() {
            return None;
        }
        self.unordered = true;
        self.distinct();
        Some(&self.ended)
    }
}

/// Whether a segment comes back after it ended, anywhere in the data: reads the keys alone.
pub fn is_scattered(plan: &Plan, source: &dyn Source) -> Result<bool> {
    let requests = plan.segment.iter().filter_map(|column| plan.requests.get(*column)).cloned().collect();
    let mut ended = Completeness::default();
    let (mut key, mut open, mut is_open) = (SegmentKey::new(), SegmentKey::new(), false);
    for rows in source.scan(&Scan::new(requests))? {
        let rows = rows?;
        let keys: Vec<KeyColumn> = rows.columns.iter().map(KeyColumn::new).collect::<Result<_>>()?;
        for row in borders(&keys, rows.len()) {
            key_of(&keys, row, &mut key);
            if is_open && open == key {
                continue;
            }
            if is_open && ended.ended(&open) {
                return Ok(true);
            }
            std::mem::swap(&mut open, &mut key);
            is_open = true;
        }
    }
    Ok(is_open && (ended.ended(&open) || ended.is_repeated()))
}

/// The error for a segment that came back: reads the keys again and names the first one that does, with both places.
pub(crate) fn scattered_error(plan: &Plan, source: &dyn Source) -> Error {
    match first_scattered(plan, source) {
        Ok(Some(error)) | Err(error) => error,
        Ok(None) => Error::defect("the segment that came back", "none on a second reading"),
    }
}

fn first_scattered(plan: &Plan, source: &dyn Source) -> Result<Option<Error>> {
    let requests = plan.segment.iter().filter_map(|column| plan.requests.get(*column)).cloned().collect();
    let mut last_rows: HashMap<u128, u64> = HashMap::new();
    let mut open = None;
    let mut key = SegmentKey::new();
    for rows in source.scan(&Scan::new(requests))? {
        let rows = rows?;
        let keys: Vec<KeyColumn> = rows.columns.iter().map(KeyColumn::new).collect::<Result<_>>()?;
        for (row, place) in rows.places.iter().enumerate() {
            key_of(&keys, row, &mut key);
            let fingerprint = key.fingerprint();
            let before = last_rows.insert(fingerprint, place);
            let (Some(last), false) = (before, open == Some(fingerprint)) else {
                open = Some(fingerprint);
                continue;
            };
            let text = |(name, column): (&String, &KeyColumn)| {
                column.with_text(row, |text| format!("{name} = {}", text.unwrap_or("null")))
            };
            let shown: Vec<String> = plan.segment_names.iter().zip(&keys).map(text).collect();
            let error = Error::data(
                format!("the rows of the segment {} next to each other", shown.join(", ")),
                format!("one that follows other segments; the rows before it ended at {}", source.place(last)),
                "sort the data by the segment key, or ask only for metrics over rows, which take any order",
            );
            return Ok(Some(error.at(source.place(place))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> SegmentKey {
        let mut key = SegmentKey::new();
        key.push(Some(&number.to_string()));
        key
    }

    #[test]
    fn a_key_that_comes_back_is_found() {
        let orders: [fn(u32) -> u32; 2] = [|number| number, |number| number * 7 % 100_003];
        for order in orders {
            let mut keys = Completeness::default();
            for number in 0..100_000 {
                assert!(!keys.ended(&key(order(number))));
            }
            assert!(!keys.is_repeated());
            assert_eq!(keys.distinct(), 100_000);
            // It is noticed at once or at the end, as the order of the keys has it.
            keys.ended(&key(7));
            assert!(keys.is_repeated());
            assert_eq!(keys.distinct(), 100_000);
        }
    }
}
