//! Whether every segment was whole: a key that comes back after its segment ended is found, over the whole input.
//!
//! 16 bytes per segment: the fingerprints of all ended segments. They are sorted whenever their number has doubled, so a
//! scattered input is noticed early, and once more at the end.

use fuseval_core::{Error, Result, Scan, SegmentKey, Source};

use crate::bucket::key_of;
use crate::columns::KeyColumn;
use crate::plan::Plan;

/// The fingerprints of the segments that have ended.
#[derive(Debug, Default)]
pub(crate) struct Completeness {
    ended: Vec<u128>,
    check_at: usize,
}

const FIRST_CHECK: usize = 1 << 16;

impl Completeness {
    /// Notes the end of a run of rows with one key; the fingerprint of a key that ended before, if one is seen now.
    pub(crate) fn ended(&mut self, fingerprint: u128) -> Option<u128> {
        self.ended.push(fingerprint);
        if self.ended.len() < self.check_at.max(FIRST_CHECK) {
            return None;
        }
        let repeated = self.repeated();
        self.check_at = 2 * self.ended.len();
        repeated
    }

    /// The fingerprint of a key that ended more than once, if there is one.
    pub(crate) fn repeated(&mut self) -> Option<u128> {
        self.ended.sort_unstable();
        self.ended.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first().copied())
    }

    /// The number of different keys.
    pub(crate) fn distinct(&mut self) -> u64 {
        self.ended.sort_unstable();
        self.ended.dedup();
        self.ended.len() as u64
    }
}

/// The error for a segment that came back: reads the keys again to name the segment and both places.
pub(crate) fn scattered_error(fingerprint: u128, plan: &Plan, source: &dyn Source) -> Error {
    match find(fingerprint, plan, source) {
        Ok(Some(error)) | Err(error) => error,
        Ok(None) => Error::defect("the segment that came back", "none on a second reading"),
    }
}

fn find(fingerprint: u128, plan: &Plan, source: &dyn Source) -> Result<Option<Error>> {
    let requests = plan.segment.iter().filter_map(|column| plan.requests.get(*column)).cloned().collect();
    let (mut inside, mut last_place, mut ended) = (false, String::new(), false);
    let mut key = SegmentKey::new();
    for rows in source.scan(&Scan { requests })? {
        let rows = rows?;
        let keys: Vec<KeyColumn> = rows.columns.iter().map(KeyColumn::new).collect::<Result<_>>()?;
        for (row, number) in rows.row_numbers.iter().enumerate() {
            key_of(&keys, row, &mut key);
            let here = key.fingerprint() == fingerprint;
            ended |= inside && !here;
            if here && ended {
                let shown =
                    plan.segment_names.iter().zip(&keys).map(|(name, column)| {
                        column.with_text(row, |text| format!("{name} = {}", text.unwrap_or("null")))
                    });
                let shown = shown.collect::<Vec<_>>().join(", ");
                return Ok(Some(
                    Error::data(
                        format!("the rows of the segment {shown} next to each other"),
                        format!("one that follows other segments; the rows before it ended at {last_place}"),
                        "sort the data by the segment key, or ask only for metrics over rows, which take any order",
                    )
                    .at(source.place(rows.file, *number)),
                ));
            }
            if here {
                last_place = source.place(rows.file, *number);
            }
            inside = here;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_comes_back_is_found() {
        let mut keys = Completeness::default();
        for key in 0..100_000u128 {
            assert_eq!(keys.ended(key * 7 % 100_003), None);
        }
        assert_eq!(keys.repeated(), None);
        assert_eq!(keys.ended(7), None);
        assert_eq!(keys.repeated(), Some(7));
        assert_eq!(keys.distinct(), 100_000);
    }
}
