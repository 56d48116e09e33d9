//! `err`, `err@k`: expected reciprocal rank, one over the rank at which a user who reads from the top is satisfied, averaged
//! over segments.
//!
//! **Definition** Σ (1 / i) · R(yᵢ) · Π (1 − R(yⱼ)) over ranks i ≤ k, the product over the ranks j above i, where a row of label
//! y satisfies with probability R(y) = (2^y − 1) / 2^max_grade; the mean over segments. Without `@k` the whole segment is
//! looked at. Chapelle, Metzler, Zhang and Grinspan 2009.
//! **Relevant** nothing is cut: labels are grades from 0 to `max_grade`, which must be given; other labels are refused.
//! **Ties** `expected` (default): the mean over all orders of tied rows. It has no short form, but needs no enumeration: E(j), the
//! mean over all sets of j rows of a block of the product of their 1 − R, and S(j), the mean over all orders of the
//! probability to stop just at place j, follow from those of the block without its last row by a recursion of positive
//! terms (normalised elementary symmetric polynomials). The block then adds Σⱼ S(j) / (s + j), times the probability to get to
//! it, with s rows above. `optimistic`, `pessimistic`: higher labels first or last; `stable`: input order; `key_asc`,
//! `key_desc`: by item; `random`: by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** without segments. A segment without relevant rows has ERR 0 (`no_positive=skip` leaves it out and counts
//! it as undefined).
//! **Options** `max_grade=G`, as in `err@10[max_grade=4]`; `average=macro|rows|positives`; `duplicates=first`: an item counts
//! once, at its best rank.
//! **State** `sums`: Σ w·ERR, Σ w over segments.
//! **Oracle** full enumeration of orders; gdeval `err@k`, whose highest grade is 4.

use fuseval_core::{
    Cutoff, Direction, Entry, Error, LabelRange, MetricId, Needs, OptionEntry, Profile, Result, ScoreNeed, View,
};

use crate::segments::gain::exp2;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_ZERO, OverSegments, Segment, SegmentMetric, SegmentOptions, TIES, TREC_EVAL,
};

const MAX_GRADE: OptionEntry = OptionEntry { name: "max_grade", values: &[], default: "must be given" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "err",
    summary: "expected reciprocal rank of the row that satisfies a user, mean over segments",
    file: include_str!("err.rs"),
    cutoff: Cutoff::Optional,
    options: &[MAX_GRADE, TIES, NO_POSITIVE_ZERO, AVERAGE, DUPLICATES],
    presets: TREC_EVAL,
    build: |settings| {
        let wrong = |found: String| {
            let expected = "the highest grade that there can be, from 1 to 900";
            Error::usage(expected, found, "write for example `err@10[max_grade=4]`")
        };
        let max_grade = match settings.optional_number("max_grade")? {
            None => return Err(wrong("no `max_grade`".to_string())),
            Some(grade) if !(1.0..=900.0).contains(&grade) => return Err(wrong(format!("`max_grade={grade}`"))),
            Some(grade) => grade,
        };
        let formula = ExpectedReciprocalRank { max_grade, scale: exp2(max_grade) };
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct ExpectedReciprocalRank {
    max_grade: f64,
    /// 2^max_grade.
    scale: f64,
}

impl ExpectedReciprocalRank {
    /// The probability that a row satisfies.
    fn satisfies(&self, label: f64) -> f64 {
        (exp2(label) - 1.0) / self.scale
    }
}

impl SegmentMetric for ExpectedReciprocalRank {
    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("max_grade", self.max_grade, "")
    }

    fn profile(&self) -> Profile {
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Grade))
    }

    fn check(&self, view: &View<'_>) -> Result<()> {
        match view.labels.iter().find(|label| **label > self.max_grade) {
            None => Ok(()),
            Some(label) => Err(Error::data(
                format!("labels up to max_grade = {}", self.max_grade),
                format!("label {label}"),
                "give the highest grade that there can be",
            )),
        }
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        let (mut sum, mut reached) = (0.0, 1.0);
        if segment.is_strict() {
            for (place, label) in segment.top_labels().iter().enumerate() {
                let satisfies = self.satisfies(*label);
                sum += reached * satisfies / (place + 1) as f64;
                reached *= 1.0 - satisfies;
            }
            return Some(sum);
        }
        let mut tied = Cascade::default();
        for block in segment.blocks() {
            if let [label] = block.labels {
                let satisfies = self.satisfies(*label);
                sum += reached * satisfies / (block.before + 1) as f64;
                reached *= 1.0 - satisfies;
                continue;
            }
            let satisfy: Vec<f64> = block.labels.iter().map(|label| self.satisfies(*label)).collect();
            tied.read(&satisfy, block.inside);
            let ranks = block.before + 1..;
            sum += reached * tied.places.iter().zip(ranks).map(|(place, rank)| place.stops / rank as f64).sum::<f64>();
            reached *= tied.places.last().map_or(1.0, |place| place.passes);
        }
        Some(sum)
    }
}

