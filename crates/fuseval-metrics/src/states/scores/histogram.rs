//! The score histogram: rows by the top 18 bits of the order-preserving key of their score, rounded to float32. Where every
//! score is a float16 number the bins are the 16 bits of that type, and nothing is lost.
//!
//! Bins merge by addition: integers for rows of weight 1, exact sums for other weights.

use std::collections::BTreeMap;

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::simd::wide;
use fuseval_core::{ExactSum, Result, state};

use super::Class;
use super::multiset::Multiset;
use super::places::Places;
use super::weighted::score_of;

/// Bits of the float32 key that a bin keeps.
pub(super) const SHIFT: u32 = 32 - 18;
const MOST_HALF: u32 = 1 << 16;
const MOST_BIN: u32 = 1 << 18;

/// Rows per bin and class.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    /// Whether bins are float16 keys.
    half: bool,
    /// Rows of weight 1: bin · 2 + class.
    rows: Places,
    /// Rows of other weights and the sums of their weights, by the same number.
    weights: BTreeMap<u32, (u64, ExactSum)>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { half: true, rows: Places::default(), weights: BTreeMap::new() }
    }
}

/// Calls `f` with the place of each score of a class and how often it occurs.
fn each_place(keys: &Class, class: u32, half: bool, f: &mut impl FnMut(u32, u64)) {
    let of_half = |score: f64| 2 * half_key(score).unwrap_or_default() + class;
    match (keys, half) {
        (Class::Narrow(keys), false) => keys.each(|key, count| f(2 * (key >> SHIFT) + class, count)),
        (Class::Narrow(keys), true) => keys.each(|key, count| f(of_half(f64::from(single_score(key))), count)),
        (Class::Wide(keys), false) => keys.each(|key, count| f(2 * bin(score_of(key)) + class, count)),
        (Class::Wide(keys), true) => keys.each(|key, count| f(of_half(score_of(key)), count)),
    }
}

/// A bin: the scores it holds and the rows of both classes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bin {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) rows: [u64; 2],
    pub(super) weight: [f64; 2],
}

impl Histogram {
    pub(super) fn add(&mut self, score: f64, positive: bool, weight: f64) {
        let place = self.place(score, positive);
        if weight == 1.0 {
            self.rows.add(place);
        } else {
            self.add_weights(place, 1, weight);
        }
    }

    fn add_weights(&mut self, place: u32, count: u64, weight: f64) {
        let (rows, sum) = self.weights.entry(place).or_default();
        *rows += count;
        sum.add_product(weight, count as f64);
    }

    fn merge_weights(&mut self, place: u32, (rows, sum): &(u64, ExactSum)) {
        let (own_rows, own_sum) = self.weights.entry(place).or_default();
        *own_rows += rows;
        own_sum.merge(sum);
    }

    /// The histogram of groups of rows (score, class, weight, count).
    pub(super) fn of(groups: impl Iterator<Item = (f64, bool, f64, u64)> + Clone) -> Self {
        let mut histogram =
            Self { half: groups.clone().all(|(score, ..)| half_key(score).is_some()), ..Self::default() };
        for (score, positive, weight, count) in groups {
            let place = histogram.place(score, positive);
            if weight == 1.0 {
                histogram.rows.add_many(place, count);
            } else {
                histogram.add_weights(place, count, weight);
            }
        }
        histogram
    }

    /// Adds rows of weight 1; scores are not NaN.
    pub(super) fn add_rows(&mut self, labels: &[f64], scores: &[f64]) {
        const CHUNK: usize = 256;
        if self.half {
            // As long as all scores are float16 numbers each is looked at.
            for (place, (label, score)) in labels.iter().zip(scores).enumerate() {
                if !self.half {
                    let rest = (labels.get(place..).unwrap_or_default(), scores.get(place..).unwrap_or_default());
                    return self.add_rows(rest.0, rest.1);
                }
                self.add(*score, *label > 0.0, 1.0);
            }
            return;
        }
        for (labels, scores) in labels.chunks(CHUNK).zip(scores.chunks(CHUNK)) {
            let mut places = [0u32; CHUNK];
            wide(
                #[inline(always)]
                |_| {
                    for ((place, label), score) in places.iter_mut().zip(labels).zip(scores) {
                        *place = 2 * bin(*score) + u32::from(*label > 0.0);
                    }
                },
            );
            self.rows.extend(places.get(..scores.len()).unwrap_or_default());
        }
    }

    /// The histogram of rows of weight 1 in two classes.
    pub(super) fn of_classes(classes: [&Class; 2]) -> Self {
        let half = classes.iter().all(|class| match class {
            Class::Narrow(keys) => keys.all(|key| half_key(f64::from(single_score(key))).is_some()),
            Class::Wide(keys) => keys.all(|key| half_key(score_of(key)).is_some()),
        });
        let mut rows = Places::for_rows(classes.iter().map(|class| class.len()).sum());
        (0u32..)
            .zip(classes)
            .for_each(|(class, keys)| each_place(keys, class, half, &mut |place, count| rows.add_many(place, count)));
        Self { half, rows, weights: BTreeMap::new() }
    }

