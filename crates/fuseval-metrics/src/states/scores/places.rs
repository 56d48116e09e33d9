//! Rows per place of the histogram, bin · 2 + class: a multiset of places as long as there are few rows, then counts by place, in
//! pages of which only those that hold rows are there.

use super::multiset::Multiset;

/// Rows from which they are counted by place: then all pages together take no more than 64 bytes for each.
const FEWEST_PAGED: u64 = 1 << 16;
/// Places of a page: those of one power of two, so that probabilities need some twenty pages.
const PAGE: usize = 1 << 10;
/// Pages that there can be.
const PAGES: usize = 1 << 9;

/// Rows per place.
#[derive(Debug, Clone)]
pub(super) struct Places {
    rows: u64,
    few: Multiset<u32>,
    /// Empty while there are few rows.
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Default for Places {
    fn default() -> Self {
        Self { rows: 0, few: Multiset::of_few_keys(), pages: Vec::new() }
    }
}

impl Places {
    /// The rows of a multiset.
    pub(super) fn of(few: Multiset<u32>) -> Self {
        Self { rows: few.len(), few, pages: Vec::new() }
    }

    /// No rows yet, of so many to come.
    pub(super) fn for_rows(rows: u64) -> Self {
        let mut places = Self::default();
        if rows >= FEWEST_PAGED {
            places.pages.resize(PAGES, None);
        }
        places
    }

    /// The number of rows.
    pub(super) fn len(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    pub(super) fn add(&mut self, place: u32) {
        self.extend(&[place]);
    }

    /// Adds a row for each place.
    pub(super) fn extend(&mut self, places: &[u32]) {
        self.make_room(places.len() as u64);
        if self.pages.is_empty() {
            return self.few.extend(places);
        }
        places.iter().for_each(|place| self.count(*place, 1));
    }

    /// Adds rows of one place.
    #[inline]
    pub(super) fn add_many(&mut self, place: u32, rows: u64) {
        self.make_room(rows);
        if self.pages.is_empty() {
            (0..rows).for_each(|_| self.few.add(place));
        } else {
            self.count(place, rows);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let are_few = self.pages.is_empty() && other.pages.is_empty();
        if are_few && self.rows.saturating_add(other.rows) < FEWEST_PAGED {
            self.rows += other.rows;
            return self.few.merge(&other.few);
        }
        other.each(|place, rows| self.add_many(place, rows));
    }

    /// Notes so many more rows, and begins to count by place where that makes them many.
    #[inline]
    fn make_room(&mut self, rows: u64) {
        self.rows = self.rows.saturating_add(rows);
        if self.rows >= FEWEST_PAGED && self.pages.is_empty() {
            self.pages.resize(PAGES, None);
            std::mem::take(&mut self.few).each(|place, rows| self.count(place, rows));
        }
    }

    #[inline]
    fn count(&mut self, place: u32, rows: u64) {
        let Some(page) = self.pages.get_mut(place as usize / PAGE) else { return };
        let page = page.get_or_insert_with(|| Box::new([0; PAGE]));
        if let Some(count) = page.get_mut(place as usize % PAGE) {
            *count = count.saturating_add(rows);
        }
    }

    /// Calls `f` with places and the numbers of their rows, a place perhaps more than once.
    pub(super) fn each(&self, f: impl FnMut(u32, u64)) {
        let mut f = f;
        self.few.each(&mut f);
        self.counted().for_each(|(place, rows)| f(place, rows));
    }

    /// The places that have rows, of those counted by place.
    fn counted(&self) -> impl Iterator<Item = (u32, u64)> {
        let pages = (0u32..).step_by(PAGE).zip(&self.pages).filter_map(|(first, page)| Some((first, page.as_ref()?)));
        pages.flat_map(|(first, page)| (first..).zip(page.iter().copied())).filter(|(_, rows)| *rows > 0)
    }

    /// The rows as a multiset with everything sorted in.
    pub(super) fn sorted(&self) -> Multiset<u32> {
        if !self.pages.is_empty() {
            return Multiset::of_sorted(self.counted());
        }
        let mut sorted = self.few.clone();
        sorted.compact();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;

    #[test]
    fn many_rows_count_as_few_do() {
        let mut rng = KeyedRng::new(1, &["places"]);
        let mut draw = || {
            let bits = rng.below(20);
            rng.below(1 << bits) as u32
        };
        let places: Vec<u32> = (0..3 * FEWEST_PAGED).map(|_| draw()).collect();
        let mut expected = Multiset::of_few_keys();
        expected.extend(&places);
        expected.compact();
        let expected: Vec<(u32, u64)> = expected.groups().collect();
        let groups = |places: &Places| places.sorted().groups().collect::<Vec<_>>();
        for step in [1, 256, 9999, places.len()] {
            let (mut all, mut merged) = (Places::default(), Places::default());
            let mut at_once = Places::for_rows(places.len() as u64);
            places.iter().for_each(|place| at_once.add_many(*place, 1));
            assert!(groups(&at_once) == expected);
            for part in places.chunks(step) {
                all.extend(part);
                let mut other = Places::default();
                other.extend(part);
                if step > 200 {
                    merged.merge(&other);
                }
            }
            assert_eq!(all.len(), places.len() as u64);
            assert!(groups(&all) == expected, "in steps of {step}");
            assert!(step < 200 || groups(&merged) == groups(&all));
        }
    }
}
