//! Metrics over bins of scores.

use super::{each, number};
use crate::generate::Table;

/// What stays together in a bin of equal mass: the bits of the score as a float32, without the last 14, or the score where all
/// of them are float16 numbers. Scores are not negative.
fn key(score: f64, all: &[f64]) -> u64 {
    let is_half = |score: &f64| {
        let unit = 2f64.powi((score.log2().floor() as i32).max(-14) - 10);
        *score == 0.0 || *score <= 65_504.0 && (score / unit).fract() == 0.0
    };
    if all.iter().all(is_half) { score.to_bits() } else { u64::from((score as f32).to_bits() >> 14) }
}

/// The bin of equal mass of each (score, weight), by the weights of all.
fn equal_mass(rows: &[(f64, f64)], scores: &[f64], bins: f64) -> Vec<usize> {
    let mut keys: Vec<u64> = scores.iter().map(|score| key(*score, scores)).collect();
    keys.sort_unstable();
    keys.dedup();
    let all: f64 = rows.iter().map(|row| row.1).sum();
    let (mut upto, mut closed, mut bin) = (0.0, 0.0, 0);
    let mut bin_of_key = std::collections::BTreeMap::new();
    for key_here in keys {
        bin_of_key.insert(key_here, bin);
        upto += rows.iter().filter(|row| key(row.0, scores) == key_here).map(|row| row.1).sum::<f64>();
        let goes_on = rows.iter().any(|row| row.1 > 0.0 && key(row.0, scores) > key_here);
        if upto * bins >= (closed + 1.0) * all && goes_on {
            closed = (upto * bins / all).floor();
            bin += 1;
        }
    }
    scores.iter().map(|score| bin_of_key[&key(*score, scores)]).collect()
}

/// |mean prediction − rate| per bin: their mean or the largest.
pub(super) fn calibration_error(table: &Table, base: &str, options: &str) -> Option<f64> {
    let rows: Vec<(f64, f64)> = each(table).map(|row| (row.1, row.2)).collect();
    let places: Vec<usize> = if options.contains("uniform") {
        let bins = number(options, "bins", 15.0);
        let place = |score: f64| (1..bins as usize).filter(|edge| *edge as f64 / bins <= score).count();
        table.scores.iter().map(|score| place(*score)).collect()
    } else {
        equal_mass(&rows, &table.scores, number(options, "bins", 20.0))
    };
    let all: f64 = rows.iter().map(|row| row.1).sum();
    let mut errors = Vec::new();
    for bin in 0..=places.iter().copied().max()? {
        let inside = || each(table).zip(&places).filter(|(_, place)| **place == bin).map(|(row, _)| row);
        let weight: f64 = inside().map(|row| row.2).sum();
        if weight > 0.0 {
            let gap: f64 = inside().map(|(label, score, weight)| weight * (score - label)).sum();
            errors.push((weight / all, (gap / weight).abs()));
        }
    }
    if base == "mce" {
        return errors.iter().map(|error| error.1).reduce(f64::max);
    }
    Some(errors.iter().map(|(share, error)| share * error).sum())
}

/// Distances of the scores from those of the baseline, row by row and bin by bin.
pub(super) fn score_shift(table: &Table, options: &str) -> Option<f64> {
    let weights: Vec<f64> = each(table).map(|row| row.2).collect();
    let all: f64 = weights.iter().sum();
    if all == 0.0 {
        return None;
    }
    let both: Vec<f64> = table.baseline.iter().chain(&table.scores).copied().collect();
    let upto = |scores: &[f64], border: f64| {
        scores.iter().zip(&weights).filter(|(score, _)| **score <= border).map(|(_, weight)| weight).sum::<f64>() / all
    };
    if options.contains("ks") {
        let distance = |border: &f64| (upto(&table.baseline, *border) - upto(&table.scores, *border)).abs();
        return both.iter().map(distance).reduce(f64::max);
    }
    let mut rows: Vec<(f64, f64)> = table.baseline.iter().copied().zip(weights.iter().copied()).collect();
    rows.extend(table.scores.iter().map(|score| (*score, 0.0)));
    let places = equal_mass(&rows, &both, 10.0);
    let mut index = 0.0;
    for bin in 0..=places.iter().copied().max()? {
        let share = |places: &[usize]| {
            let inside = places.iter().zip(&weights).filter(|(place, _)| **place == bin);
            (inside.map(|(_, weight)| weight).sum::<f64>() / all).max(1e-4)
        };
        let (before, now) = (share(&places[..weights.len()]), share(&places[weights.len()..]));
        index += (now - before) * (now / before).ln();
    }
    Some(index)
}