    /// The bin of a score, times two, plus the class.
    fn place(&mut self, score: f64, positive: bool) -> u32 {
        let half = if self.half { half_key(score) } else { None };
        if self.half && half.is_none() {
            self.widen();
        }
        2 * half.unwrap_or_else(|| bin(score)) + u32::from(positive)
    }

    /// From float16 keys to the bins of all scores: each float16 number lies in one of them.
    fn widen(&mut self) {
        let wide = |place: u32| 2 * bin(half_score(place / 2)) + place % 2;
        std::mem::take(&mut self.rows).each(|place, count| self.rows.add_many(wide(place), count));
        for (place, weights) in std::mem::take(&mut self.weights) {
            self.merge_weights(wide(place), &weights);
        }
        self.half = false;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut widened;
        let mut other = other;
        if self.half != other.half {
            if self.half {
                self.widen();
            } else {
                widened = other.clone();
                widened.widen();
                other = &widened;
            }
        }
        self.rows.merge(&other.rows);
        for (place, weights) in &other.weights {
            self.merge_weights(*place, weights);
        }
    }

    /// The bins in ascending order.
    pub(super) fn bins(&self) -> Vec<Bin> {
        let rows = self.rows.sorted();
        let blank = |place: u32| {
            let (low, high) = if self.half { (half_score(place / 2), half_score(place / 2)) } else { range(place / 2) };
            Bin { low, high, ..Bin::default() }
        };
        if self.weights.is_empty() {
            let mut bins: Vec<(u32, Bin)> = Vec::with_capacity(rows.distinct());
            for (place, count) in rows.groups() {
                if bins.last().is_none_or(|(bin, _)| *bin != place / 2) {
                    bins.push((place / 2, blank(place)));
                }
                if let Some((_, bin)) = bins.last_mut() {
                    let class = place as usize % 2;
                    if let (Some(rows), Some(weight)) = (bin.rows.get_mut(class), bin.weight.get_mut(class)) {
                        (*rows, *weight) = (count, count as f64);
                    }
                }
            }
            return bins.into_iter().map(|(_, bin)| bin).collect();
        }
        let mut bins: BTreeMap<u32, Bin> = BTreeMap::new();
        let mut weighted = self.weights.clone();
        for (place, count) in rows.groups() {
            let (_, sum) = weighted.entry(place).or_default();
            sum.add(count as f64);
            let bin = bins.entry(place / 2).or_insert_with(|| blank(place));
            if let Some(side) = bin.rows.get_mut(place as usize % 2) {
                *side = count;
            }
        }
        for (place, (rows, sum)) in weighted {
            let bin = bins.entry(place / 2).or_insert_with(|| blank(place));
            let class = place as usize % 2;
            if let (Some(count), Some(weight)) = (bin.rows.get_mut(class), bin.weight.get_mut(class)) {
                *count += rows;
                *weight = sum.value();
            }
        }
        bins.into_values().collect()
    }

    /// Rows and exact weight of both classes.
    pub(super) fn sums(&self) -> [(u64, ExactSum); 2] {
        let mut sums = [(0, ExactSum::new()), (0, ExactSum::new())];
        let [negative, positive] = &mut sums;
        let mut add = |place: u32, rows: u64, f: &dyn Fn(&mut ExactSum)| {
            let (count, sum) = if place % 2 == 1 { &mut *positive } else { &mut *negative };
            *count += rows;
            f(sum);
        };
        self.rows.each(|place, rows| add(place, rows, &|sum| sum.add(rows as f64)));
        for (place, (rows, weight)) in &self.weights {
            add(*place, *rows, &|sum| sum.merge(weight));
        }
        sums
    }