/// What a user does who reads tied rows in any order.
#[derive(Debug, Default)]
struct Cascade {
    places: Vec<Place>,
}

/// A place among tied rows.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The probability to pass it and all places above.
    passes: f64,
    /// The probability to pass those above and to stop here.
    stops: f64,
}

impl Cascade {
    /// Reads the first `places` of rows that satisfy with these probabilities. Places that hardly anybody reaches are left out:
    /// the probability to pass j of them is at most the j-th power of the mean probability to pass one (Maclaurin).
    fn read(&mut self, satisfy: &[f64], places: usize) {
        self.places.clear();
        let mean = satisfy.iter().sum::<f64>() / satisfy.len() as f64;
        let reached = if mean > 0.0 { libm::log(1e-20 * mean) / libm::log1p(-mean) } else { 0.0 };
        let nowhere = Place { passes: 0.0, stops: 0.0 };
        self.places.resize(places.min(reached as usize + 1), nowhere);
        for (rows, satisfies) in (1..).zip(satisfy) {
            // What stood at the place above before this row came in.
            let mut above = Place { passes: 1.0, stops: 0.0 };
            for (j, place) in (1..=rows).zip(&mut self.places) {
                // Among j of the rows, in any order, this row is not; or it is the last of them; or one of the others.
                let share = 1.0 / f64::from(rows);
                let (not, last, other) = (f64::from(rows - j) * share, share, f64::from(j - 1) * share);
                let old = *place;
                place.passes = not * old.passes + (last + other) * (1.0 - satisfies) * above.passes;
                place.stops =
                    not * old.stops + last * satisfies * above.passes + other * (1.0 - satisfies) * above.stops;
                above = old;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_rows_that_satisfy_alike_stop_as_one_after_the_other() {
        let mut cascade = Cascade::default();
        cascade.read(&[0.25; 6], 4);
        for (place, found) in cascade.places.iter().enumerate() {
            let passed = 0.75f64.powi(place as i32);
            assert!((found.stops - 0.25 * passed).abs() < 1e-15 && (found.passes - 0.75 * passed).abs() < 1e-15);
        }
        cascade.read(&[0.0; 3], 3);
        assert_eq!(cascade.places.last().map(|place| (place.passes, place.stops)), Some((1.0, 0.0)));
    }

    #[test]
    fn one_row_that_satisfies_among_many_that_do_not_stands_anywhere() {
        let mut satisfy = vec![0.0; 20_000];
        satisfy[7] = 1e-4;
        let mut cascade = Cascade::default();
        cascade.read(&satisfy, 30);
        assert_eq!(cascade.places.len(), 30);
        cascade.places.iter().for_each(|place| assert!((place.stops * 2e8 - 1.0).abs() < 1e-12, "{place:?}"));
    }
}
