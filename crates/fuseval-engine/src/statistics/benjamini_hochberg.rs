//! P-values adjusted so that the share of false discoveries among all is bounded, however many comparisons there are.

/// Adjusted p-values in the order of the given ones (Benjamini and Hochberg 1995, *Controlling the false discovery rate*, the
/// step-up procedure): the smallest of p · m / rank over this and all larger p-values, at most 1. What is not a number stays
/// without one and does not count towards m.
pub fn benjamini_hochberg(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut known: Vec<(usize, f64)> =
        p.iter().enumerate().filter_map(|(place, p)| Some((place, (*p)?))).filter(|(_, p)| !p.is_nan()).collect();
    known.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let count = known.len() as f64;
    let mut adjusted = vec![None; p.len()];
    let mut least = 1.0f64;
    for (smaller, (place, p)) in known.into_iter().enumerate().rev() {
        least = least.min(p * (count / (smaller + 1) as f64));
        if let Some(adjusted) = adjusted.get_mut(place) {
            *adjusted = Some(least);
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.false_discovery_control` (scipy 1.17.1).
    #[test]
    fn agrees_with_scipy() {
        let p = [0.01, 0.04, 0.03, 0.005, 0.5, 0.9, 0.04];
        let expected = [0.035, 0.055999999999999994, 0.055999999999999994, 0.035, 0.5833333333333334, 0.9, 0.056];
        let adjusted = benjamini_hochberg(&p.map(Some));
        for (adjusted, expected) in adjusted.iter().zip(expected) {
            assert!((adjusted.unwrap() - expected).abs() < 1e-15, "{adjusted:?} {expected}");
        }
    }

    #[test]
    fn missing_values_stay_missing_and_do_not_count() {
        let adjusted = benjamini_hochberg(&[None, Some(0.02), None, Some(0.5), Some(f64::NAN)]);
        assert_eq!(adjusted, [None, Some(0.04), None, Some(0.5), None]);
        assert_eq!(benjamini_hochberg(&[]), []);
        assert_eq!(benjamini_hochberg(&[None, None]), [None, None]);
    }

    #[test]
    fn never_above_one_nor_below_p_and_in_the_order_of_p() {
        let p: Vec<f64> = (0..200).map(|i| f64::from(i * 7919 % 211) / 211.0).collect();
        let adjusted: Vec<f64> =
            benjamini_hochberg(&p.iter().copied().map(Some).collect::<Vec<_>>()).into_iter().flatten().collect();
        for (p_one, one) in p.iter().zip(&adjusted) {
            assert!(*one <= 1.0 && one >= p_one);
            for (p_other, other) in p.iter().zip(&adjusted) {
                assert!(p_one > p_other || one <= other);
            }
        }
    }
}
