//! The logarithmic loss of rows, of one and of many at once with the same bits, and the sums that are made of it.
//!
//! A row of label 1 costs −ln p, one of label 0 −ln(1 − p). What rounding takes from 1 − p is known exactly, c: then ln(1 −
//! p) = ln(u + c) = ln u + c/u but for less than 2^-106 with u the rounded difference, so that one logarithm does for both
//! kinds of rows, and small probabilities lose no digit.

use fuseval_core::math::{exp_all, ln_1p_all, ln_all};
use fuseval_core::registry::Settings;
use fuseval_core::simd::wide;
use fuseval_core::{Error, ExactSum, MetricId, OptionEntry, Result, ScoreKind, Tally, View};

use crate::blocks::{BLOCK, Block, ones, weights};

const DEFAULT_CLIP: f64 = 1e-12;
/// The floor under each logarithm's argument.
pub(crate) const CLIP: OptionEntry = OptionEntry { name: "clip", values: &[], default: "1e-12" };
/// scikit-learn's floor for float64 scores.
pub(crate) const SKLEARN_CLIP: (&str, &str, &str) = ("sklearn", "clip", "2.220446049250313e-16");

/// The loss with its floor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrossEntropy {
    clip: f64,
}

impl CrossEntropy {
    /// Reads the floor.
    pub(crate) fn read(settings: &Settings<'_>) -> Result<Self> {
        let clip = settings.number("clip", DEFAULT_CLIP)?;
        if !(0.0..0.5).contains(&clip) {
            return Err(Error::usage("`clip` from 0 to below 0.5", clip.to_string(), "leave it out for 1e-12"));
        }
        Ok(Self { clip })
    }

    /// The name with the floor.
    pub(crate) fn printed(&self, id: MetricId) -> MetricId {
        let written = |clip: f64| if clip == 0.0 { "0".to_string() } else { format!("{clip:e}") };
        id.with("clip", written(self.clip), written(DEFAULT_CLIP))
    }

    /// What the sums are called: whoever asks for those of the same floor shares them.
    pub(crate) fn sums_name(&self) -> String {
        self.printed(MetricId::new("cross_entropy")).to_string()
    }

    /// Adds the rows of a view to Σ w·loss, Σ w·y and Σ w.
    pub(crate) fn add(&self, [losses, labels]: &mut [ExactSum; 2], view: &View<'_>) -> Tally {
        let mut scratch = [0.0; BLOCK];
        let mut clipped = 0;
        for (place, (of_block, scores)) in view.labels.chunks(BLOCK).zip(view.scores.chunks(BLOCK)).enumerate() {
            let block = Block { labels: of_block, predictions: scores, weights: weights(view, place, of_block.len()) };
            clipped += self.losses(view.kind, of_block, scores, &mut scratch);
            block.add(losses, scratch.get(..of_block.len()).unwrap_or_default());
            block.add_labels(labels);
        }
        Tally { n: view.rows() as u64, clipped, ..Tally::default() }
    }

    /// The loss of each row in `out`, and the number of rows in which the floor changed it.
    fn losses(&self, kind: ScoreKind, labels: &[f64], scores: &[f64], out: &mut [f64; BLOCK]) -> u64 {
        let out = out.get_mut(..labels.len()).unwrap_or_default();
        let clipped = match kind {
            ScoreKind::Logit => of_logits(labels, scores, out),
            ScoreKind::Probability | ScoreKind::Raw => self.of_probabilities(labels, scores, out),
        };
        if ones(labels).is_some() {
            return clipped;
        }
        // Rows that belong to both sides were taken for one.
        let mut clipped = 0;
        for ((label, score), out) in labels.iter().zip(scores).zip(out) {
            let (loss, is_clipped) = self.loss(kind, *label, *score);
            clipped += u64::from(is_clipped);
            if is_fractional(*label) {
                *out = loss;
            }
        }
        clipped
    }