    /// The number of (bin, class) that hold rows, at least.
    pub(super) fn used(&self) -> u64 {
        self.rows.sorted().distinct().max(self.weights.len()) as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 0 && self.weights.is_empty()
    }

    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    pub(super) fn encode(&self, out: &mut Writer) {
        out.u8(u8::from(self.half));
        self.rows.sorted().encode(out);
        out.u64(self.weights.len() as u64);
        for (place, (rows, sum)) in &self.weights {
            out.u32(*place);
            out.u64(*rows);
            sum.encode(out);
        }
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self> {
        let wrong = || damaged("bins of scores in ascending order", "another bin or sum");
        let half = match input.u8()? {
            0 => false,
            1 => true,
            _ => return Err(wrong()),
        };
        let most = if half { 2 * MOST_HALF } else { 2 * MOST_BIN };
        let rows = Places::of(Multiset::decode(input, |place: u32| place < most)?);
        let mut weights = BTreeMap::new();
        let mut last = None;
        for _ in 0..input.count(16)? {
            let place = input.u32()?;
            let rows = state::count(input)?;
            let sum = ExactSum::decode(input)?;
            let fits = place < most && last.is_none_or(|last| last < place);
            if !fits || rows == 0 || !(sum.value() > 0.0 && sum.value().is_finite()) {
                return Err(wrong());
            }
            last = Some(place);
            weights.insert(place, (rows, sum));
        }
        Ok(Self { half, rows, weights })
    }
}

/// The order-preserving bits of a float32.
#[inline(always)]
pub(super) fn single_key(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The order-preserving bits of scores, in `keys`; whether all are float32 numbers.
pub(super) fn single_keys(scores: &[f64], keys: &mut [u32]) -> bool {
    wide(
        #[inline(always)]
        |_| {
            let mut all_single = true;
            for (key, score) in keys.iter_mut().zip(scores) {
                let single = *score as f32;
                all_single &= f64::from(single) == *score;
                *key = single_key(single);
            }
            all_single
        },
    )
}

/// The float32 of its order-preserving bits.
pub(super) fn single_score(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

/// The bin of a score.
#[inline(always)]
pub(crate) fn bin(score: f64) -> u32 {
    single_key(score as f32) >> SHIFT
}

/// The least and the greatest score of a bin: half a step of float32 beyond the least and the greatest float32, up to where
/// scores are rounded to another bin.
fn range(bin: u32) -> (f64, f64) {
    let low = single_score(bin << SHIFT);
    let high = single_score(bin << SHIFT | ((1 << SHIFT) - 1));
    // The bins of the infinities end in NaN, or begin with it.
    let (low, high) = (if low.is_nan() { high } else { low }, if high.is_nan() { low } else { high });
    let (low, high) = (low.max(f32::NEG_INFINITY), high.min(f32::INFINITY));
    (halfway(low.next_down(), low), halfway(high, high.next_up()))
}

/// The score between two neighbouring float32 numbers, or equal infinities, that is as near to one as to the other.
fn halfway(low: f32, high: f32) -> f64 {
    /// Scores from here on are rounded to infinity.
    const MOST: f64 = (f32::MAX as f64) + (1u128 << 103) as f64;
    match (low == high, low.is_infinite(), high.is_infinite()) {
        (true, ..) => f64::from(low),
        (_, true, _) => -MOST,
        (.., true) => MOST,
        _ => (f64::from(low) + f64::from(high)) / 2.0,
    }
}

/// The order-preserving bits of a score that is a float16 number, −0 as 0.
pub(crate) fn half_key(score: f64) -> Option<u32> {
    let single = score as f32;
    if f64::from(single) != score {
        return None;
    }
    let bits = single.to_bits();
    let (sign, exponent, mantissa) = (bits >> 31, (bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    let magnitude = match exponent {
        0xff if mantissa == 0 => 0x7c00,
        0 if mantissa == 0 => 0,
        113..=142 if mantissa & 0x1fff == 0 => ((exponent - 112) as u32) << 10 | mantissa >> 13,
        103..=112 => {
            // A subnormal of float16: the leading one becomes a bit of the fraction.
            let shift = (126 - exponent) as u32;
            let whole = mantissa | 1 << 23;
            if whole & ((1 << shift) - 1) != 0 {
                return None;
            }
            whole >> shift
        }
        _ => return None,
    };
    Some(if sign == 1 && magnitude > 0 { 0x7fff - magnitude } else { magnitude | 0x8000 })
}

/// The float16 number of its order-preserving bits.
fn half_score(key: u32) -> f64 {
    let (negative, magnitude) = if key & 0x8000 == 0 { (true, 0x7fff - key) } else { (false, key & 0x7fff) };
    let (exponent, mantissa) = (magnitude >> 10, f64::from(magnitude & 0x3ff));
    let value = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 => f64::INFINITY,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent as i32 - 25),
    };
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float16_numbers_keep_their_bits_and_order() {
        let mut last = f64::NEG_INFINITY;
        for key in 0x7fff - 0x7c00..=0x8000 + 0x7c00 {
            let score = half_score(key);
            if key == 0x7fff {
                continue;
            }
            assert_eq!(half_key(score), Some(key), "{score}");
            assert!(score > last || key == 0x7fff - 0x7c00, "{score}");
            last = score;
        }
        assert_eq!(half_key(-0.0), half_key(0.0));
        for score in [0.1, 65_536.0, 1e-9, 2f64.powi(-25), 1.0 + 2f64.powi(-11)] {
            assert_eq!(half_key(score), None, "{score}");
        }
    }

    #[test]
    fn a_bin_holds_the_scores_of_its_range() {
        for score in [-1e30f32, -0.1, -1e-40, 0.0, 1e-40, 0.1, 0.999, 1.0, 3e38, f32::INFINITY] {
            let (low, high) = range(bin(f64::from(score)));
            assert!(low <= f64::from(score) && f64::from(score) <= high, "{score}: {low} {high}");
            let inside =
                |end: f64, inward: f64| bin(end) == bin(f64::from(score)) || bin(inward) == bin(f64::from(score));
            assert!(inside(low, low.next_up()) && inside(high, high.next_down()), "{score}: {low} {high}");
            let outside = |end: f64, outward: f64| end.is_infinite() || bin(outward) != bin(f64::from(score));
            assert!(outside(low, low.next_down()) && outside(high, high.next_up()), "{score}: {low} {high}");
        }
    }
}
