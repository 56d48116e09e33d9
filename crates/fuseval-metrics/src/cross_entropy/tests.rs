use super::*;
use fuseval_core::random::KeyedRng;

const DEFAULT: CrossEntropy = CrossEntropy { clip: DEFAULT_CLIP };
const NO_CLIP: CrossEntropy = CrossEntropy { clip: 0.0 };

fn unit(rng: &mut KeyedRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Rows of all kinds: certain ones, tiny probabilities, fractional labels.
fn draw(rng: &mut KeyedRng, rows: usize, fractional: bool) -> (Vec<f64>, Vec<f64>) {
    let mut labels = Vec::new();
    let mut scores = Vec::new();
    for _ in 0..rows {
        let small = libm::exp2(-(rng.below(60) as f64)) * unit(rng);
        let choices = [0.0, 1.0, small, 1.0 - small, unit(rng), f64::from(unit(rng) as f32), 1e-12, 0.5];
        scores.push(choices[rng.below(8) as usize]);
        labels.push(if fractional && rng.below(5) == 0 { unit(rng) } else { rng.below(2) as f64 });
    }
    (labels, scores)
}

#[test]
fn certain_and_right_costs_nothing_and_certain_and_wrong_is_clipped() {
    let loss = |metric: CrossEntropy, label, score| metric.loss(ScoreKind::Probability, label, score);
    for label in [0.0, 1.0] {
        let (right, clipped) = loss(DEFAULT, label, label);
        assert_eq!((right.to_bits(), clipped), (0, false), "0 without a sign");
        assert_eq!(loss(DEFAULT, label, 1.0 - label), (-libm::log(DEFAULT_CLIP), true));
        assert_eq!(loss(NO_CLIP, label, 1.0 - label), (f64::INFINITY, false));
    }
}

#[test]
fn large_logits_neither_overflow_nor_vanish() {
    let loss = |label, score| DEFAULT.loss(ScoreKind::Logit, label, score).0;
    assert_eq!(loss(0.0, 1000.0), 1000.0);
    assert_eq!(loss(1.0, -1000.0), 1000.0);
    assert_eq!(loss(1.0, 40.0), libm::log1p(libm::exp(-40.0)));
    assert_eq!(loss(0.25, 1000.0), 750.0);
}

#[test]
fn one_logarithm_does_for_both_sides() {
    let mut rng = KeyedRng::new(1, &["sides"]);
    let (labels, scores) = draw(&mut rng, 1 << 16, false);
    for (label, score) in labels.iter().zip(scores) {
        let loss = NO_CLIP.loss(ScoreKind::Probability, *label, score).0;
        let plain = 0.0 - if *label > 0.0 { libm::log(score) } else { libm::log1p(-score) };
        // Next to it, or the same.
        assert!(loss.to_bits().abs_diff(plain.to_bits()) <= 1, "{label} {score:e}: {loss} and {plain}");
    }
}

#[test]
fn many_rows_have_the_bits_of_each() {
    let mut rng = KeyedRng::new(2, &["many"]);
    for rows in [1, 3, 64, 100, 256] {
        for round in 0..40 {
            let (labels, scores) = draw(&mut rng, rows, round % 2 == 0);
            let logits: Vec<f64> = scores.iter().map(|p| 60.0 * p - 40.0 * unit(&mut rng)).collect();
            for (kind, scores) in [(ScoreKind::Probability, &scores), (ScoreKind::Logit, &logits)] {
                for metric in [DEFAULT, NO_CLIP, CrossEntropy { clip: 0.1 }] {
                    let mut out = [f64::NAN; BLOCK];
                    let clipped = metric.losses(kind, &labels, scores, &mut out);
                    let mut clipped_ones = 0;
                    for ((label, score), many) in labels.iter().zip(scores).zip(out) {
                        let (one, clipped) = metric.loss(kind, *label, *score);
                        clipped_ones += u64::from(clipped);
                        assert_eq!(many.to_bits(), one.to_bits(), "{kind:?} {label} {score:e}: {many} and {one}");
                    }
                    assert_eq!(clipped, clipped_ones);
                }
            }
        }
    }
}