    /// The losses of rows with the label 1, or else 0.
    fn of_probabilities(&self, labels: &[f64], scores: &[f64], out: &mut [f64]) -> u64 {
        let (clipped, lost_bits) = wide(
            #[inline(always)]
            |_| {
                let (mut clipped, mut lost_bits) = (0, 0);
                for ((label, score), out) in labels.iter().zip(scores).zip(&mut *out) {
                    let (argument, lost) = side(*label, *score);
                    clipped += u64::from(argument < self.clip);
                    *out = self.floored(argument);
                    lost_bits |= lost.to_bits();
                }
                (clipped, lost_bits)
            },
        );
        ln_all(out);
        wide(
            #[inline(always)]
            |_| {
                if lost_bits << 1 == 0 {
                    for ln in out {
                        *ln = 0.0 - *ln;
                    }
                    return;
                }
                for ((label, score), ln) in labels.iter().zip(scores).zip(out) {
                    let (argument, lost) = side(*label, *score);
                    *ln = 0.0 - (*ln + correction(self.floored(argument), lost));
                }
            },
        );
        clipped
    }

    #[inline(always)]
    fn floored(&self, argument: f64) -> f64 {
        if argument < self.clip { self.clip } else { argument }
    }

    /// The loss of a row, and whether the floor changed it.
    fn loss(&self, kind: ScoreKind, label: f64, score: f64) -> (f64, bool) {
        let of_side = |label: f64| match kind {
            ScoreKind::Logit => {
                let wrong = if label > 0.0 { -score } else { score };
                (if wrong > 0.0 { wrong } else { 0.0 } + libm::log1p(libm::exp(-wrong.abs())), false)
            }
            ScoreKind::Probability | ScoreKind::Raw => {
                let (argument, lost) = side(label, score);
                let floored = self.floored(argument);
                (0.0 - (libm::log(floored) + correction(floored, lost)), argument < self.clip)
            }
        };
        if !is_fractional(label) {
            return of_side(label);
        }
        let ((hit, hit_clipped), (miss, miss_clipped)) = (of_side(1.0), of_side(0.0));
        (label * hit + (1.0 - label) * miss, hit_clipped || miss_clipped)
    }
}

fn is_fractional(label: f64) -> bool {
    (label != 0.0) & (label != 1.0)
}

/// The probability of the label, and what rounding took from it.
#[inline(always)]
fn side(label: f64, score: f64) -> (f64, f64) {
    let other = 1.0 - score;
    let lost = (1.0 - other) - score;
    // By masks, since a branch on labels is guessed wrong and keeps the loop from becoming vectors.
    let hit = u64::from(label > 0.0).wrapping_neg();
    let argument = score.to_bits() & hit | other.to_bits() & !hit;
    (f64::from_bits(argument), f64::from_bits(lost.to_bits() & !hit))
}

/// lost / argument: something is lost only from ½ on.
#[inline(always)]
fn correction(argument: f64, lost: f64) -> f64 {
    lost / if argument > 0.5 { argument } else { 0.5 }
}

/// The losses of rows with the label 1, or else 0: ln(1 + e^x) of the logit x of the wrong side, without overflow. No floor
/// changes any.
fn of_logits(labels: &[f64], scores: &[f64], out: &mut [f64]) -> u64 {
    wide(
        #[inline(always)]
        |_| {
            for (out, score) in out.iter_mut().zip(scores) {
                *out = -score.abs();
            }
        },
    );
    exp_all(out);
    ln_1p_all(out);
    wide(
        #[inline(always)]
        |_| {
            for ((label, score), out) in labels.iter().zip(scores).zip(out) {
                let sign = u64::from(*label > 0.0) << 63;
                let wrong = f64::from_bits(score.to_bits() ^ sign);
                *out += if wrong > 0.0 { wrong } else { 0.0 };
            }
        },
    );
    0
}

#[cfg(test)]
mod tests;
